/* SPDX-License-Identifier: Apache-2.0 */
/* monitor_test.c: shows when the wait for carrier ends, also with a flood of events. */
#include "lib/net/monitor.h"

#include <errno.h>
#include <net/if.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/ctx.h"
#include "lib/net/addr.h"
#include "lib/net/link.h"
#include "lib/testing/testing.h"
#include "lib/testing/net.h"

#define LONG_MS 20000 /* never waited for */

/* A veth pair: "near", which is watched, is up; it has carrier while "far" is up. */
struct cable {
	struct nl *nl;
	int near, far;
	struct nl_monitor *mon;
};

static void set_far(const struct cable *c, bool up)
{
	struct err e = { 0 };

	ck_assert_int_eq(
		up ? nl_link_set_up(c->nl, c->far, &e) : nl_link_set_down(c->nl, c->far, &e), 0);
}

static struct cable cable(void)
{
	struct cable c;
	struct err e = { 0 };

	net_enter_new();
	net_veth("near", "far", NULL);
	c.nl = net_socket();
	c.near = net_ifindex(c.nl, "near");
	c.far = net_ifindex(c.nl, "far");
	set_far(&c, false);
	ck_assert_int_eq(nl_monitor_open(NL_WATCH_LINKS, &c.mon, &e), 0);
	return c;
}

static void drop(struct cable *c)
{
	nl_monitor_close(c->mon);
	nl_release(c->nl);
}

static int wait_for(const struct cable *c, int ms, struct err *e)
{
	return nl_link_wait_carrier(c->nl, c->mon, c->near, ctx_mono_ms() + ms, e);
}

START_TEST(carrier_that_is_there_is_reported_at_once)
{
	struct cable c = cable();
	struct err e = { 0 };

	ck_assert_int_eq(nl_link_carrier(c.nl, c.near, &e), 0);
	set_far(&c, true);
	ck_assert_int_eq(nl_link_carrier(c.nl, c.near, &e), 1);
	ck_assert_int_eq(wait_for(&c, LONG_MS, &e), 1);
	ck_assert_int_eq(wait_for(&c, 0, &e), 1);
	ck_assert_str_eq(e.msg, "");
	drop(&c);
}
END_TEST

START_TEST(carrier_that_does_not_come_times_out)
{
	struct cable c = cable();
	struct err e = { 0 };
	int64_t began = ctx_mono_ms();

	ck_assert_int_eq(wait_for(&c, 30, &e), 0);
	ck_assert_int_ge(ctx_mono_ms() - began, 30);
	ck_assert_int_eq(wait_for(&c, 0, &e), 0);
	ck_assert_int_eq(wait_for(&c, -5, &e), 0);
	ck_assert_str_eq(e.msg, "");
	drop(&c);
}
END_TEST

/* Whether the other process comes before or after the first look, it is not missed. */
START_TEST(carrier_that_comes_ends_the_wait)
{
	struct cable c = cable();
	struct err e = { 0 };
	int64_t began = ctx_mono_ms();
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct nl *own = net_socket();

		_exit(nl_link_set_up(own, c.far, &e) ? 1 : 0);
	}
	ck_assert_msg(wait_for(&c, LONG_MS, &e) == 1, "%s", e.msg);
	ck_assert_int_lt(ctx_mono_ms() - began, LONG_MS);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	drop(&c);
}
END_TEST

START_TEST(an_interface_that_is_gone_is_an_error)
{
	struct cable c = cable();
	struct err e = { 0 };

	ck_assert_int_eq(nl_link_delete(c.nl, c.near, &e), 0);
	ck_assert_int_eq(wait_for(&c, LONG_MS, &e), -1);
	ck_assert_int_eq(e.errnum, ENODEV);
	ck_assert_int_eq(nl_link_carrier(c.nl, c.near, &e), -1);
	drop(&c);
}
END_TEST

static int rose(const struct cable *c)
{
	struct err e = { 0 };
	int rc = nl_link_rose_with_carrier(c->mon, c->near, &e);

	ck_assert_int_ge(rc, 0);
	return rc;
}

static void set_near(const struct cable *c, bool up)
{
	struct err e = { 0 };

	ck_assert_int_eq(
		up ? nl_link_set_up(c->nl, c->near, &e) : nl_link_set_down(c->nl, c->near, &e), 0);
}

/* How it was then counts, not how it is by now. */
START_TEST(carrier_as_it_rose)
{
	struct cable c = cable();
	struct err e = { 0 };

	while (nl_monitor_next(c.mon, c.near, ctx_mono_ms(), &e) == 1)
		;
	ck_assert_int_eq(rose(&c), 0);
	set_near(&c, false);
	net_link("bridge", "br0");
	ck_assert_int_eq(rose(&c), 0);
	set_near(&c, true);
	set_far(&c, true);
	ck_assert_int_eq(rose(&c), 0);
	set_near(&c, false);
	while (nl_monitor_next(c.mon, c.near, ctx_mono_ms(), &e) == 1)
		;
	set_near(&c, true);
	set_far(&c, false);
	ck_assert_int_eq(rose(&c), 1);
	drop(&c);
}
END_TEST

/* Until the kernel has told all that it will of near: it tells of carrier when it gets round to it,
 * and then alone the interface begins, or ceases, to run. */
static void settle(const struct cable *c)
{
	struct link_info li = { .flags = IFF_RUNNING };
	struct err e = { 0 };

	set_far(c, true);
	ck_assert_msg(wait_for(c, LONG_MS, &e) == 1, "%s", e.msg);
	set_far(c, false);
	while (li.flags & IFF_RUNNING) {
		ck_assert_int_ge(nl_monitor_next(c->mon, c->near, ctx_mono_ms() + LONG_MS, &e), 0);
		ck_assert_int_eq(nl_link_by_index(c->nl, c->near, &li, &e), 0);
	}
	while (nl_monitor_next(c->mon, c->near, ctx_mono_ms(), &e) == 1)
		;
}

/* What concerns another interface, or addresses, wakes nobody. */
START_TEST(events_of_other_links_are_ignored)
{
	struct cable c = cable();
	struct err e = { 0 };
	struct ip_prefix a;

	settle(&c);
	net_link("bridge", "br0");
	ck_assert_int_eq(ip_parse_prefix("10.0.0.1/24", &a), 0);
	ck_assert_int_eq(nl_addr_add(c.nl, c.near, a, false, &e), 0);
	ck_assert_int_eq(nl_monitor_next(c.mon, c.near, ctx_mono_ms(), &e), 0);
	ck_assert_int_eq(nl_link_set_mtu(c.nl, c.near, 1400, &e), 0);
	ck_assert_int_eq(nl_monitor_next(c.mon, c.near, ctx_mono_ms(), &e), 1);
	drop(&c);
}
END_TEST

/* More events than the socket holds: what was lost may have been about any. */
START_TEST(a_flood_of_events_loses_nothing)
{
	struct cable c = cable();
	struct err e = { 0 };

	net_link("bridge", "br0");
	int other = net_ifindex(c.nl, "br0"), flood = 0;

	for (uint32_t i = 0; i < 2000; i++)
		flood += nl_link_set_mtu(c.nl, other, 1280 + i % 2, &e) == 0;
	ck_assert_int_eq(flood, 2000);
	set_far(&c, true);
	ck_assert_msg(wait_for(&c, LONG_MS, &e) == 1, "%s", e.msg);
	ck_assert_int_eq(nl_monitor_next(c.mon, 424242, ctx_mono_ms(), &e), 1);
	drop(&c);
}
END_TEST

START_TEST(a_monitor_may_be_absent)
{
	nl_monitor_close(NULL);
}
END_TEST

TEST_PROGRAM("nl_monitor", carrier_that_is_there_is_reported_at_once,
	     carrier_that_does_not_come_times_out, carrier_that_comes_ends_the_wait,
	     an_interface_that_is_gone_is_an_error, events_of_other_links_are_ignored,
	     carrier_as_it_rose, a_flood_of_events_loses_nothing, a_monitor_may_be_absent)
