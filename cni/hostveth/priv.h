/* SPDX-License-Identifier: Apache-2.0 */
/* priv.h: what the files of this room share. */
#ifndef RAILHEAD_CNI_HOSTVETH_PRIV_H
#define RAILHEAD_CNI_HOSTVETH_PRIV_H

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

/* hostveth_rule_of - the pod's rule for packets that carry an address of a rail. 0.0.0.0 is for
 * senders of IPv4 that have bound none; for those of IPv6 it is the rule of the address. */
struct rule_spec hostveth_rule_of(struct ip addr);

#endif
