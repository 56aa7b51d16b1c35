/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe_test.c: shows the bytes of probes, and that a host that has the address is found, also
 * when it answers late.
 */
#include "cni/engine/probe.h"

#include <arpa/inet.h>
#include <net/ethernet.h>
#include <netpacket/packet.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/net/addr.h"
#include "lib/net/link.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"
#include "lib/testing/time.h"

static const uint8_t us[MAC_LEN] = { 2, 0, 0, 0, 0, 1 }, them[MAC_LEN] = { 2, 0, 0, 0, 0, 2 };

static struct ip ip_of(const char *text)
{
	struct ip a;

	ck_assert_int_eq(ip_parse(text, &a), 0);
	return a;
}

static void make(struct probe_msg *m, const char *addr, const char *sender,
		 const uint8_t mac[MAC_LEN])
{
	struct probe_question q = { .addr = ip_of(addr) };

	if (sender)
		q.from = ip_of(sender);
	probe_make(&q, mac, m);
}

/* RFC 1071, of a message of ICMPv6 with its pseudo-header: 0xffff is right. */
static uint32_t sum_of(const struct probe_msg *m)
{
	uint32_t sum = IPPROTO_ICMPV6 + (uint32_t)m->len - 40;

	for (size_t i = 8; i < m->len; i += 2) /* addresses and message */
		sum += (uint32_t)(m->data[i] << 8 | m->data[i + 1]);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

static int probe_run(const struct probe_link *link, const struct probe_question *questions,
		     size_t n, struct address_user *found, struct err *e)
{
	struct probe_inquiry q = { *link, questions, n, found, 0 };

	return probe_run_all(&q, 1, e) ? -1 : q.n_found;
}

START_TEST(probes_have_the_fields_of_the_rfcs)
{
	static const uint8_t arp[] = { 0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0,   0, 0, 1,
				       0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 192, 0, 2, 7 };
	static const uint8_t group[] = { 0x33, 0x33, 0xff, 0x34, 0x56, 0x78 };
	struct probe_msg m;

	make(&m, "192.0.2.7", NULL, us);
	ck_assert_uint_eq(m.protocol, ETH_P_ARP);
	ck_assert_uint_eq(m.len, sizeof(arp));
	ck_assert_mem_eq(m.data, arp, sizeof(arp));
	make(&m, "2001:db8::1234:5678", NULL, us);
	ck_assert_uint_eq(m.protocol, ETH_P_IPV6);
	ck_assert_uint_eq(m.len, 64);
	ck_assert_mem_eq(m.to, group, sizeof(group));
	ck_assert(m.data[7] == 255 && m.data[40] == 135 && m.data[24] == 0xff);
	ck_assert_uint_eq(sum_of(&m), 0xffff);
}
END_TEST

START_TEST(gateways_are_asked_from_an_address_in_use)
{
	static const uint8_t arp[] = { 0,   1, 8, 0, 6, 4, 0, 1, 2, 0, 0,   0, 0, 1,
				       192, 0, 2, 7, 0, 0, 0, 0, 0, 0, 192, 0, 2, 1 };
	static const uint8_t option[] = { 1, 1, 2, 0, 0, 0, 0, 1 };
	struct address_user c;
	struct probe_msg m;

	make(&m, "192.0.2.1", "192.0.2.7", us);
	ck_assert_uint_eq(m.len, sizeof(arp));
	ck_assert_mem_eq(m.data, arp, sizeof(arp));
	make(&m, "fd00::1", "fd00::7", us);
	ck_assert_uint_eq(m.len, 72);
	ck_assert(m.data[5] == 32 && m.data[8] == 0xfd && m.data[23] == 7);
	ck_assert_mem_eq(m.data + 64, option, sizeof(option));
	ck_assert_uint_eq(sum_of(&m), 0xffff);
	ck_assert(!probe_read(&m, them, &c)); /* it is no probe for the address */
}
END_TEST

static bool says(const struct probe_msg *m, const char *addr, const uint8_t mac[MAC_LEN])
{
	struct address_user c;

	return probe_read(m, them, &c) && ip_equal(c.addr, ip_of(addr)) &&
	       memcmp(c.mac, mac, MAC_LEN) == 0;
}

/* A reply, or a request of somebody, as an answer to our question. */
static struct probe_msg arp_of(const char *sender, uint8_t op)
{
	struct probe_msg m;

	make(&m, "192.0.2.99", NULL, them);
	m.data[7] = op;
	(void)ip_to_bytes(ip_of(sender), m.data + 14);
	return m;
}

START_TEST(the_holder_of_an_ipv4_address_is_found)
{
	struct probe_msg m = arp_of("192.0.2.7", 2);
	struct address_user c;

	ck_assert(says(&m, "192.0.2.7", them));
	m = arp_of("192.0.2.7", 1); /* it asks for another: it has this one */
	ck_assert(says(&m, "192.0.2.7", them));
	m = arp_of("0.0.0.0", 1); /* a probe: it wants to have it */
	ck_assert(says(&m, "192.0.2.99", them));
	m = arp_of("0.0.0.0", 2);
	ck_assert(!probe_read(&m, them, &c));
	for (size_t len = 0; len < 28; len++) {
		m = arp_of("192.0.2.7", 2);
		m.len = len;
		ck_assert(!probe_read(&m, them, &c));
	}
	for (size_t i = 0; i < 6; i++) {
		m = arp_of("192.0.2.7", 2);
		m.data[i] ^= 0x40; /* of other hardware, other protocols, other lengths */
		ck_assert(!probe_read(&m, them, &c));
	}
	m.protocol = ETH_P_IP;
	ck_assert(!probe_read(&m, them, &c));
}
END_TEST

static struct probe_msg advertisement(const char *addr)
{
	static const uint8_t option[] = { 2, 1, 2, 0, 0, 0, 0, 9 };
	struct probe_msg m;

	make(&m, addr, NULL, us);
	m.data[8] = 0xfe; /* from somebody */
	m.data[40] = 136;
	memcpy(m.data + m.len, option, sizeof(option));
	m.len += sizeof(option);
	return m;
}

START_TEST(the_holder_of_an_ipv6_address_is_found)
{
	static const uint8_t told[MAC_LEN] = { 2, 0, 0, 0, 0, 9 };
	struct probe_msg m = advertisement("fd00::7");
	struct address_user c;

	ck_assert(says(&m, "fd00::7", told));
	m.len -= 8; /* no option: who has sent it */
	ck_assert(says(&m, "fd00::7", them));
	m = advertisement("fd00::7");
	m.data[65] = 0; /* an option of no length */
	ck_assert(says(&m, "fd00::7", them));
	m.data[65] = 200; /* of more than there is */
	ck_assert(says(&m, "fd00::7", them));
	make(&m, "fd00::7", NULL, us);
	ck_assert(says(&m, "fd00::7", them)); /* somebody asks as we do */
	m.data[8] = 0xfe;
	ck_assert(!probe_read(&m, them, &c)); /* somebody who looks for a neighbour */
	m = advertisement("fd00::7");
	m.data[7] = 254; /* it was forwarded */
	ck_assert(!probe_read(&m, them, &c));
	m = advertisement("fd00::7");
	m.data[6] = 17;
	ck_assert(!probe_read(&m, them, &c));
	m = advertisement("fd00::7");
	m.len = 63;
	ck_assert(!probe_read(&m, them, &c));
}
END_TEST

/* ---- on a wire ---- */

struct wire {
	struct nl *there; /* the other end, in a namespace of its own */
	struct netns netns;
	struct link_info a, b; /* the ends */
};

static void wire_open(struct wire *w)
{
	struct err e;

	net_enter_new();
	w->netns = net_another();
	net_veth("v0", "v1", &w->netns);
	struct nl *here = net_socket();
	w->there = net_socket_in(&w->netns);
	ck_assert_int_eq(nl_link_by_name(here, "v0", &w->a, &e), 0);
	ck_assert_int_eq(nl_link_by_name(w->there, "v1", &w->b, &e), 0);
	nl_release(here);
}

static void wire_clear(struct wire *w)
{
	nl_release(w->there);
	netns_close(&w->netns);
}
#define auto_wire auto_clean(wire_clear)

static void has(const struct wire *w, const char *text)
{
	struct ip_prefix p;
	struct err e = { .msg = "" };

	ck_assert_int_eq(ip_parse_prefix(text, &p), 0);
	ck_assert_msg(nl_addr_add(w->there, w->b.ifindex, p, true, &e) == 0, "%s", e.msg);
}

static int ask(const struct wire *w, const uint8_t *mac, struct address_user found[4])
{
	const struct probe_question questions[] = { { .addr = ip_of("192.0.2.1") },
						    { .addr = ip_of("192.0.2.2") },
						    { .addr = ip_of("fd00::1") },
						    { .addr = ip_of("fd00::2") } };
	const struct probe_link link = { w->a.ifindex, "v0", mac, PROBE_ROUNDS };
	struct err e = { .msg = "" };
	int n = probe_run(&link, questions, ARRAY_SIZE(questions), found, &e);

	ck_assert_msg(n >= 0, "%s", e.msg);
	return n;
}

START_TEST(the_kernel_answers_for_both_families)
{
	auto_wire struct wire w;
	struct address_user found[4];

	wire_open(&w);
	ck_assert_int_eq(ask(&w, w.a.addr.byte, found), 0);
	has(&w, "192.0.2.2/24");
	has(&w, "192.0.2.3/24");
	ck_assert_int_eq(ask(&w, w.a.addr.byte, found), 1);
	ck_assert(ip_equal(found[0].addr, ip_of("192.0.2.2")));
	ck_assert_mem_eq(found[0].mac, w.b.addr.byte, MAC_LEN);
	has(&w, "fd00::1/64");
	ck_assert_int_eq(ask(&w, w.a.addr.byte, found), 2);
	ck_assert(ip_equal(found[1].addr, ip_of("fd00::1")));
	ck_assert_mem_eq(found[1].mac, w.b.addr.byte, MAC_LEN);
	/* what comes from our own MAC is not an answer: an ipvlan has its master's */
	ck_assert_int_eq(ask(&w, w.b.addr.byte, found), 0);
}
END_TEST

/* Answers the second question only. */
struct late {
	int fd;
	unsigned asked;
	struct probe_msg answer;
	const struct wire *w;
};

static void *answer_late(void *arg)
{
	const struct timespec round = { .tv_nsec = PROBE_ROUND_MS * 1000000L };
	struct late *l = arg;
	struct sockaddr_ll to = { .sll_family = AF_PACKET,
				  .sll_ifindex = l->w->b.ifindex,
				  .sll_protocol = htons(ETH_P_ARP),
				  .sll_halen = MAC_LEN };
	uint8_t frame[64];

	memcpy(to.sll_addr, l->w->a.addr.byte, MAC_LEN);
	while (l->asked < PROBE_ROUNDS) {
		ssize_t n = recv(l->fd, frame, sizeof(frame), 0);
		/* a probe for 192.0.2.1 */
		if (n < 28 || frame[27] != 1)
			continue;
		if (++l->asked < PROBE_ROUNDS)
			(void)nanosleep(&round, NULL); /* that round is over */
	}
	if (sendto(l->fd, l->answer.data, l->answer.len, 0, (const void *)&to,
		   (socklen_t)sizeof(to)) < 0)
		return arg;
	(void)nanosleep(&round, NULL); /* the answer is there before the last round ends */
	return NULL;
}

static int listen_there(const struct wire *w, const struct netns *host)
{
	struct err e;

	ck_assert_int_eq(netns_enter(&w->netns, &e), 0);
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, htons(ETH_P_ARP));
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(netns_enter(host, &e), 0);
	return fd;
}

START_TEST(who_answers_late_is_heard)
{
	auto_wire struct wire w;
	struct address_user found[4];
	struct netns host = net_self();
	struct late l = { .answer = arp_of("192.0.2.1", 2) };
	pthread_t thread;
	void *failed;

	wire_open(&w);
	netns_close(&host);
	host = net_self();
	l.fd = listen_there(&w, &host);
	l.w = &w;
	faketime_begin(NULL);
	ck_assert_int_eq(pthread_create(&thread, NULL, answer_late, &l), 0);
	int n = ask(&w, w.a.addr.byte, found);
	ck_assert_int_eq(pthread_join(thread, &failed), 0);
	ck_assert_ptr_null(failed);
	ck_assert_int_eq(n, 1);
	ck_assert_mem_eq(found[0].mac, them, MAC_LEN);
	(void)close(l.fd);
	netns_close(&host);
}
END_TEST

/* Nobody but the gateways is asked, and the wait ends with the last answer, not with the rounds. */
START_TEST(gateways_answer_and_end_the_wait)
{
	auto_wire struct wire w;
	struct address_user found[2];
	struct err e = { .msg = "" };

	wire_open(&w);
	has(&w, "192.0.2.1/24");
	has(&w, "fd00::1/64");

	const struct probe_question q[] = {
		{ .addr = ip_of("192.0.2.1"), .from = ip_of("192.0.2.7") },
		{ .addr = ip_of("fd00::1"), .from = ip_of("fe80::7") },
	};
	/* the wait that never ends would last for hours */
	const struct probe_link link = { w.a.ifindex, "v0", w.a.addr.byte, 1000000 };
	struct nl *here = net_socket();
	struct ip_prefix own;

	ck_assert_int_eq(ip_parse_prefix("192.0.2.7/24", &own), 0);
	ck_assert_int_eq(nl_addr_add(here, w.a.ifindex, own, true, &e), 0);
	ck_assert_int_eq(ip_parse_prefix("fe80::7/64", &own), 0);
	ck_assert_int_eq(nl_addr_add(here, w.a.ifindex, own, true, &e), 0);
	nl_release(here);
	ck_assert_msg(probe_run(&link, q, 2, found, &e) == 2, "%s", e.msg);
	ck_assert_mem_eq(found[0].mac, w.b.addr.byte, MAC_LEN);
	ck_assert(ip_equal(found[1].addr, ip_of("fd00::1")));
}
END_TEST

/* Another host that probes for the gateway's address is not the gateway. */
START_TEST(who_probes_for_the_gateway_does_not_answer_for_it)
{
	auto_wire struct wire w;
	struct address_user found;
	struct netns host = net_self();
	struct err e = { .msg = "" };
	struct probe_question q = { .addr = ip_of("192.0.2.1") };

	wire_open(&w);
	netns_close(&host);
	host = net_self();

	const struct probe_link link = { w.a.ifindex, "v0", w.a.addr.byte, PROBE_ROUNDS };
	struct late l = { .answer = arp_of("0.0.0.0", 1), .w = &w };
	pthread_t thread;
	void *failed;

	make(&l.answer, "192.0.2.1", NULL, them);
	for (int with_sender = 0; with_sender < 2; with_sender++) {
		l.asked = 0;
		l.fd = listen_there(&w, &host);
		ck_assert_int_eq(pthread_create(&thread, NULL, answer_late, &l), 0);
		if (with_sender)
			q.from = ip_of("192.0.2.7");
		int n = probe_run(&link, &q, 1, &found, &e);
		ck_assert_int_eq(pthread_join(thread, &failed), 0);
		ck_assert_ptr_null(failed);
		ck_assert_int_eq(n, !with_sender);
		(void)close(l.fd);
	}
	netns_close(&host);
}
END_TEST

/* When the second link is asked, the host on the first one gets its address. */
struct chained {
	int fd;
	const struct wire *w;
};

static void *give_address_when_asked(void *arg)
{
	const struct chained *c = arg;
	struct ip_prefix p;
	uint8_t frame[PROBE_MSG_MAX];
	struct err e;

	return recv(c->fd, frame, sizeof(frame), 0) <= 0 || ip_parse_prefix("192.0.2.1/24", &p) ||
			       nl_addr_add(c->w->there, c->w->b.ifindex, p, true, &e)
		       ? "no address"
		       : NULL;
}

START_TEST(all_links_are_asked_before_one_has_answered)
{
	auto_wire struct wire w;
	struct wire second;
	struct link_info x0;
	struct netns host;
	struct address_user found[2];
	struct err e = { .msg = "" };
	pthread_t thread;
	void *failed;

	wire_open(&w);
	host = net_self();
	net_veth("x0", "x1", &w.netns);
	second = w;
	struct nl *here = net_socket();
	ck_assert_int_eq(nl_link_by_name(here, "x0", &x0, &e), 0);
	nl_release(here);
	ck_assert_int_eq(nl_link_by_name(w.there, "x1", &second.b, &e), 0);
	has(&second, "192.0.3.1/24");

	struct chained c = { listen_there(&second, &host), &w };
	const struct probe_question q[] = {
		{ .addr = ip_of("192.0.2.1"), .from = ip_of("192.0.2.7") },
		{ .addr = ip_of("192.0.3.1"), .from = ip_of("192.0.3.7") }
	};
	const struct sockaddr_ll at = { .sll_family = AF_PACKET,
					.sll_protocol = htons(ETH_P_ARP),
					.sll_ifindex = second.b.ifindex };

	ck_assert_int_eq(bind(c.fd, (const void *)&at, (socklen_t)sizeof(at)), 0);
	/* one after the other would last for hours */
	struct probe_inquiry all[] = {
		{ { w.a.ifindex, "v0", w.a.addr.byte, 1000000 }, &q[0], 1, &found[0], 0 },
		{ { x0.ifindex, "x0", x0.addr.byte, 1000000 }, &q[1], 1, &found[1], 0 },
	};

	here = net_socket();
	struct ip_prefix own;
	ck_assert_int_eq(ip_parse_prefix("192.0.2.7/24", &own), 0);
	ck_assert_int_eq(nl_addr_add(here, w.a.ifindex, own, true, &e), 0);
	ck_assert_int_eq(ip_parse_prefix("192.0.3.7/24", &own), 0);
	ck_assert_int_eq(nl_addr_add(here, x0.ifindex, own, true, &e), 0);
	nl_release(here);
	ck_assert_int_eq(pthread_create(&thread, NULL, give_address_when_asked, &c), 0);
	ck_assert_msg(probe_run_all(all, 2, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(pthread_join(thread, &failed), 0);
	ck_assert_ptr_null(failed);
	ck_assert_int_eq(all[0].n_found, 1);
	ck_assert_mem_eq(found[0].mac, w.b.addr.byte, MAC_LEN);
	ck_assert_int_eq(all[1].n_found, 1);
	ck_assert_mem_eq(found[1].mac, second.b.addr.byte, MAC_LEN);
	(void)close(c.fd);
	netns_close(&host);
}
END_TEST

START_TEST(what_cannot_be_asked_is_an_error)
{
	const struct probe_question q = { .addr = ip_of("192.0.2.1") };
	const struct probe_link none = { 424242, "gone", us, PROBE_ROUNDS };
	struct address_user found;
	struct err e;

	net_enter_new();
	ck_assert_int_eq(probe_run(&none, &q, 1, &found, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_KERNEL);
	ck_assert_ptr_nonnull(strstr(e.msg, "gone"));
}
END_TEST

static int read_key(const char *text, struct probe_conf *out, struct err *e)
{
	auto_json struct json *tree = NULL;

	ck_assert_int_eq(json_parse(text, strlen(text), "test", &tree, e), 0);
	return probe_read_conf(tree, out, e);
}

START_TEST(the_key_is_a_boolean_or_an_object)
{
	struct probe_conf c;
	struct err e;

	ck_assert(!probe_read_conf(NULL, &c, &e) && !c.address && !c.gateway && !c.strict);
	ck_assert(!read_key("{\"probe\": null}", &c, &e) && !c.address);
	ck_assert(!read_key("{\"probe\": false}", &c, &e) && !c.address && !c.gateway);
	ck_assert(!read_key("{\"probe\": true}", &c, &e) && c.address && !c.gateway && !c.strict);
	ck_assert(!read_key("{\"probe\": {}}", &c, &e) && c.address && !c.gateway);
	ck_assert(!read_key("{\"probe\": {\"address\": false, \"gateway\": true}}", &c, &e));
	ck_assert(!c.address && c.gateway && !c.strict);
	ck_assert(!read_key("{\"probe\": {\"gateway\": true, \"strict\": true}}", &c, &e));
	ck_assert(c.address && c.gateway && c.strict);
	ck_assert(read_key("{\"probe\": 1}", &c, &e) && e.code == ERR_DECODE);
	ck_assert_str_eq(e.msg, "probe: must be true, false or an object, got a number");
	ck_assert(read_key("{\"probe\": {\"gateway\": 1}}", &c, &e) && e.code == ERR_DECODE);
	ck_assert_ptr_nonnull(strstr(e.msg, "probe.gateway"));
	ck_assert(read_key("{\"probe\": {\"gateways\": true}}", &c, &e) && e.code == ERR_CONFIG);
	ck_assert_str_eq(e.msg, "probe.gateways: there is no such key");
}
END_TEST

TEST_PROGRAM("probe", the_key_is_a_boolean_or_an_object, probes_have_the_fields_of_the_rfcs,
	     gateways_are_asked_from_an_address_in_use, the_holder_of_an_ipv4_address_is_found,
	     the_holder_of_an_ipv6_address_is_found, the_kernel_answers_for_both_families,
	     who_answers_late_is_heard, gateways_answer_and_end_the_wait,
	     who_probes_for_the_gateway_does_not_answer_for_it,
	     all_links_are_asked_before_one_has_answered, what_cannot_be_asked_is_an_error)
