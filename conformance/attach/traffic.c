/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic.c: print what arrives on a link, one line per frame, until killed: by which rail packets
 * leave, and who answers for an address.
 *
 *	echo SOURCE to TARGET      ICMP or ICMPv6 echo request
 *	has ADDRESS MAC            ARP reply for an address, also one for all
 *
 * "ready" is printed first, when nothing can be missed any more.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <netinet/if_ether.h>
#include <netinet/ip.h>
#include <netinet/ip6.h>
#include <netinet/ip_icmp.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <string.h>

static void show_echo(int family, const void *from, const void *to)
{
	char a[INET6_ADDRSTRLEN], b[INET6_ADDRSTRLEN];

	printf("echo %s to %s\n", inet_ntop(family, from, a, sizeof(a)),
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
	if (ip.protocol == IPPROTO_ICMP && len > ip.ihl * 4u && p[ip.ihl * 4u] == ICMP_ECHO)
		show_echo(AF_INET, &ip.saddr, &ip.daddr);
}

static void show_v6(const unsigned char *p, size_t len)
{
	struct ip6_hdr ip;

	if (len <= sizeof(ip))
		return;
	memcpy(&ip, p, sizeof(ip));
	if (ip.ip6_nxt == IPPROTO_ICMPV6 && p[sizeof(ip)] == ICMP6_ECHO_REQUEST)
		show_echo(AF_INET6, &ip.ip6_src, &ip.ip6_dst);
}

static void show(int fd)
{
	unsigned char frame[2048];
	struct sockaddr_ll from = { 0 };

	for (;;) {
		socklen_t size = sizeof(from);
		ssize_t n = recvfrom(fd, frame, sizeof(frame), 0, (struct sockaddr *)&from, &size);
		size_t len = n > ETH_HLEN ? (size_t)n - ETH_HLEN : 0;

		if (!len || from.sll_pkttype == PACKET_OUTGOING)
			continue;
		switch (ntohs(from.sll_protocol)) {
		case ETHERTYPE_ARP:
			show_arp(frame + ETH_HLEN, len);
			break;
		case ETHERTYPE_IP:
			show_v4(frame + ETH_HLEN, len);
			break;
		case ETHERTYPE_IPV6:
			show_v6(frame + ETH_HLEN, len);
			break;
		}
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_ll ll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));

	if (argc != 2) {
		fprintf(stderr, "usage: traffic INTERFACE\n");
		return 2;
	}
	ll.sll_ifindex = (int)if_nametoindex(argv[1]);
	if (fd < 0 || ll.sll_ifindex == 0 || bind(fd, (struct sockaddr *)&ll, sizeof(ll)) != 0) {
		perror(argv[1]);
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	show(fd);
	return 0;
}
