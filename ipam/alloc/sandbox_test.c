/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_test.c: a pod whose sandbox is made anew before the DEL of the old one. The names of the
 * containers say what is known of them: gone-1 is proved gone, none-1 has no record, others live.
 */
#include "ipam/testing/ipam.h"

#define SMALL  "{\"subnet\":\"10.0.0.0/29\"}" /* .2 to .6 */
#define STICKY "{\"subnet\":\"10.0.0.0/29\",\"sticky\":true}"
#define ONE    "{\"subnet\":\"10.0.0.0/29\",\"rangeStart\":\"10.0.0.3\",\"rangeEnd\":\"10.0.0.3\"}"
#define POD_A  "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=a"
#define POD_B  "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=b"

static void look_by_name(const struct ctx *ctx, const struct owner *o, struct holder_view *out)
{
	(void)ctx;
	out->state = strncmp(o->container, "gone", 4) == 0   ? HOLDER_GONE
		     : strncmp(o->container, "none", 4) == 0 ? HOLDER_UNRECORDED
		     : strncmp(o->container, "dark", 4) == 0 ? HOLDER_UNKNOWN
							     : HOLDER_MAY_LIVE;
	out->mark = 7;
}

static uint64_t mark_by_name(const struct ctx *ctx, const struct owner *o)
{
	(void)ctx;
	if (strncmp(o->container, "gone-again", 10) == 0)
		return 8; /* attached again since it was looked at */
	return strncmp(o->container, "none", 4) == 0 ? 0 : 7;
}

static const struct holder_ops by_name = { look_by_name, mark_by_name };

static void open_fixture(struct fixture *w)
{
	fixture_open(w);
	w->m.holders = &by_name;
}

/* A forced deletion: the new pod starts while the old one still ends. */
START_TEST(sticky_address_comes_back_to_the_pod)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_fixture(&w);
	ck_assert_str_eq(w_add(&w, STICKY, "old", POD_A), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, STICKY, "new", POD_A), "10.0.0.3");
	w_del(&w, "old");
	w_del(&w, "new");
	ck_assert_str_eq(w_add(&w, STICKY, "third", POD_A), "10.0.0.2");
	w_sound(&w);
}
END_TEST

/* Three generations, whose DELs come in any order. */
START_TEST(sticky_address_survives_late_deletions)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_fixture(&w);
	ck_assert_str_eq(w_add(&w, STICKY, "first", POD_A), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, STICKY, "second", POD_A), "10.0.0.3");
	w_del(&w, "second");
	/* the first one still ends: the pod's second address is its own before a new one is */
	ck_assert_str_eq(w_add(&w, STICKY, "third", POD_A), "10.0.0.3");
	w_del(&w, "first");
	ck_assert_str_eq(w_add(&w, STICKY, "other", POD_B), "10.0.0.4");
	w_del(&w, "third");
	ck_assert_str_eq(w_add(&w, STICKY, "fourth", POD_A), "10.0.0.2");
	w_sound(&w);
	w_del(&w, "fourth");
	ck_assert_str_eq(w_add(&w, STICKY, "fifth", POD_A), "10.0.0.2");
	w_sound(&w);
}
END_TEST

/* What another pod had meanwhile is not the pod's any more, nor in its list. */
START_TEST(sticky_address_that_another_pod_took)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_fixture(&w);
	ck_assert_str_eq(w_add(&w, STICKY, "old", POD_A), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, STICKY, "new", POD_A), "10.0.0.3");
	w_del(&w, "old");
	ck_assert_str_eq(w_add(&w, STICKY, "other", POD_B ";IP=10.0.0.2"), "10.0.0.2");
	w_del(&w, "new");
	w_sound(&w);
	ck_assert_str_eq(w_add(&w, STICKY, "third", POD_A), "10.0.0.3");
	w_sound(&w);
}
END_TEST

START_TEST(sandbox_made_anew_has_its_own_address)
{
	static const char *const confs[] = { SMALL, STICKY };

	for (size_t i = 0; i < ARRAY_SIZE(confs); i++) {
		auto_fixture struct fixture w = { .now = 0 };

		open_fixture(&w);
		ck_assert_str_eq(w_add(&w, confs[i], "gone-1", POD_A), "10.0.0.2");
		ck_assert_str_eq(w_add(&w, confs[i], "other", POD_B), "10.0.0.3");
		ck_assert_str_eq(w_add(&w, confs[i], "new", POD_A), "10.0.0.2");
		w_sound(&w);
		/* the DEL of the old sandbox comes late, and is not about the new one's address */
		w_del(&w, "gone-1");
		ck_assert_str_eq(w_add(&w, confs[i], "new", POD_A), "10.0.0.2");
		ck_assert_str_eq(w_add(&w, confs[i], "third", ""), "10.0.0.4");
		w_sound(&w);
	}
}
END_TEST

START_TEST(sandbox_that_may_live_keeps_its_address)
{
	static const char *const old[] = { "live-1", "none-1", "gone-again" };

	for (size_t i = 0; i < ARRAY_SIZE(old); i++) {
		auto_fixture struct fixture w = { .now = 0 };

		open_fixture(&w);
		ck_assert_str_eq(w_add(&w, SMALL, old[i], POD_A), "10.0.0.2");
		ck_assert_str_eq(w_add(&w, SMALL, "new", POD_A), "10.0.0.3");
		/* not even when no other is left, or it is asked for by name */
		ck_assert_int_eq(
			strncmp(w_add(&w, SMALL, "third", POD_A ";IP=10.0.0.2"), "!103", 4), 0);
		w_sound(&w);
	}
}
END_TEST

/* A range as large as the StatefulSet. */
START_TEST(sandbox_made_anew_in_a_full_range)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_fixture(&w);
	ck_assert_str_eq(w_add(&w, ONE, "gone-1", POD_A), "10.0.0.3");
	ck_assert_int_eq(strncmp(w_add(&w, ONE, "other", POD_B), "!101", 4), 0);
	ck_assert_str_eq(w_add(&w, ONE, "new", POD_A), "10.0.0.3");
	ck_assert_int_eq(strncmp(w_add(&w, ONE, "newer", POD_A), "!101", 4), 0);
	w_sound(&w);
}
END_TEST

START_TEST(sandbox_made_anew_asks_for_its_address)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_fixture(&w);
	ck_assert_str_eq(w_add(&w, SMALL, "gone-1", POD_A ";IP=10.0.0.5"), "10.0.0.5");
	ck_assert_int_eq(strncmp(w_add(&w, SMALL, "x", POD_B ";IP=10.0.0.5"), "!103", 4), 0);
	ck_assert_str_eq(w_add(&w, SMALL, "new", POD_A ";IP=10.0.0.5"), "10.0.0.5");
	w_sound(&w);
}
END_TEST

/* A pod made again under its name is another pod, but for addresses that stick to names. */
START_TEST(uid_tells_pods_apart)
{
	static const struct {
		const char *conf, *old, *new, *want;
	} t[] = {
		{ SMALL, ";K8S_POD_UID=1", ";K8S_POD_UID=1", "10.0.0.2" },
		{ SMALL, ";K8S_POD_UID=1", "", "10.0.0.2" },
		{ SMALL, "", ";K8S_POD_UID=2", "10.0.0.2" },
		{ SMALL, ";K8S_POD_UID=1", ";K8S_POD_UID=2", "10.0.0.3" },
		{ STICKY, ";K8S_POD_UID=1", ";K8S_POD_UID=2", "10.0.0.2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		auto_fixture struct fixture w = { .now = 0 };
		char args[128];

		open_fixture(&w);
		(void)snprintf(args, sizeof(args), POD_A "%s", t[i].old);
		ck_assert_str_eq(w_add(&w, t[i].conf, "gone-1", args), "10.0.0.2");
		(void)snprintf(args, sizeof(args), POD_A "%s", t[i].new);
		ck_assert_str_eq(w_add(&w, t[i].conf, "new", args), t[i].want);
		w_sound(&w);
	}
}
END_TEST

/* Another interface of the pod, the same pod's other network of the same pool, nobody's pod. */
START_TEST(only_the_same_interface_of_the_same_pod)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_fixture(&w);
	ck_assert_str_eq(w_add(&w, SMALL, "gone-1", POD_A), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, SMALL, "gone-2", ""), "10.0.0.3");
	ck_assert_str_eq(w_add(&w, SMALL, "new", ""), "10.0.0.4");
	w.ifname = "net2";
	ck_assert_str_eq(w_add(&w, SMALL, "new-2", POD_A), "10.0.0.5");
	w_sound(&w);
}
END_TEST

/* Of several pools the own address goes before a fresh one of the first pool. */
START_TEST(own_address_in_the_second_pool)
{
	static const char *const conf = "{\"pools\":[\"one\",\"two\"]}";
	auto_fixture struct fixture w = { .now = 0 };

	open_fixture(&w);
	ck_assert_int_eq(w_pool(&w, "one", "{\"subnet\":\"10.1.0.0/29\"}", false), 0);
	ck_assert_int_eq(w_pool(&w, "two", "{\"subnet\":\"10.2.0.0/29\",\"quota\":1}", false), 0);
	ck_assert_str_eq(w_add(&w, conf, "gone-1", POD_A ";IP=10.2.0.3"), "10.2.0.3");
	ck_assert_str_eq(w_add(&w, conf, "new", POD_A), "10.2.0.3");
	w_sound(&w);
	/* a policy that has changed since counts */
	ck_assert_int_eq(
		w_pool(&w, "two", "{\"subnet\":\"10.2.0.0/29\",\"namespaces\":[\"x\"]}", true), 0);
	w_del(&w, "new");
	ck_assert_str_eq(w_add(&w, conf, "gone-2", POD_A), "10.1.0.1");
	w_sound(&w);
}
END_TEST

/* ADD fails for another reason: the old sandbox's lease is as it was. */
START_TEST(nothing_is_taken_over_by_a_failed_add)
{
	static const char *const dual =
		"{\"ranges\":[[{\"subnet\":\"10.0.0.0/29\"}],[{\"subnet\":\"10.9.0.0/30\"}]]}";
	auto_fixture struct fixture w = { .now = 0 };
	struct alloc_check check = { .owner = NULL };

	open_fixture(&w);
	ck_assert_str_eq(w_add(&w, SMALL, "gone-1", POD_A), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, "{\"subnet\":\"10.9.0.0/30\"}", "x", ""), "10.9.0.2");
	ck_assert_int_eq(strncmp(w_add(&w, dual, "new", POD_A), "!101", 4), 0);
	const struct owner old = w_owner(&w, "gone-1");
	check.owner = &old;
	ck_assert_int_eq(alloc_check(&w.m, &check, &w.e), 0);
	w_sound(&w);
}
END_TEST

/* ---- GC beside ADD ---- */

static bool keep_none(const char *container, const char *ifname, const void *arg)
{
	(void)container;
	(void)ifname;
	(void)arg;
	return false;
}

/* GC frees the others, keeps the address of this one, and says that it did not do all. */
START_TEST(gc_says_whom_it_could_not_look_at)
{
	const struct alloc_gc gc = { "net", keep_none, NULL };
	auto_fixture struct fixture w = { .now = 0 };

	open_fixture(&w);
	ck_assert_str_eq(w_add(&w, SMALL, "dark-1", ""), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, SMALL, "gone-1", ""), "10.0.0.3");
	ck_assert_int_eq(alloc_gc(&w.m, &gc, NULL, &w.e), -1);
	ck_assert_int_eq((int)w.e.code, ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "dark-1"));
	ck_assert_str_eq(w_add(&w, SMALL, "dark-1", ""), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, SMALL, "x", "IP=10.0.0.3"), "10.0.0.3");
	w_sound(&w);
}
END_TEST

START_TEST(gc_leaves_what_has_a_record)
{
	const struct alloc_gc gc = { "net", keep_none, NULL };
	struct json *journal = NULL;
	auto_fixture struct fixture w = { .now = 0 };

	open_fixture(&w);
	ck_assert_str_eq(w_add(&w, SMALL, "live-1", ""), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, SMALL, "gone-1", ""), "10.0.0.3");
	ck_assert_str_eq(w_add(&w, SMALL, "none-1", ""), "10.0.0.4");
	ck_assert_str_eq(w_add(&w, SMALL, "gone-again", ""), "10.0.0.5");
	ck_assert_int_eq(alloc_gc(&w.m, &gc, &journal, &w.e), 0);
	ck_assert_uint_eq(json_len(journal), 2);
	json_free(journal);
	ck_assert_str_eq(w_add(&w, SMALL, "live-1", ""), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, SMALL, "gone-again", ""), "10.0.0.5");
	ck_assert_str_eq(w_add(&w, SMALL, "x", "IP=10.0.0.3"), "10.0.0.3");
	ck_assert_str_eq(w_add(&w, SMALL, "y", "IP=10.0.0.4"), "10.0.0.4");
	w_sound(&w);
}
END_TEST

/* ---- the index by pod ---- */

#define KEY "i/n/net/ns/a/net1/4/0a000002"

/* A store of an earlier version has none: that is no damage, and the next change makes it. */
START_TEST(store_of_an_earlier_version)
{
	auto_fixture struct fixture w = { .now = 0 };

	open_fixture(&w);
	ck_assert_str_eq(w_add(&w, SMALL, "gone-1", POD_A), "10.0.0.2");
	w_scribble(&w, KEY, NULL);
	w_scribble(&w, "m/store", "{\"schema\":1,\"boot\":\"" BOOT_1 "\"}");
	w_sound(&w);
	w_del(&w, "nobody");
	ck_assert_str_eq(w_add(&w, SMALL, "new", POD_A), "10.0.0.2");
	w_sound(&w);
}
END_TEST

static uint64_t problems(struct fixture *w, bool repair)
{
	struct verify v = { .repair = repair };

	ck_assert_int_eq(ipam_verify(&w->m, &v, &w->e), 0);
	return v.problems;
}

START_TEST(index_is_verified)
{
	static const char *const values[] = { NULL, "", "nonsense", "a/n/net/4/0a000003" };

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		auto_fixture struct fixture w = { .now = 0 };

		open_fixture(&w);
		ck_assert_str_eq(w_add(&w, SMALL, "gone-1", POD_A), "10.0.0.2");
		w_scribble(&w, KEY, values[i]);
		/* whatever it says, only the same pod's lease is taken over */
		ck_assert_str_eq(w_add(&w, SMALL, "x", POD_B), "10.0.0.3");
		ck_assert_uint_ge(problems(&w, true), 1);
		w_sound(&w);
		ck_assert_str_eq(w_add(&w, SMALL, "new", POD_A), "10.0.0.2");
		w_sound(&w);
	}
}
END_TEST

TEST_PROGRAM("sandbox", sticky_address_comes_back_to_the_pod,
	     sticky_address_survives_late_deletions, sticky_address_that_another_pod_took,
	     sandbox_made_anew_has_its_own_address, sandbox_that_may_live_keeps_its_address,
	     sandbox_made_anew_in_a_full_range, sandbox_made_anew_asks_for_its_address,
	     uid_tells_pods_apart, only_the_same_interface_of_the_same_pod,
	     own_address_in_the_second_pool, nothing_is_taken_over_by_a_failed_add,
	     gc_leaves_what_has_a_record, gc_says_whom_it_could_not_look_at,
	     store_of_an_earlier_version, index_is_verified)
