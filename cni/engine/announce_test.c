/* SPDX-License-Identifier: Apache-2.0 */
/*
 * announce_test.c: shows, on a veth pair in a namespace of its own, which announcements of one
 * end the other end receives.
 */
#include "cni/engine/announce.h"

#include <arpa/inet.h>
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <netinet/icmp6.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/net/addr.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

#define PATIENCE 10000 /* ms; on a good day it takes none */

struct wire {
	struct nl *nl;
	struct link_info ours; /* v0 */
	int ear;               /* packet socket at v1 */
};

static struct ip ip_of(const char *text)
{
	struct ip a;

	ck_assert_int_eq(ip_parse(text, &a), 0);
	return a;
}

static int listen_at(int ifindex)
{
	const struct sockaddr_ll at = { .sll_family = AF_PACKET,
					.sll_protocol = htons(ETH_P_ALL),
					.sll_ifindex = ifindex };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&at, (socklen_t)sizeof(at)), 0);
	return fd;
}

static struct wire new_wire(void)
{
	struct wire w;
	struct err e;

	net_enter_new();
	net_veth("v0", "v1", NULL);
	w.nl = net_socket();
	ck_assert_int_eq(nl_link_by_name(w.nl, "v0", &w.ours, &e), 0);
	w.ear = listen_at(net_ifindex(w.nl, "v1"));
	return w;
}

static void wire_clear(struct wire *w)
{
	nl_release(w->nl);
	(void)close(w->ear);
}
#define auto_wire auto_clean(wire_clear)

static void add_address(const struct wire *w, const char *text)
{
	struct ip_prefix p;
	struct err e = { .msg = "" };

	ck_assert_int_eq(ip_parse_prefix(text, &p), 0);
	ck_assert_msg(nl_addr_add(w->nl, w->ours.ifindex, p, true, &e) == 0, "%s", e.msg);
}

struct frame {
	uint8_t b[2048];
	size_t len;
};

static bool is_neighbour_advert(const struct frame *f)
{
	return f->len >= sizeof(struct ether_header) + 40 + sizeof(struct nd_neighbor_advert) &&
	       f->b[12] == 0x86 && f->b[13] == 0xdd && f->b[14 + 6] == IPPROTO_ICMPV6 &&
	       f->b[14 + 40] == ND_NEIGHBOR_ADVERT;
}

static bool is_arp(const struct frame *f)
{
	return f->len >= 42 && f->b[12] == 0x08 && f->b[13] == 0x06;
}

/* Wait for a frame of that kind; everything else on the wire is passed over. */
static struct frame hear(const struct wire *w, bool (*kind)(const struct frame *))
{
	struct pollfd p = { .fd = w->ear, .events = POLLIN };
	struct frame f;

	do {
		ck_assert_msg(poll(&p, 1, PATIENCE) == 1, "nothing was heard");
		ssize_t n = recv(w->ear, f.b, sizeof(f.b), 0);
		ck_assert_int_ge(n, 0);
		f.len = (size_t)n;
	} while (!kind(&f));
	return f;
}

/* What arrived by now: a veth delivers before sendto() returns, but the softirq may lag behind. */
static unsigned count_waiting(const struct wire *w, bool (*kind)(const struct frame *))
{
	struct frame f;
	unsigned n = 0;

	for (;;) {
		ssize_t got = recv(w->ear, f.b, sizeof(f.b), MSG_DONTWAIT);
		if (got < 0)
			return n;
		f.len = (size_t)got;
		n += kind(&f);
	}
}

/* RFC 4443 section 2.3: over the pseudo-header; 0xffff when it is right. */
static uint16_t icmp6_sum(const struct frame *f)
{
	const uint8_t *ip6 = f->b + 14;
	size_t len = (size_t)(ip6[4] << 8 | ip6[5]);
	uint32_t sum = IPPROTO_ICMPV6 + (uint32_t)len;

	ck_assert_uint_le(14 + 40 + len, f->len);
	for (size_t i = 8; i < 40 + len; i++)
		sum += i % 2 ? ip6[i] : (uint32_t)ip6[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void is_announcement(const struct frame *f, const struct wire *w, const char *addr)
{
	static const uint8_t group_mac[] = { 0x33, 0x33, 0, 0, 0, 1 };
	uint8_t want[16], all_nodes[16];
	const uint8_t *ip6 = f->b + 14, *na = ip6 + 40;

	(void)ip_to_bytes(ip_of(addr), want);
	(void)ip_to_bytes(ip_of("ff02::1"), all_nodes);
	ck_assert_mem_eq(f->b, group_mac, 6);
	ck_assert_mem_eq(f->b + 6, w->ours.addr.byte, 6);
	ck_assert_uint_eq(ip6[7], 255); /* RFC 4861 section 7.1.2: else it is dropped */
	ck_assert_mem_eq(ip6 + 8, want, 16);
	ck_assert_mem_eq(ip6 + 24, all_nodes, 16);
	ck_assert_uint_eq(ip6[4] << 8 | ip6[5], 32); /* advertisement and one option */
	ck_assert_uint_eq(na[1], 0);
	ck_assert_uint_eq(na[4], 0x20); /* override; neither router nor solicited */
	ck_assert_mem_eq(na + 8, want, 16);
	ck_assert_uint_eq(na[24], 2); /* target link-layer address */
	ck_assert_uint_eq(na[25], 1);
	ck_assert_mem_eq(na + 26, w->ours.addr.byte, 6);
	ck_assert_uint_eq(icmp6_sum(f), 0xffff);
}

/* CNI-160 */
START_TEST(an_advertisement_has_the_fields_of_rfc_4861)
{
	static const char *const addrs[] = { "2001:db8::5", "fd00:1:2:3:4:5:6:7" };
	auto_wire struct wire w = new_wire();
	struct err e = { .msg = "" };
	char text[60];

	for (size_t i = 0; i < ARRAY_SIZE(addrs); i++) {
		(void)snprintf(text, sizeof(text), "%s/64", addrs[i]);
		add_address(&w, text);
		(void)count_waiting(&w, is_neighbour_advert);
		ck_assert_msg(announce_v6(&w.ours, ip_of(addrs[i]), &e) == 0, "%s", e.msg);
		struct frame f = hear(&w, is_neighbour_advert);
		is_announcement(&f, &w, addrs[i]);
		ck_assert_uint_eq(count_waiting(&w, is_neighbour_advert), 0);
	}
}
END_TEST

/* An IPAM may hand out these as well; such an address only means something on one link. */
START_TEST(a_link_local_address_is_announced)
{
	auto_wire struct wire w = new_wire();
	struct err e = { .msg = "" };

	add_address(&w, "fe80::1234/64");
	ck_assert_msg(announce_v6(&w.ours, ip_of("fe80::1234"), &e) == 0, "%s", e.msg);
	struct frame f = hear(&w, is_neighbour_advert);
	is_announcement(&f, &w, "fe80::1234");
}
END_TEST

START_TEST(an_address_that_is_not_ours_fails)
{
	auto_wire struct wire w = new_wire();
	struct err e;

	ck_assert_int_eq(announce_v6(&w.ours, ip_of("2001:db8::77"), &e), -1);
	ck_assert_int_eq((int)e.code, ERR_KERNEL);
	ck_assert_ptr_nonnull(strstr(e.msg, "2001:db8::77"));
	ck_assert_ptr_nonnull(strstr(e.msg, "v0"));
	ck_assert_uint_eq(count_waiting(&w, is_neighbour_advert), 0);
}
END_TEST

START_TEST(an_interface_that_is_gone_fails)
{
	auto_wire struct wire w = new_wire();
	struct err e;

	add_address(&w, "2001:db8::5/64");
	ck_assert_int_eq(nl_link_delete(w.nl, w.ours.ifindex, &e), 0);
	ck_assert_int_eq(announce_v6(&w.ours, ip_of("2001:db8::5"), &e), -1);
	ck_assert_int_eq((int)e.code, ERR_KERNEL);
	ck_assert(e.errnum != 0);
}
END_TEST

/* ---- sysctls ---- */

static char sysctl_of(const char *path)
{
	char full[200], value = '?';
	FILE *f;

	(void)snprintf(full, sizeof(full), "/proc/sys/net/%s", path);
	f = fopen(full, "re");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fread(&value, 1, 1, f), 1);
	ck_assert_int_eq(fclose(f), 0);
	return value;
}

static void are_set(char v4, char v6)
{
	ck_assert_int_eq(sysctl_of("ipv4/conf/v0/arp_notify"), v4);
	ck_assert_int_eq(sysctl_of("ipv6/conf/v0/ndisc_notify"), v6);
}

START_TEST(prepare_sets_the_notify_sysctls)
{
	const struct ctx ctx = { .proc = "/proc", .log = { .fd = -1 } };

	net_enter_new();
	net_veth("v0", "v1", NULL);
	/* a new namespace begins with the settings of the machine */
	net_sysctl("ipv4/conf/all/arp_notify", "0");
	net_sysctl("ipv4/conf/v0/arp_notify", "0");
	net_sysctl("ipv4/conf/v1/arp_notify", "0");
	net_sysctl("ipv6/conf/v0/ndisc_notify", "0");
	announce_prepare(&ctx, "v0", false, false);
	are_set('0', '0');
	announce_prepare(&ctx, "v0", true, false);
	are_set('1', '0');
	announce_prepare(&ctx, "v0", false, true);
	are_set('1', '1');
	ck_assert_int_eq(sysctl_of("ipv4/conf/v1/arp_notify"), '0'); /* no other interface's */
	ck_assert_int_eq(sysctl_of("ipv4/conf/all/arp_notify"), '0');
}
END_TEST

/* CNI-160: one ARP request with the address as sender and target, when the link goes up. */
START_TEST(the_kernel_announces_ipv4)
{
	const struct ctx ctx = { .proc = "/proc", .log = { .fd = -1 } };
	static const uint8_t addr[] = { 192, 0, 2, 5 };
	struct wire w = new_wire();
	struct err e;

	/* a link that is down, as it is in ADD: a macvlan on the first end */
	const struct link_spec spec = { .kind = "macvlan",
					.name = "m0",
					.lower_ifindex = w.ours.ifindex,
					.data.macvlan.mode = MACVLAN_BRIDGE };
	ck_assert_int_eq(nl_link_create(w.nl, &spec, &e), 0);
	ck_assert_int_eq(nl_link_by_name(w.nl, "m0", &w.ours, &e), 0);
	announce_prepare(&ctx, "m0", true, false);
	add_address(&w, "192.0.2.5/24");
	ck_assert_int_eq(nl_link_set_up(w.nl, w.ours.ifindex, &e), 0);
	struct frame f = hear(&w, is_arp);
	ck_assert_mem_eq(f.b + 6, w.ours.addr.byte, 6);
	ck_assert_uint_eq(f.b[21], 1);                   /* a request */
	ck_assert_mem_eq(f.b + 22, w.ours.addr.byte, 6); /* sender */
	ck_assert_mem_eq(f.b + 28, addr, 4);
	ck_assert_mem_eq(f.b + 38, addr, 4); /* target */
	wire_clear(&w);
}
END_TEST

static void is_gratuitous(const struct frame *f, const struct wire *w, const uint8_t addr[4])
{
	static const uint8_t everybody[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
	static const uint8_t head[] = { 0, 1, 8, 0, 6, 4, 0, 1 }, nobody[6];

	ck_assert_mem_eq(f->b, everybody, 6);
	ck_assert_mem_eq(f->b + 6, w->ours.addr.byte, 6);
	ck_assert_mem_eq(f->b + 14, head, 8); /* Ethernet, IPv4, a request */
	ck_assert_mem_eq(f->b + 22, w->ours.addr.byte, 6);
	ck_assert_mem_eq(f->b + 28, addr, 4);
	ck_assert_mem_eq(f->b + 32, nobody, 6);
	ck_assert_mem_eq(f->b + 38, addr, 4);
}

/* RFC 5227 section 3, for a link that had no carrier when the kernel announced. */
START_TEST(we_announce_ipv4)
{
	static const uint8_t addr[][4] = { { 192, 0, 2, 5 }, { 198, 51, 100, 7 } };
	auto_wire struct wire w = new_wire();
	struct err e = { .msg = "" };
	const struct cni_ip ips[] = { { .address = { ip_of("192.0.2.5"), 24 } },
				      { .address = { ip_of("2001:db8::5"), 64 } },
				      { .address = { ip_of("198.51.100.7"), 24 } } };

	ck_assert_msg(announce_v4(&w.ours, ips, ARRAY_SIZE(ips), &e) == 0, "%s", e.msg);
	for (size_t i = 0; i < ARRAY_SIZE(addr); i++) {
		struct frame f = hear(&w, is_arp);
		is_gratuitous(&f, &w, addr[i]);
	}
	ck_assert_uint_eq(count_waiting(&w, is_arp), 0);

	w.ours.ifindex = 424242;
	ck_assert_int_eq(announce_v4(&w.ours, ips, 1, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_KERNEL);
	ck_assert_ptr_nonnull(strstr(e.msg, "192.0.2.5"));
}
END_TEST

/* The other end of the wire is Ethernet; what follows its header is as it is on InfiniBand. */
static void becomes_ipoib(struct wire *w)
{
	w->ours.type = 32; /* ARPHRD_INFINIBAND */
	w->ours.addr = (struct hw_addr){ 20, { 0x80, 0, 0, 9, 0xfe, 0x80, [12] = 2, [19] = 7 } };
	w->ours.broadcast = (struct hw_addr){ 20, { 0, 0xff, 0xff, 0xff, 0xff, 0x12, 0x40, 0x1b } };
}

START_TEST(an_ARP_of_IPoIB)
{
	static const uint8_t head[] = { 0, 32, 8, 0, 20, 4, 0, 1 }, addr[] = { 192, 0, 2, 5 },
			     nobody[20];
	auto_wire struct wire w = new_wire();
	const struct cni_ip ip = { .address = { ip_of("192.0.2.5"), 24 } };
	struct err e = { .msg = "" };

	becomes_ipoib(&w);
	ck_assert_msg(announce_v4(&w.ours, &ip, 1, &e) == 0, "%s", e.msg);
	struct frame f = hear(&w, is_arp);
	ck_assert_uint_eq(f.len, 14 + 8 + 2 * 24);
	ck_assert_mem_eq(f.b, w.ours.broadcast.byte, 6);
	ck_assert_mem_eq(f.b + 14, head, 8);
	ck_assert_mem_eq(f.b + 22, w.ours.addr.byte, 20);
	ck_assert_mem_eq(f.b + 42, addr, 4);
	ck_assert_mem_eq(f.b + 46, nobody, 20);
	ck_assert_mem_eq(f.b + 66, addr, 4);
}
END_TEST

/* RFC 4391 section 9.3: two bytes, then the address: 24 bytes in all. */
START_TEST(an_advertisement_of_IPoIB)
{
	static const uint8_t option[] = { ND_OPT_TARGET_LINKADDR, 3, 0, 0 };
	auto_wire struct wire w = new_wire();
	const size_t at = sizeof(struct ether_header) + 40 + sizeof(struct nd_neighbor_advert);
	struct err e = { .msg = "" };

	add_address(&w, "2001:db8::5/64");
	becomes_ipoib(&w);
	ck_assert_msg(announce_v6(&w.ours, ip_of("2001:db8::5"), &e) == 0, "%s", e.msg);
	struct frame f = hear(&w, is_neighbour_advert);
	ck_assert_uint_eq(f.len, at + 24);
	ck_assert_mem_eq(f.b + at, option, 4);
	ck_assert_mem_eq(f.b + at + 4, w.ours.addr.byte, 20);
	ck_assert_uint_eq(icmp6_sum(&f), 0xffff);
}
END_TEST

/* Failures are told in the log, at a level that programs do not show, and are no obstacle. */
START_TEST(a_sysctl_that_cannot_be_set_is_logged)
{
	int fds[2];
	char line[300];

	net_enter_new();
	ck_assert_int_eq(pipe(fds), 0);
	const struct ctx ctx = { .proc = "/proc",
				 .log = { .fd = fds[1], .level = LOG_LEVEL_DEBUG, .tag = "t" } };
	announce_prepare(&ctx, "nothing", true, false);
	ssize_t n = read(fds[0], line, sizeof(line) - 1);
	ck_assert_int_gt(n, 0);
	line[n] = '\0';
	ck_assert_ptr_nonnull(strstr(line, "level=debug"));
	ck_assert_ptr_nonnull(strstr(line, "arp_notify"));
	ck_assert_ptr_nonnull(strstr(line, "nothing"));
}
END_TEST

TEST_PROGRAM("cni/engine/announce", an_advertisement_has_the_fields_of_rfc_4861,
	     a_link_local_address_is_announced, an_address_that_is_not_ours_fails,
	     an_interface_that_is_gone_fails, prepare_sets_the_notify_sysctls,
	     the_kernel_announces_ipv4, we_announce_ipv4, an_ARP_of_IPoIB,
	     an_advertisement_of_IPoIB, a_sysctl_that_cannot_be_set_is_logged)
