/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sniff.c: print who announces or probes an address on a link, one line per frame, until killed.
 *
 *	garp ADDRESS MAC request|reply to MAC      ARP whose sender and target address are equal
 *	probe ADDRESS MAC                          ARP request from 0.0.0.0
 *	na ADDRESS MAC flags=ROS to ADDRESS        neighbour advertisement (MAC: its link-layer
 * option) dad ADDRESS                                neighbour solicitation from ::
 *
 * "ready" is printed first, when nothing can be missed any more.
 */
#include <arpa/inet.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip6.h>
#include <stdio.h>
#include <string.h>

#include "conformance/harness/wire.h"

static const char *mac_text(const unsigned char *m, char out[18])
{
	snprintf(out, 18, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
	return out;
}

static void show_arp(const unsigned char *frame, size_t len)
{
	struct ether_arp arp;
	char ip[INET_ADDRSTRLEN], mac[18], to[18];

	if (len < ETH_HLEN + sizeof(arp))
		return;
	memcpy(&arp, frame + ETH_HLEN, sizeof(arp));
	if (arp.arp_op == htons(ARPOP_REQUEST) &&
	    memcmp(arp.arp_spa, "\0\0\0\0", sizeof(arp.arp_spa)) == 0) {
		inet_ntop(AF_INET, arp.arp_tpa, ip, sizeof(ip));
		printf("probe %s %s\n", ip, mac_text(arp.arp_sha, mac));
		return;
	}
	if (memcmp(arp.arp_spa, arp.arp_tpa, sizeof(arp.arp_spa)) != 0)
		return;
	inet_ntop(AF_INET, arp.arp_spa, ip, sizeof(ip));
	printf("garp %s %s %s to %s\n", ip, mac_text(arp.arp_sha, mac),
	       ntohs(arp.arp_op) == ARPOP_REQUEST ? "request" : "reply", mac_text(frame, to));
}

static void show_na(const struct ip6_hdr *ip, const unsigned char *p, size_t len)
{
	struct nd_neighbor_advert na;
	char target[INET6_ADDRSTRLEN], to[INET6_ADDRSTRLEN], mac[18] = "-";
	unsigned flags;

	memcpy(&na, p, sizeof(na));
	if (len >= sizeof(na) + 8 && p[sizeof(na)] == ND_OPT_TARGET_LINKADDR)
		mac_text(p + sizeof(na) + 2, mac);
	flags = ntohl(na.nd_na_flags_reserved);
	inet_ntop(AF_INET6, &na.nd_na_target, target, sizeof(target));
	inet_ntop(AF_INET6, &ip->ip6_dst, to, sizeof(to));
	printf("na %s %s flags=%s%s%s to %s\n", target, mac, flags & 0x80000000u ? "R" : "",
	       flags & 0x20000000u ? "O" : "", flags & 0x40000000u ? "S" : "", to);
}

static void show_ip6(const unsigned char *frame, size_t len)
{
	struct ip6_hdr ip;
	const unsigned char *p = frame + ETH_HLEN + sizeof(ip);
	char target[INET6_ADDRSTRLEN];

	/* Both messages are 24 bytes without options. */
	if (len < ETH_HLEN + sizeof(ip) + sizeof(struct nd_neighbor_advert))
		return;
	memcpy(&ip, frame + ETH_HLEN, sizeof(ip));
	len -= ETH_HLEN + sizeof(ip);
	if (ip.ip6_nxt != IPPROTO_ICMPV6)
		return;
	if (p[0] == ND_NEIGHBOR_ADVERT) {
		show_na(&ip, p, len);
	} else if (p[0] == ND_NEIGHBOR_SOLICIT && IN6_IS_ADDR_UNSPECIFIED(&ip.ip6_src)) {
		inet_ntop(AF_INET6, p + 8, target, sizeof(target));
		printf("dad %s\n", target);
	}
}

static void show(const unsigned char *frame, size_t len, unsigned short protocol)
{
	if (protocol == ETHERTYPE_ARP)
		show_arp(frame, len);
	else if (protocol == ETHERTYPE_IPV6)
		show_ip6(frame, len);
}

int main(int argc, char **argv)
{
	return wire_main(argc, argv, show);
}
