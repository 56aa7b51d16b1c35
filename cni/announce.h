/* SPDX-License-Identifier: Apache-2.0 */
/*
 * announce.h: tell the segment where an address lives now, once per address.
 *
 * IPv4: with arp_notify set and the address there before the link goes up, the kernel itself sends
 * one gratuitous ARP; a packet socket of ours would cost a synchronize_net() at its close, more
 * than the whole ADD. IPv6: after duplicate address detection the kernel sends one unsolicited
 * neighbour advertisement (ndisc_notify); for addresses added without it, it sends none, so we do.
 */
#ifndef RAILHEAD_CNI_ANNOUNCE_H
#define RAILHEAD_CNI_ANNOUNCE_H

#include "lib/ctx.h"
#include "lib/ip.h"
#include "lib/nl_link.h"

/*
 * announce_prepare - sysctls of the interface, before it goes up, in the caller's netns, which is
 * the pod's. Failures are logged: the interface works without.
 */
void announce_prepare(const struct ctx *ctx, const char *ifname, bool v4, bool v6);

/*
 * announce_v6 - send one unsolicited neighbour advertisement (RFC 4861 section 7.2.6, override set)
 * for addr, which is valid on link, in the caller's netns. ERR_KERNEL.
 */
int announce_v6(const struct link_info *link, struct ip addr, struct err *e) must_check;

#endif
