/* SPDX-License-Identifier: Apache-2.0 */
/* neigh.h: the neighbours of one interface: which hardware address an IP address has. */
#ifndef RAILHEAD_LIB_NET_NEIGH_H
#define RAILHEAD_LIB_NET_NEIGH_H

#include "lib/base/hw_addr.h"
#include "lib/base/ip.h"
#include "lib/net/nl.h"

enum neigh_state {
	NEIGH_KNOWN,   /* answered once, or was given by hand: the address counts */
	NEIGH_ASKED,   /* it was asked for, and has not answered yet */
	NEIGH_FAILED,  /* it did not answer */
	NEIGH_NO_NEED, /* an interface without such addresses, or a group */
};

/* neigh_state_name - "known", "asked", "failed", "no-need". */
const char *neigh_state_name(enum neigh_state s);

struct neigh_info {
	int ifindex;
	struct ip addr;
	struct hw_addr hw; /* none unless it is known */
	enum neigh_state state;
};

/*
 * nl_neigh_list - the entries of both families on one interface, in the order of the kernel. Return
 * non-zero from fn to stop: not an error. It does not ask the wire.
 */
typedef int (*neigh_fn)(const struct neigh_info *n, void *arg);
int nl_neigh_list(struct nl *nl, int ifindex, neigh_fn fn, void *arg, struct err *e) must_check;

#endif
