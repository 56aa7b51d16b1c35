/* SPDX-License-Identifier: Apache-2.0 */
/* dad_test.c: shows when the wait for duplicate address detection ends, and with which error. */
#include "lib/net/addr.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/base/ctx.h"
#include "lib/net/link.h"
#include "lib/net/monitor.h"
#include "lib/net/nl_msg.h"
#include "lib/testing/testing.h"
#include "lib/testing/net.h"

#define LONG_MS 20000 /* never waited for */

static struct ip_prefix prefix(const char *s)
{
	struct ip_prefix p;

	ck_assert_int_eq(ip_parse_prefix(s, &p), 0);
	return p;
}

/* Two ends of one cable: "near" here, "far" in a namespace of its own; here is watched. */
struct cable {
	struct netns other;
	struct nl *here, *there;
	int near, far;
	struct nl_monitor *mon;
};

static struct cable cable(void)
{
	struct cable c;
	struct err e = { 0 };

	net_enter_new();
	c.other = net_another();
	c.here = net_socket();
	ck_assert_int_eq(nl_monitor_open(NL_WATCH_ADDR6, &c.mon, &e), 0);
	net_veth("near", "far", &c.other);
	c.there = net_socket_in(&c.other);
	/* The kernel's usual one to two seconds, shortened. */
	net_sysctl("ipv6/conf/near/router_solicitation_delay", "0");
	net_sysctl("ipv6/neigh/near/retrans_time_ms", "300");
	c.near = net_ifindex(c.here, "near");
	c.far = net_ifindex(c.there, "far");
	return c;
}

static void drop(struct cable *c)
{
	nl_monitor_close(c->mon);
	nl_release(c->here);
	nl_release(c->there);
	netns_close(&c->other);
}

static void add(struct nl *nl, int ifindex, const char *addr, bool nodad)
{
	struct err e = { 0 };

	ck_assert_int_eq(nl_addr_add(nl, ifindex, prefix(addr), nodad, &e), 0);
}

static int wait_for(struct cable *c, const struct ip_prefix *want, size_t n, int ms, struct err *e)
{
	const struct dad_wait w = { c->near, want, n, ms };

	return nl_addr_wait_dad(c->here, c->mon, &w, e);
}

START_TEST(without_tentative_addresses_nothing_is_waited_for)
{
	struct cable c = cable();
	const struct ip_prefix want[] = { prefix("10.0.0.1/24"), prefix("fd00::1/64") };
	struct err e = { 0 };

	add(c.here, c.near, "fd00::1/64", true);
	ck_assert_int_eq(wait_for(&c, want, 2, 0, &e), 0);
	ck_assert_int_eq(wait_for(&c, want, 0, 0, &e), 0);
	ck_assert_str_eq(e.msg, "");
	drop(&c);
}
END_TEST

START_TEST(an_address_of_our_own_settles)
{
	struct cable c = cable();
	const struct ip_prefix want[] = { prefix("fd00::1/64"), prefix("fd00::2/64") };
	struct err e = { 0 };
	int64_t start = ctx_mono_ms();

	add(c.here, c.near, "fd00::1/64", false);
	add(c.here, c.near, "fd00::2/64", false);
	ck_assert_msg(wait_for(&c, want, 2, LONG_MS, &e) == 0, "%s", e.msg);
	ck_assert_int_lt(ctx_mono_ms() - start, LONG_MS);
	ck_assert_int_eq(wait_for(&c, want, 2, 0, &e), 0);
	drop(&c);
}
END_TEST

START_TEST(a_duplicate_is_busy)
{
	struct cable c = cable();
	const struct ip_prefix want[] = { prefix("fd00::2/64"), prefix("fd00::1/64") };
	struct err e = { 0 };

	add(c.there, c.far, "fd00::1/64", true);
	add(c.here, c.near, "fd00::2/64", false);
	add(c.here, c.near, "fd00::1/64", false);
	ck_assert_int_eq(wait_for(&c, want, 2, LONG_MS, &e), -1);
	ck_assert_msg(e.code == ERR_BUSY, "%s", e.msg);
	ck_assert_ptr_nonnull(strstr(e.msg, "address fd00::1 is in use by another host"));
	drop(&c);
}
END_TEST

/* Without a carrier the kernel does not even begin. */
START_TEST(no_carrier_is_try_again)
{
	struct cable c = cable();
	const struct ip_prefix want = prefix("fd00::1/64");
	struct err e = { 0 };
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg down = { .ifi_index = c.far, .ifi_change = 1 };

	nl_req_begin(&rq, RTM_NEWLINK, 0, &down, sizeof(down));
	ck_assert_int_eq(nl_request(c.there, &rq, &e), 0);
	add(c.here, c.near, "fd00::1/64", false);
	ck_assert_int_eq(wait_for(&c, &want, 1, 50, &e), -1);
	ck_assert_int_eq(e.code, ERR_AGAIN);
	ck_assert_int_eq(e.errnum, ETIMEDOUT);
	drop(&c);
}
END_TEST

START_TEST(an_address_that_is_not_there)
{
	struct cable c = cable();
	const struct ip_prefix want = prefix("fd00::1/64");
	struct err e = { 0 };

	ck_assert_int_eq(wait_for(&c, &want, 1, LONG_MS, &e), -1);
	ck_assert_int_eq(e.code, ERR_STATE);
	ck_assert_int_eq(nl_link_delete(c.here, c.near, &e), 0);
	ck_assert_int_eq(wait_for(&c, &want, 1, LONG_MS, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	drop(&c);
}
END_TEST

/* More events than the socket holds, most of them about other links. */
START_TEST(a_flood_of_events_does_no_harm)
{
	struct cable c = cable();
	const struct ip_prefix want = prefix("fd00::1/64");
	struct err e = { 0 };

	net_veth("x", "y", NULL);

	int x = net_ifindex(c.here, "x");

	add(c.here, c.near, "fd00::1/64", false);
	for (int i = 0; i < 600; i++) {
		char text[PREFIX_STR_LEN];

		(void)snprintf(text, sizeof(text), "fd01::%x/128", i + 1);
		add(c.here, x, text, true);
	}
	ck_assert_msg(wait_for(&c, &want, 1, LONG_MS, &e) == 0, "%s", e.msg);
	drop(&c);
}
END_TEST

TEST_PROGRAM("nl_dad", without_tentative_addresses_nothing_is_waited_for,
	     an_address_of_our_own_settles, a_duplicate_is_busy, no_carrier_is_try_again,
	     an_address_that_is_not_there, a_flood_of_events_does_no_harm)
