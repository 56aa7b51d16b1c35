/* SPDX-License-Identifier: Apache-2.0 */
/* announce.c: announces the addresses of a pod with ARP and neighbour advertisements. */
#include "cni/engine/announce.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <net/if_arp.h>
#include <netinet/if_ether.h>
#include <netinet/icmp6.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/device/sysfs.h"

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

/*
 * RFC 4861 section 4.4, with the one option that matters here. Its length counts 8 bytes; IPoIB has
 * two bytes before the address (RFC 4391 section 9.3).
 */
struct advertisement {
	struct nd_neighbor_advert na;
	struct nd_opt_hdr option;
	uint8_t address[2 + HW_ADDR_MAX];
} __attribute__((packed));

/* Returns the length of the message. */
static size_t make_advertisement(const struct link_info *link, const struct in6_addr *target,
				 struct advertisement *m)
{
	const size_t pad = link_is_ipoib(link) ? 2 : 0,
		     len = sizeof(m->option) + pad + link->addr.len;

	*m = (struct advertisement){ .na = { .nd_na_type = ND_NEIGHBOR_ADVERT,
					     .nd_na_flags_reserved = ND_NA_FLAG_OVERRIDE,
					     .nd_na_target = *target },
				     .option = { ND_OPT_TARGET_LINKADDR, (uint8_t)(len / 8) } };
	memcpy(m->address + pad, link->addr.byte, link->addr.len);
	return sizeof(m->na) + len;
}

static int announce_open_socket(int ifindex, struct err *e)
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
	struct advertisement m;
	/* The scope tells on which link: link-local addresses mean nothing without. */
	struct sockaddr_in6 from = { .sin6_family = AF_INET6,
				     .sin6_scope_id = (uint32_t)link->ifindex };
	struct sockaddr_in6 to = from;
	char text[IP_STR_LEN];

	auto_fd int fd = announce_open_socket(link->ifindex, e);
	if (fd < 0)
		return -1;
	(void)ip_to_bytes(addr, from.sin6_addr.s6_addr);
	to.sin6_addr = (struct in6_addr){ { { 0xff, 0x02, [15] = 1 } } }; /* all nodes */
	size_t len = make_advertisement(link, &from.sin6_addr, &m);
	if (bind(fd, (struct sockaddr *)&from, (socklen_t)sizeof(from)) ||
	    sendto(fd, &m, len, 0, (struct sockaddr *)&to, (socklen_t)sizeof(to)) < 0)
		return err_set(e, ERR_KERNEL, errno, "announce %s on %s", ip_format(addr, text),
			       link->name);
	return 0;
}

/* RFC 826, with hardware addresses of either length. */
struct arp {
	struct arphdr head;
	uint8_t body[2 * (HW_ADDR_MAX + 4)];
} __attribute__((packed));

/*
 * RFC 5227 section 3: a request, with the address for sender and target. Returns the length of the
 * message.
 */
static size_t make_gratuitous_arp(const struct link_info *link, struct ip addr, struct arp *m)
{
	const size_t len = link->addr.len, ip_len = 4;
	uint8_t bytes[16] = { 0 }, *p = m->body;

	(void)ip_to_bytes(addr, bytes);
	*m = (struct arp){ .head = { .ar_hrd = htons(link_is_ipoib(link) ? ARPHRD_INFINIBAND
									 : ARPHRD_ETHER),
				     .ar_pro = htons(ETH_P_IP),
				     .ar_hln = (uint8_t)len,
				     .ar_pln = (uint8_t)ip_len,
				     .ar_op = htons(ARPOP_REQUEST) } };
	memcpy(p, link->addr.byte, len);
	memcpy(p + len, bytes, ip_len);
	memcpy(p + 2 * len + ip_len, bytes, ip_len);
	return sizeof(m->head) + 2 * (len + ip_len);
}

/* A sockaddr_ll has room for 8 bytes; the kernel takes as many as sll_halen says. */
union everybody {
	struct sockaddr_ll ll;
	uint8_t bytes[offsetof(struct sockaddr_ll, sll_addr) + HW_ADDR_MAX];
};

static union everybody everybody_on(const struct link_info *link)
{
	union everybody to = { .ll = { .sll_family = AF_PACKET,
				       .sll_protocol = htons(ETH_P_ARP),
				       .sll_ifindex = link->ifindex,
				       .sll_halen = link->addr.len } };
	uint8_t *at = to.bytes + offsetof(struct sockaddr_ll, sll_addr);

	if (link->broadcast.len == link->addr.len)
		memcpy(at, link->broadcast.byte, link->addr.len);
	else
		memset(at, 0xff, link->addr.len);
	return to;
}

int announce_v4(const struct link_info *link, const struct cni_ip *ips, size_t n, struct err *e)
{
	const union everybody to = everybody_on(link);
	char text[IP_STR_LEN];

	/* Protocol 0: it receives nothing. */
	auto_fd int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return err_set(e, ERR_KERNEL, errno, "open a socket for ARP");
	for (size_t i = 0; i < n; i++) {
		struct ip addr = ips[i].address.addr;
		struct arp m;
		size_t len = make_gratuitous_arp(link, addr, &m);

		if (addr.family == IP_V4 &&
		    sendto(fd, &m, len, 0, (const void *)&to, (socklen_t)sizeof(to)) < 0)
			return err_set(e, ERR_KERNEL, errno, "announce %s on %s",
				       ip_format(addr, text), link->name);
	}
	return 0;
}
