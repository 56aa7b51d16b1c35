/* SPDX-License-Identifier: Apache-2.0 */
/* veth.h: a veth pair between two namespaces, and the neighbours that each end has by hand. */
#ifndef RAILHEAD_LIB_NET_VETH_H
#define RAILHEAD_LIB_NET_VETH_H

#include "lib/base/hw_addr.h"
#include "lib/base/ip.h"
#include "lib/net/nl.h"

struct netns;

struct veth_end {
	const char *name;
	struct hw_addr mac; /* of 6 bytes: udev leaves an address that was asked for alone */
};
struct veth_spec {
	struct veth_end end, peer;
	const struct netns *peer_netns; /* end stays in the namespace of the socket */
};

/*
 * nl_veth_create - both ends by one RTM_NEWLINK, under their final names. They are down. errnum
 * EEXIST: one of the names is taken.
 */
int nl_veth_create(struct nl *nl, const struct veth_spec *v, struct err *e) must_check;

/* nl_neigh_add - a permanent neighbour; one that is there is replaced. The kernel drops it when the
 * interface goes down. */
int nl_neigh_add(struct nl *nl, int ifindex, struct ip addr, struct hw_addr mac,
		 struct err *e) must_check;

#endif
