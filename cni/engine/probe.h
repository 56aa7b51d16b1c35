/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h: find out whether another host on the segment uses an address, before it is used.
 *
 * Each IPv4 address gets two ARP probes (RFC 5227 section 2.1.1, sender 0.0.0.0). Each IPv6 address
 * gets two neighbour solicitations as in duplicate address detection (RFC 4862 section 5.4.2). All
 * are sent at once, and answers are awaited for 200 ms. RFC 5227 waits for 4 to 7 s:
 * the probe misses a host that sleeps longer than 200 ms.
 */
#ifndef RAILHEAD_CNI_ENGINE_PROBE_H
#define RAILHEAD_CNI_ENGINE_PROBE_H

#include "lib/base/err.h"
#include "lib/base/ip.h"
#include "lib/base/hw_addr.h"

#define PROBE_ROUNDS   2
#define PROBE_ROUND_MS 100
#define PROBE_MSG_MAX  128

/* ---- pure ---- */

/* A message as it is sent with SOCK_DGRAM: without the Ethernet header. */
struct probe_msg {
	uint16_t protocol; /* ETH_P_ARP or ETH_P_IPV6, host order */
	uint8_t to[MAC_LEN];
	uint8_t data[PROBE_MSG_MAX];
	size_t len;
};
/* probe_make - the question for addr, from an interface with this MAC. */
void probe_make(struct ip addr, const uint8_t mac[MAC_LEN], struct probe_msg *out);

/* A host that uses an address, or probes for it at the same time. */
struct address_user {
	struct ip addr;
	uint8_t mac[MAC_LEN];
};
/*
 * probe_read - what a frame says; from: its sender on the link. false: nothing of that kind. A
 * checksum is not looked at: between interfaces of one host it is not filled in.
 */
bool probe_read(const struct probe_msg *frame, const uint8_t from[MAC_LEN],
		struct address_user *out);

/* ---- on the wire ---- */

/* Where to ask: an interface that is up, in the caller's network namespace. */
struct probe_link {
	int ifindex;
	const char *name;
	const uint8_t *mac; /* ours: what comes from it is no answer */
};
/*
 * probe_run - ask for addrs[n]. found has memory for n users: one for each address that
 * another host has, in the order of addrs. Returns the number of users, or -1: ERR_KERNEL. Ends
 * within PROBE_ROUNDS * PROBE_ROUND_MS.
 */
int probe_run(const struct probe_link *link, const struct ip *addrs, size_t n,
	      struct address_user *found, struct err *e) must_check;

#endif
