/* SPDX-License-Identifier: Apache-2.0 */
/*
 * late.c INTERFACE ADDRESS: sleep through the first ARP probe for an address, answer the second
 * one, as 02:00:00:00:aa:aa. Prints "ready" when nothing can be missed any more, and "answered" at
 * the end.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/if_ether.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <string.h>

static const unsigned char self[ETH_ALEN] = { 2, 0, 0, 0, 0xaa, 0xaa };

/* As it comes behind the Ethernet header. */
static int answer(int fd, const struct ether_arp *probe, int ifindex)
{
	struct ether_arp m = *probe;
	struct sockaddr_ll to = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ARP),
				  .sll_ifindex = ifindex,
				  .sll_halen = ETH_ALEN };

	memcpy(to.sll_addr, probe->arp_sha, ETH_ALEN);
	m.ea_hdr.ar_op = htons(ARPOP_REPLY);
	memcpy(m.arp_tha, probe->arp_sha, ETH_ALEN);
	memset(m.arp_tpa, 0, sizeof(m.arp_tpa));
	memcpy(m.arp_sha, self, ETH_ALEN);
	memcpy(m.arp_spa, probe->arp_tpa, sizeof(m.arp_spa));
	return sendto(fd, &m, sizeof(m), 0, (const struct sockaddr *)&to, sizeof(to)) ==
			       (ssize_t)sizeof(m)
		       ? 0
		       : 1;
}

int main(int argc, char **argv)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ARP) };
	struct ether_arp m;
	struct in_addr want;
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ARP));

	if (argc != 3 || inet_pton(AF_INET, argv[2], &want) != 1) {
		fprintf(stderr, "usage: late INTERFACE ADDRESS\n");
		return 2;
	}
	at.sll_ifindex = (int)if_nametoindex(argv[1]);
	if (fd < 0 || at.sll_ifindex == 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) != 0) {
		perror(argv[1]);
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	for (unsigned asked = 0; asked < 2;) {
		if (recv(fd, &m, sizeof(m), 0) == (ssize_t)sizeof(m) &&
		    m.ea_hdr.ar_op == htons(ARPOP_REQUEST) &&
		    memcmp(m.arp_tpa, &want, sizeof(want)) == 0)
			asked++;
	}
	if (answer(fd, &m, at.sll_ifindex))
		return 1;
	puts("answered");
	return 0;
}
