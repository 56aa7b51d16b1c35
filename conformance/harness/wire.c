/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c: listens on a link. */
#include "conformance/harness/wire.h"

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netpacket/packet.h>
#include <stdio.h>
#include <sys/socket.h>

static void listen_on(int fd, wire_fn show)
{
	unsigned char frame[2048];
	struct sockaddr_ll from = { 0 };

	for (;;) {
		socklen_t size = sizeof(from);
		ssize_t n = recvfrom(fd, frame, sizeof(frame), 0, (struct sockaddr *)&from, &size);

		if (n >= (ssize_t)sizeof(struct ether_header) &&
		    from.sll_pkttype != PACKET_OUTGOING)
			show(frame, (size_t)n, ntohs(from.sll_protocol));
	}
}

int wire_main(int argc, char **argv, wire_fn show)
{
	struct sockaddr_ll ll = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL) };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));

	if (argc != 2) {
		fprintf(stderr, "usage: %s INTERFACE\n", argc > 0 ? argv[0] : "");
		return 2;
	}
	ll.sll_ifindex = (int)if_nametoindex(argv[1]);
	if (fd < 0 || ll.sll_ifindex == 0 || bind(fd, (struct sockaddr *)&ll, sizeof(ll)) != 0) {
		perror(argv[1]);
		return 1;
	}
	setvbuf(stdout, NULL, _IOLBF, 0);
	puts("ready");
	listen_on(fd, show);
	return 0;
}
