/* SPDX-License-Identifier: Apache-2.0 */
/* hostveth_priv.h: what the files of this room share. */
#ifndef RAILHEAD_CNI_HOSTVETH_HOSTVETH_PRIV_H
#define RAILHEAD_CNI_HOSTVETH_HOSTVETH_PRIV_H

#include "cni/hostveth/hostveth.h"

/* The addresses of one family on a pair. */
struct hostveth_family {
	struct ip node;    /* the node's address on the pair */
	struct ip pod_gw;  /* for the node: what the pod's end is called */
	struct ip node_gw; /* for the pod: what the node's end is called */
	bool onlink;       /* no address covers the gateways */
};
extern const struct hostveth_family hostveth_families[2]; /* IPv4, IPv6 */

/* hostveth_has_family - an address of r is of family f. */
bool hostveth_has_family(const struct cni_result *r, enum ip_family f);

/*
 * Rules of the pod. hostveth_rule_of - for packets that carry the address of a rail. With IPv6 it
 * is one for all packets, because no rule of IPv6 tells senders that have bound no address.
 * hostveth_rule_of_unbound - for those of IPv4.
 */
struct rule_spec hostveth_rule_of(struct ip addr);
struct rule_spec hostveth_rule_of_unbound(void);

#endif
