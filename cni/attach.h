/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h: the one engine of all interface plugins.
 *
 * A plugin is a struct attach_type: its own keys and a few hooks. The engine does the rest, in this
 * order: validate what needs no system, observe, record, start the IPAM, create the link in the
 * pod's netns under its final name while the IPAM runs, addresses, up, routes, announce, result.
 * Every step has its inverse on an undo stack, and the record lets DEL, GC and repair do the same
 * later.
 */
#ifndef RAILHEAD_CNI_ATTACH_H
#define RAILHEAD_CNI_ATTACH_H

#include "cni/plugin.h"
#include "cni/record.h"
#include "lib/netns.h"
#include "lib/nl_link.h"

/* Keys that every interface plugin takes. */
struct attach_conf {
	const char *master; /* NULL: the type's default, else the interface of the default route */
	uint32_t mtu;       /* 0: the master's */
	bool in_container;  /* linkInContainer: the master lives in the pod's netns */
	bool dad;           /* wait for duplicate address detection */
	uint32_t ipam_timeout; /* seconds */
};

#define ATTACH_PLUGIN_CONF_MAX 256

/* One ADD or CHECK in progress. */
struct attach {
	const struct cni_call *call;
	const struct attach_type *type;
	struct attach_conf conf;
	_Alignas(
		16) unsigned char plugin_conf[ATTACH_PLUGIN_CONF_MAX]; /* decoded by type->fields */
	struct netns home, pod;
	struct nl *host_nl, *pod_nl;
	struct cni_result prev;  /* decoded prevResult; empty when there is none */
	struct link_info master; /* ifindex 0 before it was looked up */
	struct link_info link;   /* the pod's interface */
};

struct attach_type {
	const char *name; /* of the plugin */
	const char *kind; /* of the links it creates: what DEL may delete without a record */
	const struct json_field *fields;     /* its own keys, into plugin_conf */
	void (*defaults)(void *plugin_conf); /* before decoding; may be NULL */
	/* Checks that need no system; may read a->prev and set a->conf.master. */
	int (*validate)(struct attach *a, struct err *e);
	/* Make the interface in the pod's netns under its final name. The engine has pushed the
	 * inverse. */
	int (*create)(struct attach *a, struct err *e);
	/* CHECK: compare a->link with the configuration. ERR_STATE. */
	int (*check)(const struct attach *a, struct err *e);
	bool adopts_prev_ips; /* without an IPAM it takes over the addresses of prevResult */
};

/* attach_main - the whole program of an interface plugin. */
int attach_main(const struct attach_type *type);

/*
 * attach_create_link - for the create hook of plugins that make a link: spec holds what only this
 * kind has; kind, name, lower device, namespace and mtu are filled in here.
 */
int attach_create_link(struct attach *a, struct link_spec spec, struct err *e) must_check;

/* attach_master_nl - the netlink socket of the namespace in which the master lives. */
struct nl *attach_master_nl(const struct attach *a);

/*
 * attach_restore - undo what a record says was done to the kernel: delete the link, if it is still
 * the one of that record. Everything already gone is success.
 */
int attach_restore(const struct ctx *ctx, const struct record *r, struct err *e) must_check;

#endif
