/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h: ask the hosts on a segment who has an address.
 *
 * Before an address is used, another host may use it. Each IPv4 address gets two ARP probes (RFC
 * 5227 section 2.1.1, sender 0.0.0.0). Each IPv6 address gets two neighbour solicitations as in
 * duplicate address detection (RFC 4862 section 5.4.2). All are sent at once, and answers are
 * awaited for 200 ms. RFC 5227 waits for 4 to 7 s: the probe misses a host that sleeps longer than
 * 200 ms. A gateway is asked as any neighbour is, from an address in use (RFC 826, RFC 4861 section
 * 7.2.2), for a second at most.
 */
#ifndef RAILHEAD_CNI_ENGINE_PROBE_H
#define RAILHEAD_CNI_ENGINE_PROBE_H

#include "lib/base/err.h"
#include "lib/base/ip.h"
#include "lib/base/hw_addr.h"
#include "lib/json/json.h"

#define PROBE_ROUNDS         2
#define PROBE_GATEWAY_ROUNDS 10
#define PROBE_ROUND_MS       100
#define PROBE_MSG_MAX        128

/* ---- pure ---- */

/* The key "probe": true, which is "address" alone, or an object with these keys. */
struct probe_conf {
	bool address; /* ask for the addresses before they are used; in an object the default */
	bool gateway; /* ask the gateways of the addresses, once they are used */
	bool strict;  /* a gateway without answer, or a link without carrier, is an error */
};
/* probe_read_conf - from the network configuration. ERR_DECODE names the key. */
int probe_read_conf(const struct json *config, struct probe_conf *out, struct err *e) must_check;

/* Who has addr? */
struct probe_question {
	struct ip addr;
	/* Our address that asks, of the same family. IP_NONE: none yet; then a host that probes for
	 * addr at the same time is an answer, too. */
	struct ip from;
};

/* A message as it is sent with SOCK_DGRAM: without the Ethernet header. */
struct probe_msg {
	uint16_t protocol; /* ETH_P_ARP or ETH_P_IPV6, host order */
	uint8_t to[MAC_LEN];
	uint8_t data[PROBE_MSG_MAX];
	size_t len;
};
/* probe_make - the question, from an interface with this MAC. */
void probe_make(const struct probe_question *q, const uint8_t mac[MAC_LEN], struct probe_msg *out);

/* A host that uses an address, or probes for it at the same time. */
struct address_user {
	struct ip addr;
	uint8_t mac[MAC_LEN];
	bool probes; /* it asks whether addr is free, and does not have it */
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
	const uint8_t *mac; /* ours: what comes from it is not an answer */
	int rounds;         /* how often, PROBE_ROUND_MS apart */
};
/*
 * probe_run_all - ask all questions of up to PROBE_LINKS_MAX interfaces of one namespace at once.
 * found gets one user for each address that another host has, in the order of the questions. Ends
 * after rounds * PROBE_ROUND_MS, or when each question has its answer. ERR_KERNEL.
 */
#define PROBE_LINKS_MAX 32
struct probe_inquiry {
	struct probe_link link;
	const struct probe_question *questions;
	size_t n;
	struct address_user *found; /* memory for n users */
	int n_found;                /* output */
};
int probe_run_all(struct probe_inquiry *q, size_t n, struct err *e) must_check;

#endif
