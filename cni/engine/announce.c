/* SPDX-License-Identifier: Apache-2.0 */
/* announce.c: announces the addresses of a pod with ARP and neighbour advertisements. */
#include "cni/engine/announce.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <netinet/if_ether.h>
#include <netinet/icmp6.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/pci/sysfs.h"

static void set_sysctl(const struct ctx *ctx, const char *ifname, const char *key)
{
	struct err e;

	if (sysctl_net_path(ctx->proc, ifname, key, "1", &e))
		log_debug(&ctx->log, "%s", e.msg);
}

void announce_prepare(const struct ctx *ctx, const char *ifname, bool v4, bool v6)
{
	if (v4)
		set_sysctl(ctx, ifname, "ipv4/arp_notify");
	if (v6)
		set_sysctl(ctx, ifname, "ipv6/ndisc_notify");
}

void announce_moved(const struct ctx *ctx, const char *ifname, bool is_up)
{
	if (!is_up) {
		set_sysctl(ctx, ifname, "ipv6/optimistic_dad");
		return;
	}
	set_sysctl(ctx, ifname, "ipv4/arp_notify");
	set_sysctl(ctx, ifname, "ipv6/ndisc_notify");
}

/* RFC 4861 section 4.4, with the one option that matters here. */
struct advertisement {
	struct nd_neighbor_advert na;
	struct nd_opt_hdr option;
	uint8_t mac[MAC_LEN];
} __attribute__((packed));

static int open_socket(int ifindex, struct err *e)
{
	auto_fd int fd = socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMPV6);
	const int hops =
		255; /* receivers drop anything less: it proves that no router forwarded it */
	struct icmp6_filter none;

	ICMP6_FILTER_SETBLOCKALL(&none);
	if (fd < 0 ||
	    setsockopt(fd, IPPROTO_ICMPV6, ICMP6_FILTER, &none, (socklen_t)sizeof(none)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, &hops, (socklen_t)sizeof(hops)) ||
	    setsockopt(fd, IPPROTO_IPV6, IPV6_MULTICAST_IF, &ifindex, (socklen_t)sizeof(ifindex)))
		return err_set(e, ERR_KERNEL, errno, "open a socket for neighbour advertisements");
	return TAKE_FD(fd);
}

int announce_v6(const struct link_info *link, struct ip addr, struct err *e)
{
	struct advertisement m = { .na = { .nd_na_type = ND_NEIGHBOR_ADVERT,
					   .nd_na_flags_reserved = ND_NA_FLAG_OVERRIDE },
				   .option = { ND_OPT_TARGET_LINKADDR, 1 } };
	/* The scope tells on which link: link-local addresses mean nothing without. */
	struct sockaddr_in6 from = { .sin6_family = AF_INET6,
				     .sin6_scope_id = (uint32_t)link->ifindex };
	struct sockaddr_in6 to = from;
	char text[IP_STR_LEN];

	auto_fd int fd = open_socket(link->ifindex, e);
	if (fd < 0)
		return -1;
	(void)ip_to_bytes(addr, from.sin6_addr.s6_addr);
	to.sin6_addr = (struct in6_addr){ { { 0xff, 0x02, [15] = 1 } } }; /* all nodes */
	m.na.nd_na_target = from.sin6_addr;
	memcpy(m.mac, link->addr.byte, MAC_LEN);
	if (bind(fd, (struct sockaddr *)&from, (socklen_t)sizeof(from)) ||
	    sendto(fd, &m, sizeof(m), 0, (struct sockaddr *)&to, (socklen_t)sizeof(to)) < 0)
		return err_set(e, ERR_KERNEL, errno, "announce %s on %s", ip_format(addr, text),
			       link->name);
	return 0;
}

/* RFC 5227 section 3: a request, with the address for sender and target. */
static struct ether_arp make_gratuitous_arp(const struct link_info *link, struct ip addr)
{
	struct ether_arp m = { .ea_hdr = { .ar_hrd = htons(ARPHRD_ETHER),
					   .ar_pro = htons(ETH_P_IP),
					   .ar_hln = MAC_LEN,
					   .ar_pln = sizeof(m.arp_spa),
					   .ar_op = htons(ARPOP_REQUEST) } };

	uint8_t bytes[16] = { 0 };

	(void)ip_to_bytes(addr, bytes);
	memcpy(m.arp_sha, link->addr.byte, MAC_LEN);
	memcpy(m.arp_spa, bytes, sizeof(m.arp_spa));
	memcpy(m.arp_tpa, bytes, sizeof(m.arp_tpa));
	return m;
}

int announce_v4(const struct link_info *link, const struct cni_ip *ips, size_t n, struct err *e)
{
	const struct sockaddr_ll to = { .sll_family = AF_PACKET,
					.sll_protocol = htons(ETH_P_ARP),
					.sll_ifindex = link->ifindex,
					.sll_halen = MAC_LEN,
					.sll_addr = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff } };
	char text[IP_STR_LEN];

	/* Protocol 0: it receives nothing. */
	auto_fd int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(e, ERR_KERNEL, errno, "open a socket for ARP");
	for (size_t i = 0; i < n; i++) {
		struct ip addr = ips[i].address.addr;
		struct ether_arp m = make_gratuitous_arp(link, addr);

		if (addr.family == IP_V4 &&
		    sendto(fd, &m, sizeof(m), 0, (const void *)&to, (socklen_t)sizeof(to)) < 0)
			return err_set(e, ERR_KERNEL, errno, "announce %s on %s",
				       ip_format(addr, text), link->name);
	}
	return 0;
}
