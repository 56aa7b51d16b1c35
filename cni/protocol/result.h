/* SPDX-License-Identifier: Apache-2.0 */
/*
 * result.h: ADD results of every protocol version, read into one form and printed in any.
 *
 * Strings and src nodes are borrowed from the tree the result was read from, or from whoever built
 * it. Keys we do not know survive: each item remembers the node it came from (CNI-105).
 */
#ifndef RAILHEAD_CNI_PROTOCOL_RESULT_H
#define RAILHEAD_CNI_PROTOCOL_RESULT_H

#include "cni/protocol/version.h"
#include "lib/base/ip.h"
#include "lib/json/json.h"

struct cni_interface {
	const char *name;
	const char *mac;     /* NULL: not given */
	const char *sandbox; /* NULL: on the host */
	const char *pci_id;  /* NULL: not given */
	const char *socket_path;
	uint32_t mtu; /* 0: not given */
	bool moved;   /* a moved device: its mtu is in results of 1.0.0 too, as with sriov-cni */
	const struct json *src; /* NULL when built by us */
};

struct cni_ip {
	int interface;            /* index into interfaces, -1: not given (an IPAM's result) */
	struct ip_prefix address; /* host bits kept (CNI-101) */
	struct ip gateway;        /* family IP_NONE: not given */
	/* Printed if src is NULL, and not parsed: "probe" of cni/protocol/delegate.h, and "group",
	 * of which list of pools the address is (ipam/conf/conf.h; 0: none). */
	bool probe;
	unsigned group;
	const struct json *src;
};

struct cni_route {
	struct ip_prefix dst;
	struct ip gw;                   /* family IP_NONE: not given */
	uint32_t mtu, advmss, priority; /* 0: not given */
	int64_t table;                  /* -1: not given; 0 is a value (CNI-106) */
	int scope;                      /* -1: not given */
	unsigned group;                 /* as in struct cni_ip */
	const struct json *src;
};

struct cni_result {
	struct cni_interface *interfaces;
	struct cni_ip *ips;
	struct cni_route *routes;
	size_t n_interfaces, n_ips, n_routes;
	const struct json *dns; /* NULL: none */
	const struct json
		*src;      /* the result this one was read from: its unknown keys are printed too */
	struct json *tree; /* freed by cni_result_clear; NULL when the caller owns src */
};

/*
 * cni_result_parse - read n, whose own cniVersion decides its shape, else version. The tree of n
 * must live longer than out. ERR_DECODE for wrong types, ERR_CONFIG for bad addresses; where names
 * it
 * ("prevResult").
 */
int cni_result_parse(const struct json *n, const char *where, enum cni_version version,
		     struct cni_result *out, struct err *e) must_check;

/*
 * cni_result_print - as JSON text of the given version (CNI-093 to CNI-098); free() it. ERR_CONFIG
 * when that version cannot say it: 0.1.0 and 0.2.0 need an address.
 */
int cni_result_print(const struct cni_result *r, enum cni_version version, char **text,
		     struct err *e) must_check;

/* Append a copy of *x. 0, or -1 when memory is out (ERR_NOMEM). */
int cni_result_add_interface(struct cni_result *r, const struct cni_interface *x,
			     struct err *e) must_check;
int cni_result_add_ip(struct cni_result *r, const struct cni_ip *x, struct err *e) must_check;
int cni_result_add_route(struct cni_result *r, const struct cni_route *x, struct err *e) must_check;

/* cni_ip_decode - decode an address; NULL leaves *out unchanged. ERR_CONFIG names where and key. */
int cni_ip_decode(const char *text, const char *where, const char *key, struct ip *out,
		  struct err *e) must_check;

/* cni_route_decode - one element of a "routes" array, whose keys are cni_route_fields; where names
 * it in errors. */
extern const struct json_field cni_route_fields[];
int cni_route_decode(const struct json *n, const char *where, struct cni_route *out,
		     struct err *e) must_check;

/* cni_result_clear - free the arrays, and the tree if the result owns one. */
void cni_result_clear(struct cni_result *r);
#define auto_result auto_clean(cni_result_clear)

#endif
