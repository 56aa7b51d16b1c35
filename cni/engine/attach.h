/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h: the one engine of all interface plugins.
 *
 * A plugin is a struct attach_type: its own keys and a few hooks. The engine does the rest. It
 * validates the configuration, observes the system, writes the record and starts the IPAM. While
 * the IPAM runs, it creates the link in the pod's netns under its final name. Then it adds the
 * addresses, sets the link up, adds the routes, announces, and prints the result. Every step has
 * its inverse on an undo stack, and the record lets DEL, GC and repair do the same later.
 */
#ifndef RAILHEAD_CNI_ENGINE_ATTACH_H
#define RAILHEAD_CNI_ENGINE_ATTACH_H

#include "cni/protocol/plugin.h"
#include "cni/record/record.h"
#include "lib/sys/netns.h"
#include "lib/net/link.h"

/* Keys that every interface plugin takes. */
struct attach_conf {
	const char *master; /* NULL: the type's default, else the interface of the default route */
	uint32_t mtu;       /* 0: the master's */
	bool in_container;  /* linkInContainer: the master lives in the pod's netns */
	bool dad;           /* wait for duplicate address detection */
	bool probe;         /* ask the wire before an address is used */
	uint32_t ipam_timeout; /* seconds */
};

#define ATTACH_PLUGIN_CONF_MAX 512

/* One ADD or CHECK in progress. */
struct attach {
	const struct cni_call *call;
	const struct attach_type *type;
	int64_t begun_ms; /* of ctx_mono_ms() */
	struct attach_conf conf;
	_Alignas(
		16) unsigned char plugin_conf[ATTACH_PLUGIN_CONF_MAX]; /* decoded by type->fields */
	struct netns host, pod;
	struct netns_view view; /* from where pod was opened */
	struct nl *host_nl, *pod_nl;
	struct cni_result prev;  /* decoded prevResult; empty when there is none */
	struct link_info master; /* ifindex 0 before it was looked up */
	struct link_info link;   /* the pod's interface */
	/* For a device that is moved instead of made: */
	struct json *device; /* owned; what the record keeps of it */
	const char *pci_id;  /* for the result; borrowed from device or the configuration */
	bool is_up;          /* the pod's interface was set up before it had its addresses */
	bool no_link;        /* it has no network interface (vfio-pci): nothing to configure */
};

/*
 * Undo the changes that the record describes. Success if they are already undone.
 */
typedef int (*attach_restore_fn)(const struct ctx *ctx, const struct record *r, struct err *e);

/* Which program's records go to which function; an entry without a name ends the list. */
struct attach_restore_type {
	const char *plugin;
	attach_restore_fn restore;
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
	bool shares_mac;      /* with its master, which hears what is answered to it */
	bool adopts_prev_ips; /* without an IPAM it takes over the addresses of prevResult */

	/*
	 * A type that moves an existing device into the pod has all of the following, and kind "".
	 * find looks the device up in place of a master, and changes nothing; ADD, CHECK, STATUS.
	 * claim takes it for this attachment, under the record of an attachment without device, and
	 * sets a->device, which is recorded before create moves it. restore undoes both, whatever
	 * was reached.
	 */
	int (*find)(struct attach *a, struct err *e);
	int (*claim)(struct attach *a, struct err *e);
	attach_restore_fn restore;
	/* How many ms it is worth to wait for carrier before addresses are announced: asked only
	 * when the interface is up and has none. NULL: it always has at once. */
	int (*carrier_ms)(const struct attach *a);
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
 * the one of that record; for a plugin in others (may be NULL) what that does instead. Everything
 * already gone is success.
 */
int attach_restore(const struct ctx *ctx, const struct record *r,
		   const struct attach_restore_type *others, struct err *e) must_check;

/*
 * attach_choose_mac - the MAC address for the pod's interface: that of the configuration (its key
 * "mac", NULL: not given), of CNI_ARGS "MAC=", of runtimeConfig.mac; the last one given wins
 * (CNI-084). 1: out is set, 0: none is given, -1: one is no unicast address.
 */
int attach_choose_mac(const struct attach *a, const char *configured, uint8_t out[MAC_LEN],
		      struct err *e) must_check;

/*
 * attach_netns_of - 1: pod is the namespace of the record, open, whatever leads to it now; 0: it is
 * proved gone; -1: cannot tell (netns_locate.h).
 */
int attach_netns_of(const struct ctx *ctx, const struct record *r, struct netns *pod,
		    struct err *e) must_check;

/*
 * attach_find_link - the interface of the record in its namespace, by its number or, when that is
 * not known, by its name. *out is set unless there is none. A record's number that another kind of
 * interface has, or one on another lower device, does not count.
 */
enum attach_found {
	FOUND_NONE,
	FOUND_OURS,
	FOUND_RENAMED, /* ours, under another name */
	FOUND_OTHER,   /* not ours, but it has the name */
};
int attach_find_link(struct nl *pod_nl, const struct record *r, struct link_info *out,
		     enum attach_found *found, struct err *e) must_check;

#endif
