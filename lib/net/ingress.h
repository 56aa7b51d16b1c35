/* SPDX-License-Identifier: Apache-2.0 */
/* ingress.h: which senders an interface takes packets from. */
#ifndef RAILHEAD_LIB_NET_INGRESS_H
#define RAILHEAD_LIB_NET_INGRESS_H

#include "lib/base/ip.h"
#include "lib/net/nl.h"

/*
 * nl_ingress_allow - from now on the interface drops what arrives, but IP packets from addr[n]: a
 * filter of traffic control (tc) in front of routes, rules and netfilter. It replaces the one that
 * was allowed before, without a gap, and ends with the interface. ERR_CONFIG: too many addresses
 * for one filter. nl_ingress_check - ERR_STATE: the interface lacks this filter.
 */
int nl_ingress_allow(struct nl *nl, int ifindex, const struct ip *addr, size_t n,
		     struct err *e) must_check;
int nl_ingress_check(struct nl *nl, int ifindex, const struct ip *addr, size_t n,
		     struct err *e) must_check;

#endif
