/* SPDX-License-Identifier: Apache-2.0 */
/*
 * inuse.h: changes that the kernel refuses while another interface of the master has the same MAC
 * or address (EADDRINUSE).
 *
 * A macvlan is refused when it goes up (macvlan_open in drivers/net/macvlan.c), an ipvlan when it
 * gets an address (ipvlan_addr4_validator_event in drivers/net/ipvlan/ipvlan_main.c). The pod of
 * the other interface may have ended: the kernel destroys what is in a dead namespace later, in a
 * worker (cleanup_net in net/core/net_namespace.c), and no event tells of it. So the change is
 * tried again for a while. An interface that is known to live is not waited for: the error names
 * it.
 */
#ifndef RAILHEAD_CNI_ENGINE_INUSE_H
#define RAILHEAD_CNI_ENGINE_INUSE_H

#include "lib/base/ctx.h"
#include "lib/net/addr.h"
#include "lib/net/link.h"

#define INUSE_WAIT_MS 5000 /* the worker needs some 100 ms, and more on a node that is busy */

/* The namespace of the pod is that of the calling thread. */
struct inuse_place {
	const struct ctx *ctx;        /* where the records of attachments are */
	const struct link_info *link; /* the pod's interface */
	struct nl *pod_nl;
	struct nl *lower_nl; /* of the namespace of its lower device; may be pod_nl */
	const char *master;  /* for errors */
	int wait_ms;
};

/*
 * inuse_set_up - nl_link_set_up(). inuse_add_address - nl_addr_add(). ERR_BUSY: an interface that
 * lives has the MAC or the address. ERR_AGAIN: after wait_ms the kernel still says that one has it,
 * and it is not found.
 */
int inuse_set_up(const struct inuse_place *at, struct err *e) must_check;
int inuse_add_address(const struct inuse_place *at, struct ip_prefix addr, bool nodad,
		      struct err *e) must_check;

#endif
