/* SPDX-License-Identifier: Apache-2.0 */
/* An address that somebody on the wire uses rests, whatever the cooldown is, and is nobody's. */
#include "ipam/testing/ipam.h"

#define NO_COOLDOWN "{\"subnet\":\"10.0.0.0/29\",\"cooldown\":0}" /* .2 to .6 */
#define STICKY      "{\"subnet\":\"10.0.0.0/29\",\"cooldown\":0,\"sticky\":true}"
#define STRICT      "{\"subnet\":\"10.0.0.0/30\",\"cooldown\":0,\"strictCooldown\":true}" /* .2 */
#define POD_A       "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=a"

static void del_in_conflict(struct fixture *w, const char *container, const char *addr)
{
	const struct owner o = w_owner(w, container);
	struct alloc_del del = { .owner = &o, .n_conflict = 1 };
	struct ip ip;

	ck_assert_int_eq(ip_parse(addr, &ip), 0);
	del.conflict = &ip;
	ck_assert_msg(alloc_del_conflict(&w->m, &del, NULL, &w->e) == 0, "%s", w->e.msg);
}

/* Without conflict the only released address of a pool is given again at once. */
START_TEST(a_conflicting_address_rests_with_cooldown_0_too)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	for (int i = 2; i <= 6; i++) {
		char id[8];
		(void)snprintf(id, sizeof(id), "c%d", i);
		ck_assert_msg(w_add(&w, NO_COOLDOWN, id, "")[0] != '!', "%s", w.text);
	}
	del_in_conflict(&w, "c2", "10.0.0.2");
	w.now += SECOND;
	w_del(&w, "c3");
	w.now += SECOND;
	ck_assert_str_eq(w_add(&w, NO_COOLDOWN, "d1", ""), "10.0.0.3");
	w_del(&w, "d1");
	w.now += SECOND;
	ck_assert_str_eq(w_add(&w, NO_COOLDOWN, "d2", ""), "10.0.0.3");
	/* nothing else is left: it is asked for again, which finds out whether it is free now */
	ck_assert_str_eq(w_add(&w, NO_COOLDOWN, "d3", ""), "10.0.0.2");
	del_in_conflict(&w, "d3", "10.0.0.2");
	w.now += 2 * LEASE_DB_CONFLICT_NS;
	ck_assert_str_eq(w_add(&w, NO_COOLDOWN, "d4", ""), "10.0.0.2");
	w_sound(&w);
}
END_TEST

/* Else a pod would get it at each start, and never run. */
START_TEST(a_conflicting_address_is_not_sticky)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, STICKY, "c1", POD_A), "10.0.0.2");
	w_del(&w, "c1");
	w.now += SECOND;
	ck_assert_str_eq(w_add(&w, STICKY, "c2", POD_A), "10.0.0.2");
	del_in_conflict(&w, "c2", "10.0.0.2");
	w.now += SECOND;
	ck_assert_str_eq(w_add(&w, STICKY, "c3", POD_A), "10.0.0.3");
	w_sound(&w);
}
END_TEST

START_TEST(strict_cooldown_keeps_a_conflicting_address)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, STRICT, "c1", ""), "10.0.0.2");
	del_in_conflict(&w, "c1", "10.0.0.2");
	ck_assert_int_eq(strncmp(w_add(&w, STRICT, "c2", ""), "!101", 4), 0);
	w.now += LEASE_DB_CONFLICT_NS;
	ck_assert_str_eq(w_add(&w, STRICT, "c2", ""), "10.0.0.2");
	w_sound(&w);
}
END_TEST

/* The other one of the owner's addresses is free at once. */
START_TEST(only_the_conflicting_address_rests)
{
	static const char dual[] = "{\"ranges\":[[{\"subnet\":\"10.0.0.0/30\"}],"
				   "[{\"subnet\":\"fd00::/126\"}]],\"cooldown\":0,"
				   "\"strictCooldown\":true}";
	static const char v6[] = "{\"subnet\":\"fd00::/126\",\"cooldown\":0,"
				 "\"strictCooldown\":true,\"rangeStart\":\"fd00::2\"}";
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, dual, "c1", ""), "10.0.0.2 fd00::2");
	del_in_conflict(&w, "c1", "10.0.0.2");
	w.now += SECOND;
	ck_assert_int_eq(strncmp(w_add(&w, dual, "c2", ""), "!101", 4), 0);
	ck_assert_int_ne(w_add(&w, v6, "c3", "")[0], '!');
	w_sound(&w);
}
END_TEST

TEST_PROGRAM("conflict", a_conflicting_address_rests_with_cooldown_0_too,
	     a_conflicting_address_is_not_sticky, strict_cooldown_keeps_a_conflicting_address,
	     only_the_conflicting_address_rests)
