/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rule.h: routing rules of one namespace that choose a table by the address of the sender.
 */
#ifndef RAILHEAD_LIB_NET_RULE_H
#define RAILHEAD_LIB_NET_RULE_H

#include "lib/base/ip.h"
#include "lib/net/nl.h"

/* "from FROM lookup TABLE", as `ip rule` writes it. */
struct rule_spec {
	struct ip_prefix from; /* len 0: all senders of the family */
	uint32_t table;
	uint32_t priority; /* a lower number is asked first; the main table has 32766 */
	bool conditional;  /* read: it also asks for a mark, a receiver, a port or the like */
	/* IPv6: also for a sender without an address, if the kernel would choose one of `from`. */
	bool chosen;
};

/* nl_rule_add - the same rule again is EEXIST. */
int nl_rule_add(struct nl *nl, const struct rule_spec *r, struct err *e) must_check;
/* nl_rule_delete - no such rule is success. */
int nl_rule_delete(struct nl *nl, const struct rule_spec *r, struct err *e) must_check;

/* Return non-zero to stop: not an error. */
typedef int (*rule_fn)(const struct rule_spec *r, void *arg);

/*
 * nl_rule_list - every rule of both families that looks up a table, in the order of the kernel.
 */
int nl_rule_list(struct nl *nl, rule_fn fn, void *arg, struct err *e) must_check;

#endif
