/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic.c: print what arrives on a link, one line per frame, until killed: by which rail packets
 * leave, and who answers for an address.
 *
 *	echo SOURCE to TARGET      ICMP or ICMPv6 echo request
 *	reply SOURCE to TARGET     the answer to one
 *	has ADDRESS MAC            ARP reply for an address, also one for all
 *
 * "ready" is printed first, when nothing can be missed any more.
 */
#include <arpa/inet.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <stdio.h>
#include <string.h>

#include "conformance/harness/wire.h"

static void show_packet(const char *what, int family, const void *from, const void *to)
{
	char a[INET6_ADDRSTRLEN], b[INET6_ADDRSTRLEN];

	printf("%s %s to %s\n", what, inet_ntop(family, from, a, sizeof(a)),
	       inet_ntop(family, to, b, sizeof(b)));
}

static void show_arp(const unsigned char *p, size_t len)
{
	struct ether_arp arp;
	char ip[INET_ADDRSTRLEN];

	if (len < sizeof(arp))
		return;
	memcpy(&arp, p, sizeof(arp));
	if (arp.arp_op != htons(ARPOP_REPLY))
		return;
	printf("has %s %02x:%02x:%02x:%02x:%02x:%02x\n",
	       inet_ntop(AF_INET, arp.arp_spa, ip, sizeof(ip)), arp.arp_sha[0], arp.arp_sha[1],
	       arp.arp_sha[2], arp.arp_sha[3], arp.arp_sha[4], arp.arp_sha[5]);
}

static void show_v4(const unsigned char *p, size_t len)
{
	struct iphdr ip;

	if (len < sizeof(ip))
		return;
	memcpy(&ip, p, sizeof(ip));
	if (ip.protocol != IPPROTO_ICMP || len <= ip.ihl * 4u)
		return;
	if (p[ip.ihl * 4u] == ICMP_ECHO)
		show_packet("echo", AF_INET, &ip.saddr, &ip.daddr);
	else if (p[ip.ihl * 4u] == ICMP_ECHOREPLY)
		show_packet("reply", AF_INET, &ip.saddr, &ip.daddr);
}

static void show_v6(const unsigned char *p, size_t len)
{
	struct ip6_hdr ip;

	if (len <= sizeof(ip))
		return;
	memcpy(&ip, p, sizeof(ip));
	if (ip.ip6_nxt != IPPROTO_ICMPV6)
		return;
	if (p[sizeof(ip)] == ICMP6_ECHO_REQUEST)
		show_packet("echo", AF_INET6, &ip.ip6_src, &ip.ip6_dst);
	else if (p[sizeof(ip)] == ICMP6_ECHO_REPLY)
		show_packet("reply", AF_INET6, &ip.ip6_src, &ip.ip6_dst);
}

static void show(const unsigned char *frame, size_t len, unsigned short protocol)
{
	const unsigned char *p = frame + ETH_HLEN;

	len -= ETH_HLEN;
	if (protocol == ETHERTYPE_ARP)
		show_arp(p, len);
	else if (protocol == ETHERTYPE_IP)
		show_v4(p, len);
	else if (protocol == ETHERTYPE_IPV6)
		show_v6(p, len);
}

int main(int argc, char **argv)
{
	return wire_main(argc, argv, show);
}
