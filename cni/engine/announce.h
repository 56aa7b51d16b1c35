/* SPDX-License-Identifier: Apache-2.0 */
/*
 * announce.h: tell the segment where an address lives now, once per address.
 *
 * IPv4: arp_notify is set and the address is added before the link goes up. Then the kernel itself
 * sends one gratuitous ARP. Our own packet socket would cost a synchronize_net() at its close, more
 * than the whole ADD. It is only for links that had no carrier yet when the kernel sent the ARP.
 * IPv6: after duplicate address detection the kernel sends one unsolicited neighbour advertisement
 * (ndisc_notify); for addresses added without it, it sends none, so we do.
 * The packets are those of Ethernet or of IPoIB, whose addresses have 20 bytes. The number of the
 * queue pair is a part of them: without an announcement, a new pod with the address of an old one
 * is not reached until the neighbours' entries expire.
 */
#ifndef RAILHEAD_CNI_ENGINE_ANNOUNCE_H
#define RAILHEAD_CNI_ENGINE_ANNOUNCE_H

#include "cni/protocol/result.h"
#include "lib/base/ctx.h"
#include "lib/net/link.h"

/*
 * announce_prepare - sysctls of the interface, before it goes up, in the caller's netns, which is
 * the pod's. Failures are logged: the interface works without.
 */
void announce_prepare(const struct ctx *ctx, const char *ifname, bool v4, bool v6);

/*
 * announce_moved - the same for a device that was moved, as sriov-cni does it: optimistic, before
 * there are addresses, so that these are usable while they are being detected; notify, once it is
 * up: it announces them by itself whenever its link or MAC changes.
 */
void announce_moved(const struct ctx *ctx, const char *ifname, bool is_up);

/*
 * announce_v6 - send one unsolicited neighbour advertisement (RFC 4861 section 7.2.6, override set)
 * for addr, which is valid on link, in the caller's netns. ERR_KERNEL.
 */
int announce_v6(const struct link_info *link, struct ip addr, struct err *e) must_check;

/*
 * announce_v4 - send one gratuitous ARP request (RFC 5227 section 3) for each IPv4 address. The
 * addresses are valid on link, which is in the caller's netns. ERR_KERNEL.
 */
int announce_v4(const struct link_info *link, const struct cni_ip *ips, size_t n,
		struct err *e) must_check;

#endif
