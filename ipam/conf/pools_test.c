/* SPDX-License-Identifier: Apache-2.0 */
/* pools_test.c: named pools as pods and operators see them. */
#include "ipam/testing/ipam.h"

#define POOL  "{\"pool\":\"rail0\"}"
#define NS(n) "K8S_POD_NAMESPACE=" n ";K8S_POD_NAME=p"

START_TEST(a_pool_must_exist)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	(void)snprintf(w.m.node, sizeof(w.m.node), "node-7");
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "!7 pool rail0 does not exist on node node-7");
	ck_assert_ptr_nonnull(strstr(w.e.detail, "for a pool of this node alone"));
	ck_assert_ptr_nonnull(strstr(w.e.detail, "railctl ipam pool add rail0"));
	ck_assert_int_eq(strncmp(w_status(&w, POOL), "!7", 2), 0);
	ck_assert_int_eq(w_pool(&w, "rail0", "{\"subnet\":\"10.0.0.0/29\"}", false), 0);
	ck_assert_str_eq(w_status(&w, POOL), "");
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.1");
	w_sound(&w);
}
END_TEST

START_TEST(pools_of_one_family_in_order_and_two_families_at_once)
{
	static const char *const conf = "{\"pools\":[\"a\",\"six\",\"b\"]}";
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_int_eq(w_pool(&w, "a", "{\"subnet\":\"10.0.0.0/31\"}", false), 0);
	ck_assert_int_eq(w_pool(&w, "b", "{\"subnet\":\"10.0.1.0/31\"}", false), 0);
	ck_assert_int_eq(
		w_pool(&w, "six", "{\"subnet\":\"fd00::/64\",\"gateway\":\"fd00::\"}", false), 0);
	ck_assert_str_eq(w_add(&w, conf, "c1", ""), "10.0.0.0 fd00::1");
	ck_assert_str_eq(w_add(&w, conf, "c2", ""), "10.0.0.1 fd00::2");
	ck_assert_str_eq(w_add(&w, conf, "c3", ""), "10.0.1.0 fd00::3");
	ck_assert_str_eq(w_add(&w, conf, "c4", "IP=10.0.1.1"), "10.0.1.1 fd00::4");
	ck_assert_str_eq(w_add(&w, conf, "c5", ""),
			 "!101 no address is left in pool a (2 addresses), pool b (2 addresses)");
	ck_assert_str_eq(w_add(&w, conf, "c3", ""), "10.0.1.0 fd00::3");
	w_sound(&w);
}
END_TEST

START_TEST(pools_do_not_overlap)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_int_eq(w_pool(&w, "a", "{\"subnet\":\"10.0.0.0/24\"}", false), 0);
	ck_assert_int_eq(w_pool(&w, "a", "{\"subnet\":\"10.9.0.0/24\"}", false), ERR_BUSY);
	ck_assert_int_eq(w_pool(&w, "b", "{\"subnet\":\"10.0.0.0/16\"}", false), ERR_BUSY);
	ck_assert_str_eq(w.e.msg, "pool b overlaps with pool a in 10.0.0.1-10.0.0.254");
	ck_assert_int_eq(w_pool(&w, "b",
				"{\"subnet\":\"10.0.0.0/16\",\"excludes\":[\"10.0.0.0/24\"]}",
				false),
			 0);
	ck_assert_int_eq(w_pool(&w, "c", "{\"subnet\":\"10.1.0.0/16\"}", true), ERR_NOTFOUND);
	ck_assert_int_eq(w_pool(&w, "b", "{\"subnet\":\"10.0.0.0/16\"}", true), ERR_BUSY);
	ck_assert_int_eq(w_pool(&w, "a", "{\"subnet\":\"10.2.0.0/16\"}", true), 0);
	ck_assert_int_eq(w_pool(&w, "b", "{\"subnet\":\"10.0.0.0/16\"}", true), 0);
	ck_assert_int_eq(w_pool(&w, "a/b", "{\"subnet\":\"10.3.0.0/16\"}", false), ERR_CONFIG);
	ck_assert_int_eq(w_pool(&w, "x", "{\"subnet\":\"10.3.0.0/16\",\"sub\":1}", false),
			 ERR_CONFIG);
	w_sound(&w);
}
END_TEST

START_TEST(only_allowed_namespaces_get_addresses)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_int_eq(w_pool(&w, "rail0",
				"{\"subnet\":\"10.0.0.0/24\",\"namespaces\":[\"a\",\"b\"]}", false),
			 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", NS("a")), "10.0.0.1");
	ck_assert_int_eq(strncmp(w_add(&w, POOL, "c2", NS("c")), "!106", 4), 0);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "pool rail0"));
	ck_assert_ptr_nonnull(strstr(w.e.msg, "\"c\""));
	ck_assert_int_eq(strncmp(w_add(&w, POOL, "c2", ""), "!106", 4), 0);
	ck_assert_int_eq(strncmp(w_add(&w, POOL, "c2", NS("c") ";IP=10.0.0.9"), "!106", 4), 0);
	/* the next pool, which is for all */
	ck_assert_int_eq(w_pool(&w, "free", "{\"subnet\":\"10.0.1.0/31\"}", false), 0);
	ck_assert_str_eq(w_add(&w, "{\"pools\":[\"rail0\",\"free\"]}", "c2", NS("c")), "10.0.1.0");
	/* exhaustion of it counts more than the refusal of the other */
	ck_assert_str_eq(w_add(&w, "{\"pools\":[\"rail0\",\"free\"]}", "c3", NS("c")), "10.0.1.1");
	ck_assert_int_eq(
		strncmp(w_add(&w, "{\"pools\":[\"rail0\",\"free\"]}", "c4", NS("c")), "!101", 4),
		0);
	w_sound(&w);
}
END_TEST

/* The pool decides who may choose an address; others get the next one. */
START_TEST(only_fixed_namespaces_may_request_an_address)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_int_eq(w_pool(&w, "rail0",
				"{\"subnet\":\"10.0.0.0/24\",\"namespaces\":[\"a\",\"b\"],"
				"\"fixedNamespaces\":[\"b\",\"c\"]}",
				false),
			 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", NS("b") ";IP=10.0.0.9"), "10.0.0.9");
	ck_assert_str_eq(w_add(&w, POOL, "c2", NS("a")), "10.0.0.1");
	ck_assert_str_eq(
		w_add(&w, POOL, "c3", NS("a") ";IP=10.0.0.8"),
		"!106 pool rail0: namespace \"a\" may not request a certain address; it is "
		"not in the pool's fixedNamespaces");
	/* It may not use the pool at all. */
	ck_assert_str_eq(w_add(&w, POOL, "c3", NS("c") ";IP=10.0.0.8"),
			 "!106 pool rail0: namespace \"c\" may not use it; it is not in the pool's "
			 "namespaces");
	/* An address that a pod has stays its own. */
	ck_assert_int_eq(
		w_pool(&w, "rail0", "{\"subnet\":\"10.0.0.0/24\",\"fixedNamespaces\":[]}", true),
		0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", NS("b") ";IP=10.0.0.9"), "10.0.0.9");
	ck_assert_int_eq(strncmp(w_add(&w, POOL, "c3", NS("b") ";IP=10.0.0.7"), "!106", 4), 0);
	ck_assert_int_eq(strncmp(w_add(&w, POOL, "c3", "IP=10.0.0.7"), "!106", 4), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c3", NS("b")), "10.0.0.2");
	w_sound(&w);
}
END_TEST

START_TEST(a_quota_bounds_a_namespace)
{
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_int_eq(w_pool(&w, "rail0",
				"{\"subnet\":\"10.0.0.0/24\",\"quota\":{\"*\":1,\"a\":2}}", false),
			 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", NS("a")), "10.0.0.1");
	ck_assert_str_eq(w_add(&w, POOL, "c2", NS("a")), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, POOL, "c3", NS("a")),
			 "!106 pool rail0: namespace \"a\" holds 2 addresses and its quota is 2");
	ck_assert_str_eq(w_add(&w, POOL, "c2", NS("a")), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, POOL, "c3", NS("b")), "10.0.0.3");
	ck_assert_int_eq(strncmp(w_add(&w, POOL, "c4", NS("b")), "!106", 4), 0);
	w_del(&w, "c1");
	ck_assert_str_eq(w_add(&w, POOL, "c4", NS("a")), "10.0.0.4");
	ck_assert_int_eq(w_pool(&w, "rail0", "{\"subnet\":\"10.0.0.0/24\",\"quota\":0}", true), 0);
	ck_assert_int_eq(strncmp(w_add(&w, POOL, "c9", ""), "!106", 4), 0);
	fixture_boot(&w, BOOT_2);
	ck_assert_int_eq(w_pool(&w, "rail0", "{\"subnet\":\"10.0.0.0/24\",\"quota\":2}", true), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", NS("a")), "10.0.0.5");
	w_sound(&w);
}
END_TEST

START_TEST(one_address_a_family_for_old_versions)
{
	static const char *const text = "{\"cniVersion\":\"0.2.0\",\"name\":\"n\",\"ipam\":{"
					"\"ranges\":[[{\"subnet\":\"10.0.0.0/24\"}],"
					"[{\"subnet\":\"10.0.1.0/24\"}]]}}";
	const struct cni_env env = {
		.cmd = CNI_ADD, .container = "c", .ifname = "net1", .args = ""
	};
	auto_ipam_conf struct ipam_conf ic = { .n_pools = 0 };
	auto_alloc struct alloc_result out = { .n = 0 };
	struct cni_conf conf;
	struct request r;
	struct alloc_add add = { .conf = &ic, .request = &r, .one_per_family = true };
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_int_eq(cni_conf_parse(strdup(text), strlen(text), CNI_ADD, &conf, &w.e), 0);
	ck_assert_int_eq(ipam_conf_decode(&conf, &ic, &w.e), 0);
	ck_assert_int_eq(request_load(&env, &conf, &r, &w.e), 0);
	ck_assert_int_eq(alloc_add(&w.m, &add, &out, NULL, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "cniVersion"));
	add.one_per_family = false;
	ck_assert_int_eq(alloc_add(&w.m, &add, &out, NULL, &w.e), 0);
	ck_assert_uint_eq(out.n, 2);
	cni_conf_clear(&conf);
}
END_TEST

static void list_is(struct fixture *w, const char *name, const char *want)
{
	struct json *list = NULL;

	ck_assert_msg(admin_pools(&w->m, name, &list, &w->e) == 0, "%s", w->e.msg);
	auto_free char *text = json_print(list, false);
	ck_assert_str_eq(text, want);
	json_free(list);
}

START_TEST(pools_are_listed_with_their_usage)
{
	struct json *list = NULL;
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	list_is(&w, NULL, "[]");
	ck_assert_int_eq(admin_pools(&w.m, "a", &list, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_NOTFOUND);
	ck_assert_int_eq(w_pool(&w, "b", "{\"subnet\":\"fd00::/64\"}", false), 0);
	ck_assert_int_eq(w_pool(&w, "rail0", "{\"subnet\":\"10.0.0.0/30\"}", false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.1");
	ck_assert_str_eq(w_add(&w, POOL, "c2", ""), "10.0.0.2");
	w_del(&w, "c1");
	list_is(&w, NULL,
		"[{\"name\":\"b\",\"definition\":{\"subnet\":\"fd00::/"
		"64\"},\"from\":\"node\",\"capacity\":"
		"\"18446744073709551615\",\"used\":0,\"resting\":0},"
		"{\"name\":\"rail0\",\"definition\":{\"subnet\":\"10.0.0.0/"
		"30\"},\"from\":\"node\",\"capacity\":2,"
		"\"used\":1,\"resting\":1}]");
	list_is(&w, "b",
		"[{\"name\":\"b\",\"definition\":{\"subnet\":\"fd00::/"
		"64\"},\"from\":\"node\",\"capacity\":"
		"\"18446744073709551615\",\"used\":0,\"resting\":0}]");
}
END_TEST

START_TEST(networks_are_summed_up)
{
	static const char *const conf =
		"{\"ranges\":[[{\"subnet\":\"10.0.0.0/29\"}],[{\"subnet\":\"fd00::/64\"}]]}";
	struct json *list = NULL;
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_int_eq(w_pool(&w, "rail0", "{\"subnet\":\"10.0.0.0/30\"}", false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.1");
	ck_assert_str_eq(w_add(&w, conf, "c2", ""), "10.0.0.2 fd00::2");
	ck_assert_str_eq(w_add(&w, conf, "c3", ""), "10.0.0.3 fd00::3");
	ck_assert_str_eq(w_add(&w, "{\"range\":\"10.0.0.0/29\",\"thisNodeOnly\":true}", "c4", ""),
			 "10.0.0.1");
	w_del(&w, "c3");
	ck_assert_int_eq(admin_networks(&w.m, &list, &w.e), 0);
	auto_free char *text = json_print(list, false);
	ck_assert_str_eq(
		text, "[{\"network\":\"network net\",\"used\":2,\"resting\":2},"
		      "{\"network\":\"whereabouts (no network_name)\",\"used\":1,\"resting\":0}]");
	json_free(list);
}
END_TEST

START_TEST(shrinking_tells_what_is_outside)
{
	auto_json struct json *def = NULL;
	struct admin_pool p = { .name = "rail0", .replace = true };
	const char *text = "{\"subnet\":\"10.0.0.0/29\",\"ranges\":[\"10.0.0.3-10.0.0.6\"]}";
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_int_eq(w_pool(&w, "rail0", "{\"subnet\":\"10.0.0.0/29\"}", false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", ""), "10.0.0.1");
	ck_assert_str_eq(w_add(&w, POOL, "c2", ""), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, POOL, "c3", ""), "10.0.0.3");
	w_del(&w, "c1");
	ck_assert_int_eq(json_parse(text, strlen(text), "t", &def, &w.e), 0);
	p.definition = def;
	ck_assert_int_eq(admin_pool_put(&w.m, &p, &w.e), 0);
	ck_assert_uint_eq(p.outside, 1);
	ck_assert_str_eq(w_add(&w, POOL, "c4", ""), "10.0.0.4");
	ck_assert_int_eq(strncmp(w_add(&w, POOL, "c2", ""), "!103", 4), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c3", ""), "10.0.0.3");
	w_del(&w, "c2");
	ck_assert_str_eq(w_add(&w, POOL, "c2", ""), "10.0.0.5");
	w_sound(&w);
}
END_TEST

START_TEST(a_pool_in_use_is_not_deleted)
{
	struct admin_delete d = { "rail0", false };
	struct json *journal = NULL;
	auto_fixture struct fixture w = { .now = 0 };

	fixture_open(&w);
	ck_assert_int_eq(admin_pool_delete(&w.m, &d, NULL, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_NOTFOUND);
	ck_assert_int_eq(w_pool(&w, "rail0", "{\"subnet\":\"10.0.0.0/29\",\"sticky\":true}", false),
			 0);
	ck_assert_int_eq(w_pool(&w, "rail01", "{\"subnet\":\"10.0.1.0/29\"}", false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", NS("a")), "10.0.0.1");
	ck_assert_str_eq(w_add(&w, POOL, "c2", NS("a")), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail01\"}", "c3", ""), "10.0.1.1");
	w_del(&w, "c1");
	ck_assert_int_eq(admin_pool_delete(&w.m, &d, NULL, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(w.e.msg, "1 address is held"));
	d.force = true;
	ck_assert_int_eq(admin_pool_delete(&w.m, &d, &journal, &w.e), 0);
	ck_assert_uint_eq(json_len(journal), 1);
	json_free(journal);
	w_sound(&w);
	w_del(&w, "c2");
	list_is(&w, NULL,
		"[{\"name\":\"rail01\",\"definition\":{\"subnet\":\"10.0.1.0/"
		"29\"},\"from\":\"node\",\"capacity\":6,"
		"\"used\":1,\"resting\":0}]");
	ck_assert_int_eq(w_pool(&w, "rail0", "{\"subnet\":\"10.0.0.0/29\"}", false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c9", NS("a")), "10.0.0.1");
	w_sound(&w);
}
END_TEST

START_TEST(leases_are_listed_and_released)
{
	struct lease_filter f = { .pool = "rail0" }, none = { .pool = NULL };
	struct json *list = NULL;
	auto_fixture struct fixture w = { .now = 0 };
	uint64_t n = 0;

	fixture_open(&w);
	ck_assert_int_eq(w_pool(&w, "rail0", "{\"subnet\":\"10.0.0.0/29\"}", false), 0);
	ck_assert_str_eq(w_add(&w, POOL, "c1", NS("a")), "10.0.0.1");
	ck_assert_str_eq(w_add(&w, POOL, "c2", NS("b")), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, "{\"subnet\":\"10.0.0.0/29\"}", "c3", ""), "10.0.0.2");
	w_del(&w, "c1");
	ck_assert_int_eq(admin_leases(&w.m, &f, &list, &w.e), 0);
	ck_assert_uint_eq(json_len(list), 1);
	const struct json *c2 = json_first(list);
	ck_assert_str_eq(json_str(json_get(c2, "address")), "10.0.0.2");
	ck_assert_str_eq(json_str(json_get(c2, "pool")), "rail0");
	ck_assert_str_eq(json_str(json_get(c2, "scope")), "pool rail0");
	ck_assert_str_eq(json_str(json_get(c2, "container")), "c2");
	ck_assert_str_eq(json_str(json_get(c2, "namespace")), "b");
	ck_assert_str_eq(json_str(json_get(c2, "since")), "2026-11-21T00:00:00.000000Z");
	json_free(list);
	f.resting = true;
	ck_assert_int_eq(admin_leases(&w.m, &f, &list, &w.e), 0);
	ck_assert_uint_eq(json_len(list), 2);
	json_free(list);
	ck_assert_int_eq(admin_release(&w.m, &none, &n, NULL, &w.e), -1);
	ck_assert_int_eq(w.e.code, ERR_CONFIG);
	ck_assert_int_eq(ip_parse("10.0.0.2", &none.address), 0);
	none.container = "c3";
	ck_assert_int_eq(admin_release(&w.m, &none, &n, NULL, &w.e), 0);
	ck_assert_uint_eq(n, 1);
	none.container = NULL;
	none.ns = "b";
	ck_assert_int_eq(admin_release(&w.m, &none, &n, NULL, &w.e), 0);
	ck_assert_uint_eq(n, 1);
	ck_assert_int_eq(admin_release(&w.m, &none, &n, NULL, &w.e), 0);
	ck_assert_uint_eq(n, 0);
	w_sound(&w);
}
END_TEST

TEST_PROGRAM("pools", a_pool_must_exist, pools_of_one_family_in_order_and_two_families_at_once,
	     pools_do_not_overlap, only_allowed_namespaces_get_addresses,
	     only_fixed_namespaces_may_request_an_address, a_quota_bounds_a_namespace,
	     one_address_a_family_for_old_versions, pools_are_listed_with_their_usage,
	     networks_are_summed_up, shrinking_tells_what_is_outside, a_pool_in_use_is_not_deleted,
	     leases_are_listed_and_released)
