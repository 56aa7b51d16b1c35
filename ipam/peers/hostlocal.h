/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostlocal.h: addresses that host-local assigned on this node.
 *
 * It keeps one file for each address, <folder>/<network>/<address>. Its first line is the
 * container, its second line the interface; files of early versions have no second line. The folder
 * is /var/lib/cni/networks; its files last_reserved_ip.N and lock are not addresses.
 */
#ifndef RAILHEAD_IPAM_PEERS_HOSTLOCAL_H
#define RAILHEAD_IPAM_PEERS_HOSTLOCAL_H

#include "lib/base/ctx.h"
#include "lib/base/ip.h"

struct hostlocal {
	int dir;      /* of one network; -1: there is none */
	bool by_link; /* a symbolic link leads there: nothing is removed */
};

/*
 * hostlocal_open - open the folder of network in data_dir (NULL: the default one). A missing folder
 * is success. hostlocal_open_dir - open the folder of a network at path, which must exist.
 * hostlocal_close - close it.
 */
int hostlocal_open(const struct ctx *ctx, const char *data_dir, const char *network,
		   struct hostlocal *out, struct err *e) must_check;
int hostlocal_open_dir(const char *path, struct hostlocal *out, struct err *e) must_check;
void hostlocal_close(struct hostlocal *h);
#define auto_hostlocal auto_clean(hostlocal_close)

/* hostlocal_holds - 1: the address has a file; 0: it has none; -1: unknown. */
int hostlocal_holds(const struct hostlocal *h, struct ip ip, struct err *e) must_check;

struct hostlocal_lease {
	struct ip ip;
	char container[256], ifname[64]; /* ifname "" in files of early versions */
};

/* hostlocal_parse - decode the text of a file; out->ip stays. -1: it names no container. Pure. */
int hostlocal_parse(const char *text, size_t len, struct hostlocal_lease *out) must_check;

/*
 * hostlocal_each - call fn for each file of an address, in no order. lease->container is "" if the
 * file cannot be decoded. Return non-zero from fn to stop; that value is returned.
 */
typedef int (*hostlocal_fn)(const struct hostlocal_lease *lease, void *arg, struct err *e);
int hostlocal_each(const struct hostlocal *h, hostlocal_fn fn, void *arg, struct err *e) must_check;

/*
 * hostlocal_release - remove the files of that container and interface, as host-local's own DEL
 * does. If no file names the interface, the files without an interface are removed. ERR_FORBIDDEN:
 * a symbolic link leads to the folder, and may be another user's.
 */
int hostlocal_release(const struct hostlocal *h, const char *container, const char *ifname,
		      struct err *e) must_check;

#endif
