/* SPDX-License-Identifier: Apache-2.0 */
/* Shows on a real kernel that the filter of an interface is set, replaced and compared. */
#include "lib/net/ingress.h"

#include <string.h>

#include "lib/testing/net.h"
#include "lib/testing/testing.h"

#define RAILS 32

struct place {
	struct nl *nl;
	int ifindex;
	struct ip addr[4 * RAILS];
};

static void place_make(struct place *p)
{
	net_enter_new();
	p->nl = net_socket();
	net_veth("near", "far", NULL);
	p->ifindex = net_ifindex(p->nl, "near");
	for (unsigned i = 0; i < 2 * RAILS; i++) {
		p->addr[i] = (struct ip){ IP_V4, 0x0a010000 + i };
		p->addr[2 * RAILS + i] = (struct ip){ IP_V6, (u128)0xfd << 120 | (i + 1) };
	}
}

static void place_clear(struct place *p)
{
	nl_release(p->nl);
}
#define auto_place auto_clean(place_clear)

static void allows(const struct place *p, const struct ip *addr, size_t n)
{
	struct err e = { .msg = "" };

	ck_assert_msg(nl_ingress_allow(p->nl, p->ifindex, addr, n, &e) == 0, "%s: %s", e.msg,
		      e.detail);
}

static void is_filter_of(const struct place *p, const struct ip *addr, size_t n, bool wanted)
{
	struct err e = { .msg = "", .code = ERR_STATE };

	ck_assert_int_eq(nl_ingress_check(p->nl, p->ifindex, addr, n, &e), wanted ? 0 : -1);
	ck_assert_msg(e.code == ERR_STATE, "%s", e.msg);
}

START_TEST(a_filter_replaces_the_one_before)
{
	auto_place struct place p;
	const struct ip *v4 = p.addr, *v6 = p.addr + 2 * RAILS;
	struct ip both[4];

	place_make(&p);
	is_filter_of(&p, v4, 2, false);
	allows(&p, v4, 2);
	is_filter_of(&p, v4, 2, true);
	is_filter_of(&p, v4, 1, false);
	allows(&p, v4, 2);
	allows(&p, v6, 2);
	is_filter_of(&p, v4, 2, false);
	is_filter_of(&p, v6, 2, true);
	allows(&p, NULL, 0);
	is_filter_of(&p, NULL, 0, true);
	for (size_t i = 0; i < 4; i++)
		both[i] = i % 2 ? v4[1] : v6[1];
	allows(&p, both, 4);
	is_filter_of(&p, both, 2, true);
}
END_TEST

/* The largest ADD has both families on each rail. */
START_TEST(more_addresses_than_fit_are_refused)
{
	auto_place struct place p;
	struct err e;

	place_make(&p);
	allows(&p, p.addr + RAILS, 2 * RAILS);
	is_filter_of(&p, p.addr + RAILS, 2 * RAILS, true);
	ck_assert_int_eq(nl_ingress_allow(p.nl, p.ifindex, p.addr, 4 * RAILS, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(e.msg, "128 addresses are too many"));
	is_filter_of(&p, p.addr, 4 * RAILS, false);
	is_filter_of(&p, p.addr + RAILS, 2 * RAILS, true);
	p.ifindex = 999;
	ck_assert_int_eq(nl_ingress_allow(p.nl, p.ifindex, p.addr, 1, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_KERNEL);
	ck_assert_ptr_nonnull(strstr(e.msg, "interface number 999"));
	is_filter_of(&p, p.addr, 1, false);
}
END_TEST

TEST_PROGRAM("net/ingress", a_filter_replaces_the_one_before, more_addresses_than_fit_are_refused)
