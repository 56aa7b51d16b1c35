/* SPDX-License-Identifier: Apache-2.0 */
/* verify_test.c: each kind of damage is found, and repaired. */
#include <sys/wait.h>

#include "ipam/testing/ipam.h"

#define POOL  "{\"pool\":\"rail0\"}"
#define POD_A "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=a"

struct keys {
	char text[8192];
};

static int note(const char *key, const char *value, void *arg)
{
	struct keys *k = arg;

	testing_append(k->text, sizeof(k->text), key);
	testing_append(k->text, sizeof(k->text), "=");
	testing_append(k->text, sizeof(k->text), value);
	testing_append(k->text, sizeof(k->text), "\n");
	return 0;
}

static void dump(struct fixture *w, struct keys *out)
{
	const struct store_ops *ops = w->m.store->ops;
	struct store_txn *t;

	out->text[0] = '\0';
	ck_assert_int_eq(ops->begin(w->m.store, STORE_READ, &t, &w->e), 0);
	ck_assert_int_eq(ops->scan(t, (struct store_span){ "", NULL }, note, out, &w->e), 0);
	ops->abort(t);
}

/* A store with one of everything: c1 holds .1, .2 rests, c3 holds .3 and fd00::1. */
static void furnish(struct fixture *w)
{
	fixture_open(w);
	ck_assert_int_eq(w_pool(w, "rail0", "{\"subnet\":\"10.0.0.0/29\",\"sticky\":true}", false),
			 0);
	ck_assert_int_eq(w_pool(w, "six", "{\"subnet\":\"fd00::/64\"}", false), 0);
	ck_assert_str_eq(w_add(w, POOL, "c1", POD_A), "10.0.0.1");
	ck_assert_str_eq(w_add(w, POOL, "c2", ""), "10.0.0.2");
	ck_assert_str_eq(w_add(w, "{\"pools\":[\"rail0\",\"six\"]}", "c3", ""), "10.0.0.3 fd00::1");
	w_del(w, "c2");
	w_sound(w);
}

/* Found, and whether `verify --repair` leaves a sound store behind. */
static void finds(struct fixture *w, const char *says, bool repaired)
{
	char text[4096] = "";
	struct verify v = { .found = w_problem, .arg = text };

	ck_assert_msg(ipam_verify(&w->m, &v, &w->e) == 0, "%s", w->e.msg);
	ck_assert_msg(v.problems > 0, "not found: %s", says);
	ck_assert_msg(strstr(text, says) != NULL, "want \"%s\" in:\n%s", says, text);
	ck_assert_int_eq(v.left == 0, repaired);
	v.repair = true;
	ck_assert_msg(ipam_verify(&w->m, &v, &w->e) == 0, "%s", w->e.msg);
	if (repaired)
		w_sound(w);
}

static const struct {
	const char *key, *value, *says;
} damage[] = {
	{ "a/p/rail0/4/0a000001", "{", "a/p/rail0/4/0a000001" },
	{ "a/p/rail0/4/0a000001", NULL, "has no lease record" },
	{ "a/p/rail0/4/0a000002", NULL, "r/p/rail0/" },
	{ "a/p/rail0/4/zz", "{}", "is not the key of an address" },
	{ "a/p/rail0/4/0a000006", "{\"state\":\"leased\",\"since\":\"1\",\"container\":\"x\"}",
	  "o/x//" },
	{ "o/c1/net1/net", NULL, "o/c1/net1/net" },
	{ "o/c1/net1/net", "5", "o/c1/net1/net" },
	{ "o/c1/net1/net", "[]", "o/c1/net1/net" },
	{ "o/c1/net1/net", "[\"a/p/rail0/4/0a000003\"]", "recorded 1 times, the leases say 0" },
	{ "o/c9/net1/net", "[\"a/p/rail0/4/0a000006\"]", "has no lease record" },
	{ "o/c9/net1/net", "[\"rubbish\"]", "o/c9/net1/net" },
	{ "q/p/rail0/ns", "7", "q/p/rail0/ns" },
	{ "q/p/rail0/ns", "x", "q/p/rail0/ns" },
	{ "q/p/rail0/other", "1", "q/p/rail0/other" },
	{ "r/p/rail0/x/0000000000000001/4/0a000001", "", "r/p/rail0/x" },
	{ "s/p/rail0/ns/a/net1", "[\"a/p/rail0/4/0a000003\"]", "which another pod has had since" },
	{ "s/p/rail0/ns/a/net1", "{}", "s/p/rail0/ns/a/net1" },
	{ "s/p/rail0/ns/z/net1", "[\"a/p/rail0/4/0a000005\"]", "which another pod has had since" },
	{ "u/p/rail0/0000000000000000", "{\"used\":1}", "u/p/rail0/0000000000000000 used" },
	{ "u/p/rail0/0000000000000000", "?", "u/p/rail0/0000000000000000" },
};

START_TEST(damage_is_found_and_repaired)
{
	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			auto_fixture struct fixture w = { .now = 0 };

			furnish(&w);
			w_scribble(&w, damage[i].key, damage[i].value);
			finds(&w, damage[i].says, true);
			/* and it works on */
			ck_assert_int_eq(w_add(&w, POOL, "new", "")[0], '1');
			w_del(&w, "c1");
			w_del(&w, "c3");
			w_sound(&w);
			exit(0);
		}
		int status;
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(status == 0, "damage %zu: %s", i, damage[i].key);
	}
}
END_TEST

START_TEST(a_listed_address_without_a_lease_stays_with_its_owner)
{
	auto_fixture struct fixture w = { .now = 0 };

	furnish(&w);
	w_scribble(&w, "a/p/rail0/4/0a000001", NULL);
	/* two name it: one keeps it */
	w_scribble(&w, "o/c8/net1/net", "[\"a/p/rail0/4/0a000001\"]");
	finds(&w, "has no lease record", true);
	for (int i = 2; i < 6; i++) {
		char id[8];
		(void)snprintf(id, sizeof(id), "n%d", i);
		(void)w_add(&w, POOL, id, "");
		ck_assert_str_ne(w.text, "10.0.0.1");
	}
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.1");
	w_sound(&w);
}
END_TEST

START_TEST(bad_pools_and_unknown_keys_are_only_reported)
{
	auto_fixture struct fixture w = { .now = 0 };

	furnish(&w);
	w_scribble(&w, "d/rail1", "{\"subnet\":\"10.0.0.0/24\"}");
	finds(&w, "overlaps with pool rail", false);
	w_scribble(&w, "d/rail1", "{\"subnet\":\"x\"}");
	finds(&w, "pool rail1: subnet", false);
	w_scribble(&w, "d/rail1", "{");
	finds(&w, "d/rail1", false);
	w_scribble(&w, "d/rail1", NULL);
	w_sound(&w);
	w_scribble(&w, "zebra", "1");
	finds(&w, "zebra: unknown kind of key", false);
}
END_TEST

START_TEST(verify_changes_nothing)
{
	struct keys before, after;
	struct verify v = { .repair = false };
	auto_fixture struct fixture w = { .now = 0 };

	furnish(&w);
	w_scribble(&w, "q/p/rail0/ns", "7");
	dump(&w, &before);
	ck_assert_int_eq(ipam_verify(&w.m, &v, &w.e), 0);
	ck_assert_uint_eq(v.problems, 1);
	ck_assert_uint_eq(v.held, 3);
	ck_assert_uint_eq(v.resting, 1);
	ck_assert_uint_eq(v.pools, 2);
	dump(&w, &after);
	ck_assert_str_eq(before.text, after.text);
}
END_TEST

START_TEST(repairing_a_sound_store_changes_nothing)
{
	struct keys before, after;
	struct verify v = { .repair = true };
	auto_fixture struct fixture w = { .now = 0 };

	furnish(&w);
	dump(&w, &before);
	ck_assert_int_eq(ipam_verify(&w.m, &v, &w.e), 0);
	dump(&w, &after);
	ck_assert_str_eq(before.text, after.text);
}
END_TEST

/* What a power loss may leave is repaired by the first transaction of the next boot. */
START_TEST(the_first_transaction_of_a_boot_repairs)
{
	for (size_t i = 0; i < ARRAY_SIZE(damage); i++) {
		pid_t pid = fork();

		ck_assert_int_ge(pid, 0);
		if (pid == 0) {
			auto_fixture struct fixture w = { .now = 0 };

			furnish(&w);
			w_scribble(&w, damage[i].key, damage[i].value);
			fixture_boot(&w, BOOT_2);
			ck_assert_int_eq(w_add(&w, POOL, "new", "")[0], '1');
			w_sound(&w);
			for (int k = 0; k < 5; k++) {
				char id[8];
				(void)snprintf(id, sizeof(id), "k%d", k);
				ck_assert_msg(w_add(&w, POOL, id, "")[0] == '1', "%s", w.text);
			}
			w_sound(&w);
			exit(0);
		}
		int status;
		ck_assert_int_eq(waitpid(pid, &status, 0), pid);
		ck_assert_msg(status == 0, "damage %zu: %s", i, damage[i].key);
	}
}
END_TEST

START_TEST(a_later_schema_is_refused)
{
	auto_fixture struct fixture w = { .now = 0 };

	furnish(&w);
	w_scribble(&w, KEY_META, "{\"schema\":2}");
	ck_assert_int_eq(strncmp(w_add(&w, POOL, "c", ""), "!102", 4), 0);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "newer railhead"));
	w_scribble(&w, KEY_META, "{");
	ck_assert_int_eq(strncmp(w_add(&w, POOL, "c", ""), "!102", 4), 0);
}
END_TEST

TEST_PROGRAM("verify", damage_is_found_and_repaired,
	     a_listed_address_without_a_lease_stays_with_its_owner,
	     bad_pools_and_unknown_keys_are_only_reported, verify_changes_nothing,
	     repairing_a_sound_store_changes_nothing, the_first_transaction_of_a_boot_repairs,
	     a_later_schema_is_refused)
