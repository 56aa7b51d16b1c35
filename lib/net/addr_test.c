/* SPDX-License-Identifier: Apache-2.0 */
/* addr_test.c: shows on a real kernel that addresses are added and listed, and how errors read. */
#include "lib/net/addr.h"

#include <errno.h>
#include <linux/if_addr.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/net/link.h"
#include "lib/net/nl_msg.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"

static struct ip_prefix prefix(const char *s)
{
	struct ip_prefix p;

	ck_assert_int_eq(ip_parse_prefix(s, &p), 0);
	return p;
}

/* A fresh namespace with the pair up0 and peer0. */
static struct nl *world(int *ifindex)
{
	net_enter_new();
	net_veth("up0", "peer0", NULL);

	struct nl *nl = net_socket();

	*ifindex = net_ifindex(nl, "up0");
	return nl;
}

static void add(struct nl *nl, int ifindex, const char *addr)
{
	struct err e = { 0 };

	ck_assert_msg(nl_addr_add(nl, ifindex, prefix(addr), true, &e) == 0, "%s (%s)", e.msg,
		      e.detail);
}

struct listed {
	char text[1024];
	int n, stop_at;
};

static int list_one(const struct addr_info *a, void *arg)
{
	struct listed *l = arg;
	char text[PREFIX_STR_LEN];

	/* The kernel's own link-local addresses are not what is tested. */
	if (ip_is_link_local(a->addr.addr))
		return 0;
	(void)strcat(strcat(l->text, ip_format_prefix(a->addr, text)),
		     a->tentative ? " tentative\n" : "\n");
	return ++l->n == l->stop_at;
}

static void lists(struct nl *nl, int ifindex, const char *expected)
{
	struct listed l = { 0 };
	struct err e = { 0 };

	ck_assert_msg(nl_addr_list(nl, ifindex, list_one, &l, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(l.text, expected);
}

START_TEST(adds_and_lists_both_families)
{
	int up0;
	auto_nl struct nl *nl = world(&up0);

	add(nl, up0, "10.1.2.3/24");
	add(nl, up0, "fd00::5/64");
	add(nl, net_ifindex(nl, "peer0"), "10.9.9.9/24");
	lists(nl, up0, "10.1.2.3/24\nfd00::5/64\n");
	lists(nl, net_ifindex(nl, "lo"), "127.0.0.1/8\n::1/128\n");
	lists(nl, net_ifindex(nl, "peer0"), "10.9.9.9/24\n");
}
END_TEST

struct by_interface {
	int first, second;
	unsigned seen; /* 1: an address of first, 2: of second */
};

static int note_interface(const struct addr_info *a, void *arg)
{
	struct by_interface *b = arg;

	b->seen |= (a->ifindex == b->first ? 1u : 0) | (a->ifindex == b->second ? 2u : 0);
	return 0;
}

START_TEST(number_0_is_every_interface)
{
	struct by_interface b = { 0 };
	auto_nl struct nl *nl = world(&b.first);
	struct err e = { 0 };

	b.second = net_ifindex(nl, "peer0");
	add(nl, b.first, "10.0.0.1/24");
	add(nl, b.second, "fd00::2/64");
	ck_assert_msg(nl_addr_list(nl, 0, note_interface, &b, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(b.seen, 3);
}
END_TEST

START_TEST(the_walk_may_be_ended)
{
	int up0;
	auto_nl struct nl *nl = world(&up0);
	struct listed l = { .stop_at = 1 };
	struct err e = { 0 };

	add(nl, up0, "10.1.2.3/24");
	add(nl, up0, "10.1.2.4/24");
	ck_assert_int_eq(nl_addr_list(nl, up0, list_one, &l, &e), 0);
	ck_assert_int_eq(l.n, 1);
}
END_TEST

static int count_one(const struct addr_info *a, void *arg)
{
	(void)a;
	++*(int *)arg;
	return 0;
}

START_TEST(more_than_fit_into_one_answer)
{
	int up0, n = 0;
	auto_nl struct nl *nl = world(&up0);
	struct err e = { 0 };

	for (int i = 0; i < 700; i++) {
		char text[PREFIX_STR_LEN];

		(void)snprintf(text, sizeof(text), "10.2.%d.%d/32", i / 200, i % 200);
		add(nl, up0, text);
	}
	ck_assert_int_eq(nl_addr_list(nl, up0, count_one, &n, &e), 0);
	ck_assert_int_ge(n, 700);
}
END_TEST

/* What the kernel was asked for, in full. */
struct request {
	_Alignas(4) char buf[1024];
	struct nlattr *tb[IFA_MAX + 1];
};

static struct ifaddrmsg *asked(const char *addr, bool nodad, struct request *rq)
{
	struct net_fake k = net_fake();
	struct err e = { 0 };
	struct nlmsghdr *h = (void *)rq->buf;

	net_ack(&k, 1, 0);
	ck_assert_int_eq(nl_addr_add(k.nl, 7, prefix(addr), nodad, &e), 0);
	ck_assert_int_gt(recv(k.peer, rq->buf, sizeof(rq->buf), 0), 0);
	ck_assert_int_eq(nl_parse_attrs(h, sizeof(struct ifaddrmsg), rq->tb, IFA_MAX, NULL), 0);
	nl_release(k.nl);
	return nlmsg_data(h);
}

START_TEST(broadcast_and_nodad)
{
	static const uint8_t last[] = { 10, 1, 2, 255 };
	struct request rq = { 0 };

	ck_assert_uint_eq(asked("10.1.2.3/24", true, &rq)->ifa_flags, 0);
	ck_assert_mem_eq(nla_data(rq.tb[IFA_BROADCAST]), last, 4);
	ck_assert_ptr_nonnull(rq.tb[IFA_LOCAL]);
	(void)asked("10.1.2.3/30", true, &rq);
	ck_assert_ptr_nonnull(rq.tb[IFA_BROADCAST]);
	(void)asked("10.1.2.3/31", true, &rq);
	ck_assert_ptr_null(rq.tb[IFA_BROADCAST]);
	(void)asked("10.1.2.3/32", true, &rq);
	ck_assert_ptr_null(rq.tb[IFA_BROADCAST]);
	ck_assert_uint_eq(asked("fd00::1/64", true, &rq)->ifa_flags, IFA_F_NODAD);
	ck_assert_ptr_null(rq.tb[IFA_BROADCAST]);
	ck_assert_uint_eq(asked("fd00::1/64", false, &rq)->ifa_flags, 0);
}
END_TEST

START_TEST(without_nodad_an_address_is_tentative)
{
	int up0;
	auto_nl struct nl *nl = world(&up0);
	struct err e = { 0 };

	ck_assert_int_eq(nl_addr_add(nl, up0, prefix("fd00::1/64"), false, &e), 0);
	lists(nl, up0, "fd00::1/64 tentative\n");
	ck_assert_int_eq(nl_addr_add(nl, up0, prefix("fd00::2/64"), true, &e), 0);
	lists(nl, up0, "fd00::2/64\nfd00::1/64 tentative\n");
}
END_TEST

START_TEST(what_cannot_be_added_or_listed)
{
	int up0, n = 0;
	auto_nl struct nl *nl = world(&up0);
	struct err e = { 0 };

	add(nl, up0, "10.1.2.3/24");
	ck_assert_int_eq(nl_addr_add(nl, up0, prefix("10.1.2.3/24"), true, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, EEXIST);
	ck_assert_ptr_nonnull(strstr(e.msg, "add address 10.1.2.3/24 to interface number"));
	ck_assert_int_eq(nl_addr_add(nl, 4242, prefix("10.1.2.3/24"), true, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_int_eq(nl_addr_list(nl, 4242, count_one, &n, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_int_eq(n, 0);
}
END_TEST

START_TEST(IPv6_that_is_switched_off_is_named)
{
	int up0;
	auto_nl struct nl *nl = world(&up0);
	struct err e = { 0 };

	net_sysctl("ipv6/conf/up0/disable_ipv6", "1");
	ck_assert_int_eq(nl_addr_add(nl, up0, prefix("fd00::1/64"), true, &e), -1);
	ck_assert_int_eq(e.errnum, EACCES);
	ck_assert_ptr_nonnull(strstr(e.detail, "disable_ipv6"));
	add(nl, up0, "10.1.2.3/24");
	lists(nl, up0, "10.1.2.3/24\n");
}
END_TEST

/* What a kernel may say that ignores filters, has no IPv6, or is broken. */
START_TEST(only_what_was_asked_for_is_listed)
{
	struct net_fake k = net_fake();
	const struct nlmsghdr done = { .nlmsg_type = NLMSG_DONE, .nlmsg_seq = 1 };
	struct nlmsghdr h = { .nlmsg_type = RTM_NEWADDR, .nlmsg_seq = 1 };
	struct {
		struct ifaddrmsg ifa;
		struct nlattr nla;
		uint8_t addr[4];
	} m = { { AF_INET, 24, 0, 0, 7 }, { 8, IFA_LOCAL }, { 10, 0, 0, 1 } };
	struct err e = { 0 };
	int n = 0;

	net_say(&k, &h, &m, sizeof(m)); /* the one */
	m.ifa.ifa_index = 8;
	net_say(&k, &h, &m, sizeof(m)); /* another interface */
	m.ifa.ifa_index = 7;
	m.ifa.ifa_family = AF_INET6;
	net_say(&k, &h, &m, sizeof(m)); /* another family */
	net_say(&k, &h, &m, 3);         /* cut */
	h.nlmsg_type = RTM_DELADDR;
	net_say(&k, &h, &m, sizeof(m)); /* something else */
	net_say(&k, &done, &n, sizeof(n));
	h = done;
	h.nlmsg_seq = 2;
	net_say(&k, &h, &n, sizeof(n));
	ck_assert_int_eq(nl_addr_list(k.nl, 7, count_one, &n, &e), 0);
	ck_assert_int_eq(n, 1);

	h.nlmsg_type = RTM_NEWADDR;
	h.nlmsg_seq = 3;
	m.ifa.ifa_family = AF_INET;
	m.nla.nla_type = IFA_LABEL; /* no address at all */
	net_say(&k, &h, &m, sizeof(m));
	h.nlmsg_type = NLMSG_DONE;
	net_say(&k, &h, &(int){ 0 }, sizeof(int));
	ck_assert_int_eq(nl_addr_list(k.nl, 7, count_one, &n, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);

	h.nlmsg_type = RTM_NEWADDR;
	h.nlmsg_seq = 4;
	m.nla.nla_type = IFA_LOCAL;
	m.ifa.ifa_prefixlen = 33; /* longer than the address */
	net_say(&k, &h, &m, sizeof(m));
	h.nlmsg_type = NLMSG_DONE;
	net_say(&k, &h, &(int){ 0 }, sizeof(int));
	ck_assert_int_eq(nl_addr_list(k.nl, 7, count_one, &n, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	nl_release(k.nl);
}
END_TEST

static int is_own(const char *addr)
{
	struct err e = { 0 };
	struct ip ip;

	ck_assert_int_eq(ip_parse(addr, &ip), 0);

	int own = nl_addr_is_own(ip, &e);

	ck_assert_msg(own >= 0, "%s: %s", addr, e.msg);
	return own;
}

START_TEST(an_own_address_is_found_without_a_list)
{
	static const char *const own[] = { "10.1.2.3",  "10.1.2.4", "10.9.0.9",
					   "127.0.0.1", "fd00::1",  "fe80::7" };
	static const char *const none[] = { "10.1.2.0", "10.1.2.5", "10.1.2.255",
					    "fd00::",   "fd00::2",  "fe80::8" };
	int up0;
	auto_nl struct nl *nl = world(&up0);

	add(nl, up0, "10.1.2.3/24");
	add(nl, up0, "fd00::1/64");
	net_up(nl, "up0");
	net_up(nl, "peer0");
	/* of an interface that is down */
	net_veth("up1", "peer1", NULL);
	add(nl, net_ifindex(nl, "up1"), "10.9.0.9/32");
	add(nl, net_ifindex(nl, "peer0"), "10.1.2.4/24");
	add(nl, net_ifindex(nl, "peer0"), "fe80::7/64");
	/* Any address may be bound then, so a bind would tell nothing. */
	net_sysctl("ipv4/ip_nonlocal_bind", "1");
	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		ck_assert_msg(is_own(own[i]) == 1, "%s is own", own[i]);
	for (size_t i = 0; i < ARRAY_SIZE(none); i++)
		ck_assert_msg(is_own(none[i]) == 0, "%s is not own", none[i]);
}
END_TEST

struct target {
	struct nl *nl;
	int ifindex;
	struct ip_prefix own;
};

static int list_all(void *arg, struct err *e)
{
	struct target *t = arg;
	int n = 0;

	return nl_addr_list(t->nl, t->ifindex, count_one, &n, e) ||
			       nl_addr_is_own(t->own.addr, e) < 0
		       ? -1
		       : 0;
}

START_TEST(allocations_may_fail)
{
	struct target t = { .own = prefix("fd00::1/64") };

	t.nl = world(&t.ifindex);
	add(t.nl, t.ifindex, "10.1.2.3/24");
	add(t.nl, t.ifindex, "fd00::1/64");
	ck_assert_str_eq(alloc_fail_each(list_all, &t), "ok");
	nl_release(t.nl);
}
END_TEST

TEST_PROGRAM("nl_addr", adds_and_lists_both_families, number_0_is_every_interface,
	     the_walk_may_be_ended, more_than_fit_into_one_answer, broadcast_and_nodad,
	     without_nodad_an_address_is_tentative, what_cannot_be_added_or_listed,
	     IPv6_that_is_switched_off_is_named, only_what_was_asked_for_is_listed,
	     an_own_address_is_found_without_a_list, allocations_may_fail)
