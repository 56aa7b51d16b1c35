/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gid.h: the GID table of an RDMA port: which addresses it sends from, and under which index.
 *
 * Of a RoCE port the kernel fills the table from the addresses of its network interface and of all
 * that lie above that (VLAN, macvlan, ipvlan, bond), in every network namespace, a moment after
 * the address is set; the first free place is taken, so an index says nothing about the next pod.
 * No netlink message and no event tells of a GID: sysfs is asked.
 */
#ifndef RAILHEAD_RDMA_DEVICE_GID_H
#define RAILHEAD_RDMA_DEVICE_GID_H

#include "lib/base/err.h"
#include "lib/base/ip.h"
#include "lib/base/parse.h"

enum gid_type { GID_UNKNOWN, GID_IB, GID_ROCE_V1, GID_ROCE_V2 };

struct gid {
	uint8_t raw[16]; /* network order */
};

#define GID_STR_LEN 40 /* eight groups of four digits, as sysfs writes them, and NUL */

/* ---- pure ---- */

/* gid_parse - as sysfs writes it: eight groups of four hex digits; -1 when it is anything else. */
int gid_parse(const char *s, struct gid *out) must_check;
char *gid_format(const struct gid *g, char out[GID_STR_LEN]);
bool gid_is_zero(const struct gid *g); /* a free place */
bool gid_equal(const struct gid *a, const struct gid *b);

/* gid_of_ip - IPv4 as ::ffff:a.b.c.d, IPv6 as it is. */
struct gid gid_of_ip(struct ip a);
/* gid_to_ip - the address it stands for: IPv4 when it is mapped; of a zero GID family IP_NONE. */
struct ip gid_to_ip(const struct gid *g);

/*
 * gid_type_parse - the kernel's words: "RoCE v2", and "IB/RoCE v1", which is one or the other by
 * the port's link layer. gid_type_name - "RoCE v2", "RoCE v1", "IB", "unknown".
 */
enum gid_type gid_type_parse(const char *s, bool ethernet);
const char *gid_type_name(enum gid_type t);

/* ---- a port's table, in sysfs ---- */

/* Which port; root is ctx->sysfs, device its name at this moment. Borrowed strings. */
struct gid_port {
	const char *root, *device;
	uint32_t port;
};

struct gid_entry {
	uint32_t index;
	struct gid gid;
	enum gid_type type;
	char netdev[IFNAME_LEN]; /* its interface, by name, in whichever namespace; "" unknown */
};

/*
 * gid_each - call fn for each place that is taken, in order; non-zero ends the walk, no error.
 * ERR_NOTFOUND (ENOENT): no such port.
 */
typedef int (*gid_fn)(const struct gid_entry *g, void *arg);
int gid_each(const struct gid_port *p, gid_fn fn, void *arg, struct err *e) must_check;

struct gid_want {
	struct gid gid;
	enum gid_type type;
	const char *netdev; /* of this interface; NULL: of any */
};

struct gid_look {
	enum {
		GID_MISSING, /* there is no such GID */
		GID_OTHER,   /* only one of another type, or of another interface: entry is that */
		GID_THERE,   /* entry is it */
	} found;
	struct gid_entry entry;
};

/*
 * gid_find - look for one entry. New ones stand at the end of the places that are taken, and that
 * is looked for first: the usual cost grows with the logarithm of their number.
 */
int gid_find(const struct gid_port *p, const struct gid_want *want, struct gid_look *out,
	     struct err *e) must_check;

/* gid_await - gid_find until it is there or the deadline (of ctx_mono_ms()) has passed. */
int gid_await(const struct gid_port *p, const struct gid_want *want, int64_t deadline_ms,
	      struct gid_look *out, struct err *e) must_check;

#endif
