/* SPDX-License-Identifier: Apache-2.0 */
/*
 * configure_test.c: shows how long ADD waits for carrier of "net1" in a pod, whose other end is
 * "wire" here, and when it announces addresses.
 */
#include <linux/if_packet.h>
#include <net/ethernet.h>
#include <net/if_arp.h>
#include <netinet/icmp6.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>

#include "cni/engine/attach_priv.h"
#include "lib/net/link.h"
#include "lib/testing/testing.h"
#include "lib/testing/net.h"
#include "lib/testing/time.h"

#define PATIENCE 10000 /* ms; on a good day it takes none */

static struct {
	struct nl *nl; /* of the far end */
	int wire, asked, patience;
	bool comes; /* the carrier, while we are asked, */
	bool deaf;  /* and IPv6 is not ready for it, */
	int naps;   /* until so many ms are slept through */
} far;

/* What IPv6 has not done before it has noticed the carrier. */
static void route_to_all(const char *cmd)
{
	char command[128];

	(void)snprintf(command, sizeof(command),
		       "until ip -6 route %s multicast ff00::/8 dev net1 table local 2>/dev/null; "
		       "do :; done",
		       cmd);
	ck_assert_int_eq(system(command), 0);
}

static void nap(int64_t ms)
{
	if (ms == far.naps)
		route_to_all("add");
}

static int carrier_ms(const struct attach *a)
{
	struct err e;

	ck_assert_str_eq(a->link.name, "net1");
	far.asked++;
	if (far.comes)
		ck_assert_int_eq(nl_link_set_up(far.nl, far.wire, &e), 0);
	if (far.deaf)
		route_to_all("del");
	return far.patience;
}

static const struct attach_type moves = { .name = "t", .kind = "", .carrier_ms = carrier_ms };
static const struct attach_type makes = { .name = "t", .kind = "veth" };

struct scene {
	struct cni_call call;
	struct attach a;
	struct cni_ip ips[2];
	struct cni_result r;
	int ear;
};

static int listen_at(int ifindex)
{
	const struct sockaddr_ll at = { .sll_family = AF_PACKET,
					.sll_protocol = htons(ETH_P_ALL),
					.sll_ifindex = ifindex };
	int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));

	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&at, (socklen_t)sizeof(at)), 0);
	return fd;
}

static void make_wire(struct attach *a)
{
	struct err e;

	net_enter_new();
	a->host = net_self();
	a->pod = net_another();
	net_veth("wire", "net1", &a->pod);
	a->pod_nl = net_socket_in(&a->pod);
	a->host_nl = net_socket();
	far.nl = a->host_nl;
	far.wire = net_ifindex(far.nl, "wire");
	ck_assert_int_eq(nl_link_by_name(a->pod_nl, "net1", &a->link, &e), 0);
	ck_assert_int_eq(nl_link_set_down(a->pod_nl, a->link.ifindex, &e), 0);
	ck_assert_int_eq(nl_link_set_down(far.nl, far.wire, &e), 0);
}

static void scene(struct scene *s, const struct attach_type *type)
{
	*s = (struct scene){ .call = { .env = { .ifname = "net1" },
				       .ctx = { .proc = "/proc", .log = { .fd = -1 } } },
			     .a = { .call = &s->call, .type = type },
			     .r = { .ips = s->ips, .n_ips = 2 } };
	ck_assert_int_eq(ip_parse_prefix("192.0.2.5/24", &s->ips[0].address), 0);
	ck_assert_int_eq(ip_parse_prefix("2001:db8::5/64", &s->ips[1].address), 0);
	make_wire(&s->a);
	s->ear = listen_at(far.wire);
}

static void scene_clear(struct scene *s)
{
	nl_release(s->a.pod_nl);
	nl_release(s->a.host_nl);
	netns_close(&s->a.pod);
	netns_close(&s->a.host);
	(void)close(s->ear);
}
#define auto_scene auto_clean(scene_clear)

static void configure(struct scene *s)
{
	struct err e = { .msg = "" };

	ck_assert_msg(attach_configure(&(struct attach_part){ &s->a, &s->r }, 1, &e) == 0, "%s",
		      e.msg);
}

/* 'a': a gratuitous ARP of the address; 'n': an advertisement of it; '-': something else. */
static char kind(const uint8_t *f, ssize_t len)
{
	static const uint8_t v4[] = { 192, 0, 2, 5 }, v6[] = { 0x20, 1, 0xd, 0xb8 };

	if (len >= 42 && f[12] == 8 && f[13] == 6 && !memcmp(f + 28, v4, 4) &&
	    !memcmp(f + 38, v4, 4))
		return 'a';
	return len >= 78 && f[12] == 0x86 && f[20] == IPPROTO_ICMPV6 &&
			       f[54] == ND_NEIGHBOR_ADVERT && !memcmp(f + 62, v6, 4)
		       ? 'n'
		       : '-';
}

/* The next announcement; '0': there is none within so many ms. */
static char heard(const struct scene *s, int ms)
{
	struct pollfd p = { .fd = s->ear, .events = POLLIN };
	uint8_t frame[2048];
	char what = '-';

	while (what == '-') {
		if (poll(&p, 1, ms) != 1)
			return '0';
		/* A link that goes down is told by an error. */
		what = kind(frame, recv(s->ear, frame, sizeof(frame), 0));
	}
	return what;
}

/* Both addresses are announced, once each. */
static void announced(const struct scene *s)
{
	ck_assert_int_eq(heard(s, PATIENCE), 'a');
	ck_assert_int_eq(heard(s, PATIENCE), 'n');
	ck_assert_int_eq(heard(s, 0), '0');
}

START_TEST(carrier_that_comes_is_waited_for)
{
	auto_scene struct scene s = { .ear = -1 };

	far.comes = true;
	far.patience = PATIENCE;
	scene(&s, &moves);
	configure(&s);
	ck_assert_int_eq(far.asked, 1);
	announced(&s);
}
END_TEST

/* The kernel needs a moment to make an interface that has carrier ready for IPv6. */
START_TEST(readiness_is_waited_for)
{
	auto_scene struct scene s = { .ear = -1 };

	far.comes = far.deaf = true;
	far.patience = PATIENCE;
	far.naps = 3;
	scene(&s, &moves);
	faketime_begin(nap);
	configure(&s);
	ck_assert_int_eq(faketime_gone(), 3);
	announced(&s);
}
END_TEST

START_TEST(readiness_that_does_not_come_ends_the_wait)
{
	auto_scene struct scene s = { .ear = -1 };

	far.comes = far.deaf = true;
	far.patience = PATIENCE;
	scene(&s, &moves);
	faketime_begin(NULL);
	configure(&s);
	ck_assert_int_eq(faketime_gone(), 1000);
	ck_assert_int_eq(heard(&s, PATIENCE), 'a');
	ck_assert_int_eq(heard(&s, 0), '0');
}
END_TEST

/* Nor does it fail: 0 is not to wait at all, and nobody hears what is not sent. */
START_TEST(carrier_that_does_not_come_ends_the_wait)
{
	for (int patience = 0; patience <= 20; patience += 20) {
		auto_scene struct scene s = { .ear = -1 };

		far.patience = patience;
		scene(&s, &moves);
		faketime_begin(NULL);
		configure(&s);
		ck_assert_int_eq(faketime_gone(), 0);
		ck_assert_int_eq(heard(&s, 0), '0');
	}
	ck_assert_int_eq(far.asked, 2);
}
END_TEST

/* What there is of carrier from the start, the kernel has announced. */
START_TEST(carrier_that_is_there_needs_no_wait)
{
	auto_scene struct scene s = { .ear = -1 };
	struct err e;

	far.patience = PATIENCE;
	scene(&s, &moves);
	ck_assert_int_eq(nl_link_set_up(far.nl, far.wire, &e), 0);
	configure(&s);
	ck_assert_int_eq(far.asked, 0);
	announced(&s);
}
END_TEST

START_TEST(without_addresses_nothing_is_announced)
{
	auto_scene struct scene s = { .ear = -1 };

	scene(&s, &moves);
	s.r.n_ips = 0;
	configure(&s);
	ck_assert_int_eq(far.asked, 0);
}
END_TEST

START_TEST(a_link_that_is_made_is_not_waited_for)
{
	auto_scene struct scene s = { .ear = -1 };

	scene(&s, &makes);
	configure(&s);
	ck_assert_int_eq(far.asked, 0);
}
END_TEST

/* A link with addresses of another length: its packets are not known. */
START_TEST(a_link_of_another_kind_is_not_announced)
{
	auto_scene struct scene s = { .ear = -1 };
	const uint8_t gid[] = { 0x80, 0, 2, 8, 0xfe, 0x80, 0, 0 };

	far.comes = true;
	far.patience = PATIENCE;
	scene(&s, &moves);
	s.a.link.type = ARPHRD_INFINIBAND;
	s.a.link.addr = hw_addr_make(gid, sizeof(gid));
	configure(&s);
	ck_assert_int_eq(far.asked, 0);
}
END_TEST

START_TEST(an_ipoib_link_is_waited_for)
{
	auto_scene struct scene s = { .ear = -1 };
	const uint8_t gid[HW_ADDR_MAX] = { 0x80, 0, 2, 8, 0xfe, 0x80 };

	far.comes = true;
	far.patience = PATIENCE;
	scene(&s, &moves);
	s.a.link.type = ARPHRD_INFINIBAND;
	s.a.link.addr = hw_addr_make(gid, sizeof(gid));
	configure(&s);
	ck_assert_int_eq(far.asked, 1);
}
END_TEST

TEST_PROGRAM("cni/engine/configure", carrier_that_comes_is_waited_for, readiness_is_waited_for,
	     readiness_that_does_not_come_ends_the_wait, carrier_that_does_not_come_ends_the_wait,
	     carrier_that_is_there_needs_no_wait, without_addresses_nothing_is_announced,
	     a_link_that_is_made_is_not_waited_for, a_link_of_another_kind_is_not_announced,
	     an_ipoib_link_is_waited_for)
