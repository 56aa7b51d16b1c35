/* SPDX-License-Identifier: Apache-2.0 */
/* alloc_test.c: the order in which addresses are assigned, and what status, policies and cooldown
 * do. */
#include "ipam/testing/ipam.h"

#define SMALL "{\"subnet\":\"10.0.0.0/29\"}" /* .2 to .6 */
#define DUAL  "{\"ranges\":[[{\"subnet\":\"10.0.0.0/29\"}],[{\"subnet\":\"fd00::/64\"}]]}"
#define POD_A "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=a"
#define POD_B "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=b"

static void fill(struct fixture *w, const char *conf, int from, int to)
{
	char id[16];

	for (int i = from; i <= to; i++) {
		(void)snprintf(id, sizeof(id), "f%d", i);
		ck_assert_msg(w_add(w, conf, id, "")[0] != '!', "%s", w->text);
	}
}

START_TEST(addresses_are_given_in_order)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, SMALL, "c1", ""), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, SMALL, "c2", ""), "10.0.0.3");
	w_del(&w, "c1");
	ck_assert_str_eq(w_add(&w, SMALL, "c3", ""), "10.0.0.4");
	w_sound(&w);
}
END_TEST

START_TEST(a_repeated_add_gets_the_same_address)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, DUAL, "c1", ""), "10.0.0.2 fd00::2");
	ck_assert_str_eq(w_add(&w, DUAL, "c1", ""), "10.0.0.2 fd00::2");
	ck_assert_str_eq(w_add(&w, DUAL, "c1", "IP=fd00::2"), "10.0.0.2 fd00::2");
	ck_assert_int_eq(strncmp(w_add(&w, DUAL, "c1", "IP=10.0.0.3"), "!103", 4), 0);
	/* a lease that the configuration could not have given */
	ck_assert_int_eq(strncmp(w_add(&w, SMALL, "c1", ""), "!103", 4), 0);
	ck_assert_ptr_nonnull(strstr(w.e.detail, "DEL"));
	ck_assert_int_eq(strncmp(w_add(&w,
				       "{\"ranges\":[[{\"subnet\":\"10.0.0.0/"
				       "29\",\"rangeStart\":\"10.0.0.3\"}],"
				       "[{\"subnet\":\"fd00::/64\"}]]}",
				       "c1", ""),
				 "!103", 4),
			 0);
	w_del(&w, "c1");
	w_del(&w, "c1");
	ck_assert_str_eq(w_add(&w, SMALL, "c1", ""), "10.0.0.3");
	w_sound(&w);
}
END_TEST

START_TEST(both_families_or_neither)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	fill(&w, SMALL, 2, 6);
	ck_assert_int_eq(strncmp(w_add(&w, DUAL, "c1", ""), "!101", 4), 0);
	w_del(&w, "f3");
	ck_assert_str_eq(w_add(&w, DUAL, "c1", ""), "10.0.0.3 fd00::2");
	w_sound(&w);
}
END_TEST

/* The same configuration, whose STATUS also tells that no address is left. */
static const char *status_when_full(struct fixture *w, const char *conf)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "{\"statusWhenFull\":true,%s", conf + 1);
	return w_status(w, text);
}

#define ONE "{\"subnet\":\"10.0.0.0/29\",\"rangeStart\":\"10.0.0.3\",\"rangeEnd\":\"10.0.0.3\"}"

START_TEST(an_exhausted_pool_is_named)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_str_eq(w_status(&w, SMALL), "");
	fill(&w, SMALL, 2, 6);
	ck_assert_str_eq(w_add(&w, SMALL, "c1", ""),
			 "!101 no address is left in range 10.0.0.0/29 (5 addresses)");
	ck_assert_int_eq(strncmp(status_when_full(&w, SMALL), "!50", 3), 0);
	/* the node is well, and its pods are to stay */
	ck_assert_str_eq(w_status(&w, SMALL), "");
	ck_assert_ptr_nonnull(strstr(w_add(&w, ONE, "c1", ""), " (1 address)"));
	w_del(&w, "f4");
	ck_assert_str_eq(status_when_full(&w, SMALL), "");
	ck_assert_str_eq(w_add(&w, SMALL, "c1", ""), "10.0.0.4");
	w_sound(&w);
}
END_TEST

START_TEST(longest_rested_first_and_cooling_last)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	fill(&w, SMALL, 2, 6);
	w_del(&w, "f5");
	w.now += SECOND;
	w_del(&w, "f3");
	w.now += SECOND;
	w_del(&w, "f4");
	/* all cool down: the oldest is given nevertheless */
	ck_assert_str_eq(w_add(&w, SMALL, "c1", ""), "10.0.0.5");
	w.now += 100 * SECOND;
	w_del(&w, "f2");
	ck_assert_str_eq(w_add(&w, SMALL, "c2", ""), "10.0.0.3");
	ck_assert_str_eq(w_add(&w, SMALL, "c3", ""), "10.0.0.4");
	ck_assert_str_eq(w_add(&w, SMALL, "c4", ""), "10.0.0.2");
	w_sound(&w);
}
END_TEST

#define STRICT "{\"subnet\":\"10.0.0.0/29\",\"cooldown\":10,\"strictCooldown\":true}"

START_TEST(strict_cooldown_gives_no_resting_address)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	fill(&w, STRICT, 2, 6);
	w_del(&w, "f4");
	w.now += 9 * SECOND;
	ck_assert_int_eq(strncmp(w_add(&w, STRICT, "c1", ""), "!101", 4), 0);
	ck_assert_ptr_nonnull(strstr(w.e.detail, "strictCooldown"));
	ck_assert_int_eq(strncmp(w_add(&w, STRICT, "c1", "IP=10.0.0.4"), "!103", 4), 0);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "cools down for another 2 s"));
	ck_assert_int_eq(strncmp(status_when_full(&w, STRICT), "!50", 3), 0);
	w.now += SECOND;
	ck_assert_str_eq(w_add(&w, STRICT, "c1", ""), "10.0.0.4");
}
END_TEST

START_TEST(a_clock_set_back_blocks_no_address)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	fill(&w, SMALL, 2, 6);
	w_del(&w, "f4");
	w.now -= 3600 * SECOND;
	w_del(&w, "f5");
	/* .5 cools; .4 was released in a future that the cooldown does not explain: it has rested
	 */
	ck_assert_str_eq(w_add(&w, SMALL, "c1", ""), "10.0.0.4");
	w_sound(&w);
}
END_TEST

START_TEST(rested_of_any_source_before_cooling)
{
	static const char *const conf =
		"{\"ranges\":[[{\"subnet\":\"10.0.0.0/30\"},{\"subnet\":\"10.0.1.0/30\"}]]}";
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, conf, "c1", ""), "10.0.0.2");
	w_del(&w, "c1");
	ck_assert_str_eq(w_add(&w, conf, "c2", ""), "10.0.1.2");
	ck_assert_str_eq(w_add(&w, conf, "c3", ""), "10.0.0.2");
	ck_assert_int_eq(strncmp(w_add(&w, conf, "c4", ""), "!101", 4), 0);
}
END_TEST

START_TEST(a_requested_address_is_given)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, DUAL, "c1", "IP=fd00::77/64,10.0.0.5"), "10.0.0.5 fd00::77");
	ck_assert_str_eq(w_add(&w, DUAL, "c2", "IP=10.0.0.5"),
			 "!103 address 10.0.0.5 is held by container c1, interface net1");
	ck_assert_str_eq(w_add(&w, DUAL, "c2", "IP=10.0.0.1"),
			 "!7 requested address 10.0.0.1 is the gateway of range 10.0.0.0/29");
	ck_assert_int_eq(strncmp(w_add(&w, DUAL, "c2", "IP=10.0.0.7"), "!7 ", 3), 0);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "not among its addresses"));
	ck_assert_int_eq(strncmp(w_add(&w, DUAL, "c2", "IP=10.0.0.0"), "!7 ", 3), 0);
	ck_assert_int_eq(strncmp(w_add(&w, DUAL, "c2", "IP=10.9.0.7"), "!7 ", 3), 0);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "in none of the configured ranges"));
	ck_assert_int_eq(strncmp(w_add(&w, DUAL, "c2", "IP=10.0.0.3,10.0.0.4"), "!7 ", 3), 0);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "10.0.0.3 and 10.0.0.4 are of one range"));
	/* nothing was taken by the refused ones */
	ck_assert_str_eq(w_add(&w, DUAL, "c2", "IP=10.0.0.3"), "10.0.0.3 fd00::2");
	w_del(&w, "c2");
	ck_assert_str_eq(w_add(&w, DUAL, "c3", "IP=10.0.0.3"), "10.0.0.3 fd00::3");
	w_sound(&w);
}
END_TEST

START_TEST(two_interfaces_never_share)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, SMALL, "c1", ""), "10.0.0.2");
	w.ifname = "net2";
	ck_assert_str_eq(w_add(&w, SMALL, "c1", ""), "10.0.0.3");
	/* nor when another network has the same addresses */
	w.network = "other";
	w.ifname = "net3";
	ck_assert_str_eq(w_add(&w, SMALL, "c1", ""), "10.0.0.4");
	ck_assert_str_eq(w_add(&w, SMALL, "c2", ""), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, SMALL, "c3", ""), "10.0.0.3");
	ck_assert_str_eq(w_add(&w, SMALL, "c4", ""), "10.0.0.5");
	w.ifname = "net4";
	ck_assert_str_eq(
		w_add(&w, SMALL, "c1", "IP=10.0.0.2"),
		"!103 address 10.0.0.2 is held by another interface of the same container");
	ck_assert_str_eq(w_add(&w, SMALL, "c1", ""), "10.0.0.6");
	w_sound(&w);
}
END_TEST

#define STICKY "{\"subnet\":\"10.0.0.0/29\",\"sticky\":true}"

START_TEST(a_pod_gets_its_last_address)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, STICKY, "c1", POD_A), "10.0.0.2");
	w_del(&w, "c1");
	ck_assert_str_eq(w_add(&w, STICKY, "c2", POD_B), "10.0.0.3");
	ck_assert_str_eq(w_add(&w, STICKY, "c3", ""), "10.0.0.4");
	ck_assert_str_eq(w_add(&w, STICKY, "c4", POD_A), "10.0.0.2");
	/* the old sandbox is still there: another address, and the pod keeps its own */
	ck_assert_str_eq(w_add(&w, STICKY, "c5", POD_A), "10.0.0.5");
	w_del(&w, "c4");
	w_del(&w, "c5");
	ck_assert_str_eq(w_add(&w, STICKY, "c6", POD_A), "10.0.0.2");
	w_sound(&w);
}
END_TEST

START_TEST(sticky_until_somebody_else_has_it)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, STICKY, "c1", POD_A), "10.0.0.2");
	w_del(&w, "c1");
	ck_assert_str_eq(w_add(&w, STICKY, "c2", "IP=10.0.0.2;" POD_B), "10.0.0.2");
	w_del(&w, "c2");
	ck_assert_str_eq(w_add(&w, STICKY, "c3", POD_A), "10.0.0.3");
	ck_assert_str_eq(w_add(&w, STICKY, "c4", POD_B), "10.0.0.2");
	w_sound(&w);
}
END_TEST

START_TEST(sticky_in_both_families_and_over_a_boot)
{
	static const char *const conf = "{\"ranges\":[[{\"subnet\":\"10.0.0.0/"
					"29\"}],[{\"subnet\":\"fd00::/64\"}]],\"sticky\":true}";
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, conf, "c0", ""), "10.0.0.2 fd00::2");
	ck_assert_str_eq(w_add(&w, conf, "c1", POD_A), "10.0.0.3 fd00::3");
	fixture_boot(&w, BOOT_2);
	ck_assert_str_eq(w_add(&w, conf, "c9", POD_B), "10.0.0.4 fd00::4");
	ck_assert_str_eq(w_add(&w, conf, "c8", POD_A), "10.0.0.3 fd00::3");
	w_sound(&w);
}
END_TEST

START_TEST(a_boot_frees_everything)
{
	auto_fixture struct fixture w = { .now = 0 };
	struct json *list = NULL;
	struct lease_filter all = { .pool = NULL };

	fixture_open(&w);
	fill(&w, DUAL, 2, 6);
	fixture_boot(&w, BOOT_2);
	ck_assert_int_eq(admin_leases(&w.m, &all, &list, &w.e), 0);
	ck_assert_uint_eq(json_len(list), 10);
	ck_assert_str_eq(json_str(json_get(json_first(list), "state")), "stale");
	json_free(list);
	const struct owner f2 = w_owner(&w, "f2");
	const struct alloc_check check = { &f2, NULL, 0 };
	ck_assert_int_eq(alloc_check(&w.m, &check, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_STATE);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "earlier boot"));
	w.now += 3600 * SECOND;
	fill(&w, DUAL, 10, 14);
	ck_assert_int_eq(admin_leases(&w.m, &all, &list, &w.e), 0);
	ck_assert_uint_eq(json_len(list), 10);
	ck_assert_str_eq(json_str(json_get(json_first(list), "state")), "leased");
	json_free(list);
	w_del(&w, "f2");
	w_sound(&w);
}
END_TEST

START_TEST(check_compares_address_and_owner)
{
	auto_fixture struct fixture w = { .now = 0 };
	struct ip shown[2];

	fixture_open(&w);
	const struct owner c1 = w_owner(&w, "c1");
	struct alloc_check check = { &c1, NULL, 0 };
	ck_assert_int_eq(alloc_check(&w.m, &check, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_STATE);
	ck_assert_str_eq(w_add(&w, DUAL, "c1", ""), "10.0.0.2 fd00::2");
	ck_assert_int_eq(alloc_check(&w.m, &check, &w.e), 0);
	ck_assert_int_eq(ip_parse("10.0.0.2", &shown[0]), 0);
	ck_assert_int_eq(ip_parse("fd00::3", &shown[1]), 0);
	check.shown = shown;
	check.n = 2;
	ck_assert_int_eq(alloc_check(&w.m, &check, &w.e), -1);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "fd00::2 is leased but not in prevResult"));
	shown[1].v--;
	ck_assert_int_eq(alloc_check(&w.m, &check, &w.e), 0);
}
END_TEST

static bool keep_even(const char *container, const char *ifname, const void *arg)
{
	(void)arg;
	return (container[1] - '0') % 2 == 0 && strcmp(ifname, "net1") == 0;
}

START_TEST(gc_releases_what_is_not_in_the_list)
{
	const struct alloc_gc gc = { "net", keep_even, NULL };
	auto_fixture struct fixture w = { .now = 0 };
	struct json *journal = NULL;

	fixture_open(&w);
	fill(&w, SMALL, 2, 6);
	w.network = "other";
	fill(&w, SMALL, 2, 3);
	ck_assert_int_eq(alloc_gc(&w.m, &gc, &journal, &w.e), 0);
	ck_assert_uint_eq(json_len(journal), 2);
	ck_assert_str_eq(json_str(json_get(json_first(journal), "address")), "10.0.0.3");
	json_free(journal);
	const struct owner f3 = w_owner(&w, "f3");
	const struct alloc_check check = { &f3, NULL, 0 };
	ck_assert_int_eq(alloc_check(&w.m, &check, &w.e), 0);
	w_sound(&w);
}
END_TEST

/* The damaged records of one container do not keep the others' addresses. */
START_TEST(gc_goes_on_after_an_error)
{
	const struct alloc_gc gc = { "net", keep_even, NULL };
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	fill(&w, SMALL, 1, 5);
	w_scribble(&w, "o/f3/net1/net", "rubbish");
	ck_assert_int_eq(alloc_gc(&w.m, &gc, NULL, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_STORE);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "o/f3/net1/net"));
	struct json *list = NULL;
	const struct lease_filter all = { .pool = NULL };
	ck_assert_int_eq(admin_leases(&w.m, &all, &list, &w.e), 0);
	ck_assert_uint_eq(json_len(list), 3); /* f2, f3, f4 */
	json_free(list);
}
END_TEST

START_TEST(a_changed_range_keeps_its_leases)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	fill(&w, SMALL, 2, 6);
	for (int i = 2; i <= 6; i++) {
		char id[8];
		(void)snprintf(id, sizeof(id), "f%d", i);
		if (i != 4)
			w_del(&w, id);
	}
	/* released under another shape of the range: first those that never were, then the rested
	 */
	static const char *const wider = "{\"subnet\":\"10.0.0.0/28\",\"rangeEnd\":\"10.0.0.8\"}";
	ck_assert_str_eq(w_add(&w, wider, "c1", ""), "10.0.0.7");
	ck_assert_str_eq(w_add(&w, wider, "c2", ""), "10.0.0.8");
	w.now += 100 * SECOND;
	ck_assert_str_eq(w_add(&w, wider, "c3", ""), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, wider, "c4", ""), "10.0.0.3");
	ck_assert_str_eq(w_add(&w, wider, "c5", ""), "10.0.0.5");
	ck_assert_str_eq(w_add(&w, wider, "c6", ""), "10.0.0.6");
	ck_assert_int_eq(strncmp(w_add(&w, wider, "c7", ""), "!101", 4), 0);
	w_del(&w, "f4");
	ck_assert_str_eq(w_add(&w, wider, "c7", ""), "10.0.0.4");
	w_sound(&w);
}
END_TEST

START_TEST(forgets_old_rests_and_finds_them_again)
{
	auto_fixture struct fixture w = { .now = 0 };
	char id[16];

	fixture_open(&w);
	w.m.rest_max = 2;
	for (int i = 0; i < 200; i++) {
		(void)snprintf(id, sizeof(id), "c%d", i);
		w.now += SECOND;
		ck_assert_msg(w_add(&w, SMALL, id, "")[0] == '1', "%d: %s", i, w.text);
		w_del(&w, id);
		w_sound(&w);
	}
	fill(&w, SMALL, 2, 6);
	ck_assert_int_eq(strncmp(w_add(&w, SMALL, "c", ""), "!101", 4), 0);
	w_sound(&w);
}
END_TEST

/* ---- an address that somebody on the wire uses rests, whatever the cooldown is ---- */

#define NO_COOLDOWN "{\"subnet\":\"10.0.0.0/29\",\"cooldown\":0}" /* .2 to .6 */
#define STICKY_0    "{\"subnet\":\"10.0.0.0/29\",\"cooldown\":0,\"sticky\":true}"
#define STRICT_0    "{\"subnet\":\"10.0.0.0/30\",\"cooldown\":0,\"strictCooldown\":true}" /* .2 */

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
	ck_assert_str_eq(w_add(&w, STICKY_0, "c1", POD_A), "10.0.0.2");
	w_del(&w, "c1");
	w.now += SECOND;
	ck_assert_str_eq(w_add(&w, STICKY_0, "c2", POD_A), "10.0.0.2");
	del_in_conflict(&w, "c2", "10.0.0.2");
	w.now += SECOND;
	ck_assert_str_eq(w_add(&w, STICKY_0, "c3", POD_A), "10.0.0.3");
	w_sound(&w);
}
END_TEST

START_TEST(strict_cooldown_keeps_a_conflicting_address)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, STRICT_0, "c1", ""), "10.0.0.2");
	del_in_conflict(&w, "c1", "10.0.0.2");
	ck_assert_int_eq(strncmp(w_add(&w, STRICT_0, "c2", ""), "!101", 4), 0);
	w.now += LEASE_DB_CONFLICT_NS;
	ck_assert_str_eq(w_add(&w, STRICT_0, "c2", ""), "10.0.0.2");
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

TEST_PROGRAM("alloc", addresses_are_given_in_order, a_repeated_add_gets_the_same_address,
	     both_families_or_neither, an_exhausted_pool_is_named,
	     longest_rested_first_and_cooling_last, strict_cooldown_gives_no_resting_address,
	     a_clock_set_back_blocks_no_address, rested_of_any_source_before_cooling,
	     a_requested_address_is_given, two_interfaces_never_share, a_pod_gets_its_last_address,
	     sticky_until_somebody_else_has_it, sticky_in_both_families_and_over_a_boot,
	     a_boot_frees_everything, check_compares_address_and_owner,
	     gc_releases_what_is_not_in_the_list, gc_goes_on_after_an_error,
	     a_changed_range_keeps_its_leases, forgets_old_rests_and_finds_them_again,
	     a_conflicting_address_rests_with_cooldown_0_too, a_conflicting_address_is_not_sticky,
	     strict_cooldown_keeps_a_conflicting_address, only_the_conflicting_address_rests)
