/* SPDX-License-Identifier: Apache-2.0 */
/* probe_msg.c: writes ARP probes and neighbour solicitations, and reads the answers. Pure. */
#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip6.h>
#include <string.h>

#include "cni/engine/probe.h"

#define HOPS 255 /* neighbour discovery: no router has forwarded it */

/* ---- questions ---- */

static void make_arp(const struct probe_question *q, const uint8_t mac[MAC_LEN],
		     struct probe_msg *out)
{
	struct ether_arp m = { .ea_hdr = { .ar_hrd = htons(ARPHRD_ETHER),
					   .ar_pro = htons(ETH_P_IP),
					   .ar_hln = MAC_LEN,
					   .ar_pln = sizeof(m.arp_spa),
					   .ar_op = htons(ARPOP_REQUEST) } };
	uint8_t bytes[16] = { 0 };

	memcpy(m.arp_sha, mac, MAC_LEN);
	if (ip_to_bytes(q->from, bytes))
		memcpy(m.arp_spa, bytes, sizeof(m.arp_spa));
	(void)ip_to_bytes(q->addr, bytes);
	memcpy(m.arp_tpa, bytes, sizeof(m.arp_tpa));
	out->protocol = ETH_P_ARP;
	memset(out->to, 0xff, MAC_LEN);
	memcpy(out->data, &m, sizeof(m));
	out->len = sizeof(m);
}

/* RFC 1071, over what follows the addresses and the pseudo-header of RFC 8200 section 8.1. */
static uint16_t icmp6_sum(const struct ip6_hdr *ip, const void *body, size_t len)
{
	const uint8_t *addresses = (const uint8_t *)&ip->ip6_src, *p = body;
	uint32_t sum = IPPROTO_ICMPV6 + (uint32_t)len;

	for (size_t i = 0; i < 2 * sizeof(ip->ip6_src); i += 2)
		sum += (uint32_t)(addresses[i] << 8 | addresses[i + 1]);
	for (size_t i = 0; i < len; i += 2)
		sum += (uint32_t)(p[i] << 8 | p[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)~sum;
}

/* To the solicited-node group. From the unspecified address it must have no option. */
static void make_solicitation(const struct probe_question *q, const uint8_t mac[MAC_LEN],
			      struct probe_msg *out)
{
	struct {
		struct nd_neighbor_solicit ns;
		struct nd_opt_hdr head;
		uint8_t mac[MAC_LEN];
	} m = { .ns.nd_ns_type = ND_NEIGHBOR_SOLICIT,
		.head = { .nd_opt_type = ND_OPT_SOURCE_LINKADDR, .nd_opt_len = 1 } };
	size_t len = q->from.family ? sizeof(m) : sizeof(m.ns);
	struct ip6_hdr ip = { .ip6_flow = htonl(UINT32_C(6) << 28),
			      .ip6_plen = htons((uint16_t)len),
			      .ip6_nxt = IPPROTO_ICMPV6,
			      .ip6_hlim = HOPS };
	static const uint8_t group[13] = { 0xff, 0x02, [11] = 1, [12] = 0xff };

	(void)ip_to_bytes(q->addr, m.ns.nd_ns_target.s6_addr);
	(void)ip_to_bytes(q->from, ip.ip6_src.s6_addr);
	memcpy(m.mac, mac, MAC_LEN);
	memcpy(ip.ip6_dst.s6_addr, group, sizeof(group));
	memcpy(&ip.ip6_dst.s6_addr[13], &m.ns.nd_ns_target.s6_addr[13], 3);
	m.ns.nd_ns_cksum = htons(icmp6_sum(&ip, &m, len));
	out->protocol = ETH_P_IPV6;
	out->to[0] = out->to[1] = 0x33;
	memcpy(&out->to[2], &ip.ip6_dst.s6_addr[12], 4);
	memcpy(out->data, &ip, sizeof(ip));
	memcpy(out->data + sizeof(ip), &m, len);
	out->len = sizeof(ip) + len;
}

void probe_make(const struct probe_question *q, const uint8_t mac[MAC_LEN], struct probe_msg *out)
{
	if (q->addr.family == IP_V4)
		make_arp(q, mac, out);
	else
		make_solicitation(q, mac, out);
}

/* ---- answers ---- */

/* RFC 5227 section 2.1.1: the sender has it, or another host probes for it. */
static bool read_arp(const struct probe_msg *f, struct address_user *out)
{
	static const uint8_t nobody[4] = { 0 };
	struct ether_arp m;

	if (f->len < sizeof(m))
		return false;
	memcpy(&m, f->data, sizeof(m));
	if (m.ea_hdr.ar_hrd != htons(ARPHRD_ETHER) || m.ea_hdr.ar_pro != htons(ETH_P_IP) ||
	    m.ea_hdr.ar_hln != MAC_LEN || m.ea_hdr.ar_pln != sizeof(m.arp_spa))
		return false;
	bool probes = memcmp(m.arp_spa, nobody, sizeof(nobody)) == 0;
	if (probes && m.ea_hdr.ar_op != htons(ARPOP_REQUEST))
		return false;
	memcpy(out->mac, m.arp_sha, MAC_LEN);
	out->probes = probes;
	return ip_from_bytes(probes ? m.arp_tpa : m.arp_spa, sizeof(m.arp_spa), &out->addr) == 0;
}

/* The link-layer address that an advertisement names; as it came where it names none. */
static void read_option(const uint8_t *p, size_t len, uint8_t mac[MAC_LEN])
{
	while (len >= 8) {
		size_t size = (size_t)p[1] * 8;
		if (size == 0 || size > len)
			return;
		if (p[0] == ND_OPT_TARGET_LINKADDR) {
			memcpy(mac, p + 2, MAC_LEN);
			return;
		}
		p += size;
		len -= size;
	}
}

/* RFC 4862 section 5.4: an advertisement; or a solicitation of a host that detects duplicates. */
static bool read_nd(const struct probe_msg *f, struct address_user *out)
{
	static const struct in6_addr nobody = { 0 };
	struct nd_neighbor_advert na; /* a solicitation is laid out alike */
	struct ip6_hdr ip;

	if (f->len < sizeof(ip) + sizeof(na))
		return false;
	memcpy(&ip, f->data, sizeof(ip));
	memcpy(&na, f->data + sizeof(ip), sizeof(na));
	if (ip.ip6_nxt != IPPROTO_ICMPV6 || ip.ip6_hlim != HOPS || na.nd_na_code)
		return false;
	if (na.nd_na_type == ND_NEIGHBOR_ADVERT)
		read_option(f->data + sizeof(ip) + sizeof(na), f->len - sizeof(ip) - sizeof(na),
			    out->mac);
	else if (na.nd_na_type != ND_NEIGHBOR_SOLICIT ||
		 memcmp(&ip.ip6_src, &nobody, sizeof(nobody)) != 0)
		return false;
	out->probes = na.nd_na_type == ND_NEIGHBOR_SOLICIT;
	return ip_from_bytes(na.nd_na_target.s6_addr, 16, &out->addr) == 0;
}

bool probe_read(const struct probe_msg *frame, const uint8_t from[MAC_LEN],
		struct address_user *out)
{
	struct address_user c = { .addr = { .family = IP_NONE } };

	memcpy(c.mac, from, MAC_LEN);
	if (frame->protocol == ETH_P_ARP ? !read_arp(frame, &c)
					 : frame->protocol != ETH_P_IPV6 || !read_nd(frame, &c))
		return false;
	*out = c;
	return true;
}
