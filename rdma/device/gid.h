/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gid.h: the GID table of an RDMA port: its addresses, each with an index.
 *
 * The kernel fills the table of a RoCE port. It takes the addresses of the port's interface and of
 * all interfaces above it (VLAN, macvlan, ipvlan, bond), in every network namespace. An entry
 * appears shortly after its address is set, at the first free index, so the next pod may get
 * another index. There is no netlink message and no event for GIDs: only sysfs has them.
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

/*
 * gid_parse - read the form of sysfs: eight groups of four hex digits; -1 for any other text.
 * gid_format - write that form; returns out. gid_is_zero - a free index has such a GID.
 */
int gid_parse(const char *s, struct gid *out) must_check;
char *gid_format(const struct gid *g, char out[GID_STR_LEN]);
bool gid_is_zero(const struct gid *g);
bool gid_equal(const struct gid *a, const struct gid *b);

/* gid_of_ip - IPv4 becomes ::ffff:a.b.c.d, IPv6 stays the same. */
struct gid gid_of_ip(struct ip a);
/* gid_to_ip - the address: IPv4 if the GID is a mapped one; family IP_NONE for a zero GID. */
struct ip gid_to_ip(const struct gid *g);

/*
 * gid_type_parse - the kernel writes "RoCE v2" or "IB/RoCE v1"; the latter is RoCE v1 on Ethernet.
 * gid_type_name - "RoCE v2", "RoCE v1", "IB", "unknown".
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
	char netdev[IFNAME_LEN]; /* name of its interface, in any namespace; "": unknown */
};

/*
 * gid_each - call fn for each GID by index. If fn returns non-zero, the loop stops without error.
 * ERR_NOTFOUND (ENOENT): no such port.
 */
typedef int (*gid_fn)(const struct gid_entry *g, void *arg);
int gid_each(const struct gid_port *p, gid_fn fn, void *arg, struct err *e) must_check;

struct gid_want {
	struct gid gid;
	enum gid_type type;
	const char *netdev; /* its interface; NULL: any */
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
 * gid_find - look for one entry. It first finds the end of the used part, where new entries usually
 * are: the cost grows with the logarithm of their number.
 */
int gid_find(const struct gid_port *p, const struct gid_want *want, struct gid_look *out,
	     struct err *e) must_check;

/* gid_await - repeat gid_find() until the GID is there, or until the deadline of ctx_mono_ms(). */
int gid_await(const struct gid_port *p, const struct gid_want *want, int64_t deadline_ms,
	      struct gid_look *out, struct err *e) must_check;

#endif
