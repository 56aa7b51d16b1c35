/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c: announcements, as a neighbour of the pod hears them. */
#include "conformance/spec/wire.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>

#include "conformance/spec/box.h"

enum { QUIET_MS = 400, ARP_SENDER = 14, ARP_TARGET = 24, ICMP6_AT = 40, NA_TYPE = 136 };

int wire_open(const char *wire)
{
	struct sockaddr_ll at = { .sll_family = AF_PACKET,
				  .sll_protocol = htons(ETH_P_ALL),
				  .sll_ifindex = (int)if_nametoindex(wire) };
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ALL));

	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)))
		broken(text("listen on %s", wire));
	return fd;
}

static bool is_gratuitous(const unsigned char *p, size_t len, const unsigned char *ip)
{
	return len >= 28 && memcmp(p + ARP_SENDER, ip, 4) == 0 &&
	       memcmp(p + ARP_TARGET, ip, 4) == 0;
}

/* Type, code, checksum, flags: solicited is 0x40 of the first byte; then the target. */
static bool is_advertisement(const unsigned char *p, size_t len, const unsigned char *ip)
{
	return len >= ICMP6_AT + 24 && p[6] == IPPROTO_ICMPV6 && p[ICMP6_AT] == NA_TYPE &&
	       !(p[ICMP6_AT + 4] & 0x40) && memcmp(p + ICMP6_AT + 8, ip, 16) == 0;
}

int wire_count(int fd, const char *address)
{
	char host[64] = "";
	unsigned char ip[16], packet[2048];
	struct sockaddr_ll from = { 0 };
	struct pollfd ready = { .fd = fd, .events = POLLIN };
	int n = 0;

	memcpy(host, address, strcspn(address, "/"));
	bool v6 = strchr(host, ':') != NULL;
	if (inet_pton(v6 ? AF_INET6 : AF_INET, host, ip) != 1)
		return -1;
	while (poll(&ready, 1, QUIET_MS) > 0) {
		socklen_t size = sizeof(from);
		ssize_t len =
			recvfrom(fd, packet, sizeof(packet), 0, (struct sockaddr *)&from, &size);
		if (len <= 0)
			break;
		if (!v6 && ntohs(from.sll_protocol) == ETH_P_ARP)
			n += is_gratuitous(packet, (size_t)len, ip);
		if (v6 && ntohs(from.sll_protocol) == ETH_P_IPV6)
			n += is_advertisement(packet, (size_t)len, ip);
	}
	return n;
}
