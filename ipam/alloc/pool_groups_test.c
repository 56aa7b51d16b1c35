/* SPDX-License-Identifier: Apache-2.0 */
/* pool_groups_test.c: an ADD for several interfaces takes an address of each group of pools. */
#include "ipam/testing/ipam.h"

#define POOL(net, last)                                                                            \
	"{\"subnet\":\"" net ".0/24\",\"cooldown\":0,\"ranges\":[\"" net ".5-" net "." last "\"]}"
#define SIX "{\"subnet\":\"fd00:1::/64\",\"ranges\":[\"fd00:1::5-fd00:1::9\"]}"

static void open_pools(struct fixture *w)
{
	fixture_open(w);
	ck_assert_int_eq(w_pool(w, "rail0", POOL("10.1.0", "6"), false), 0);
	ck_assert_int_eq(w_pool(w, "rail1", POOL("10.2.0", "9"), false), 0);
	ck_assert_int_eq(w_pool(w, "six", SIX, false), 0);
}

START_TEST(each_group_has_an_address_of_each_family)
{
	static const char conf[] = "{\"pools\":[[\"rail0\",\"six\"],[\"rail1\",\"six\"]]}";
	auto_fixture struct fixture w;

	open_pools(&w);
	ck_assert_str_eq(w_add(&w, conf, "c1", ""), "10.1.0.5 fd00:1::5 10.2.0.5 fd00:1::6");
	/* The same ADD once more has the same addresses in the same groups. */
	ck_assert_str_eq(w_add(&w, conf, "c1", ""), "10.1.0.5 fd00:1::5 10.2.0.5 fd00:1::6");
	w_del(&w, "c1");
	w_sound(&w);
}
END_TEST

START_TEST(the_grants_name_their_group)
{
	const struct cni_env env = {
		.cmd = CNI_ADD, .container = "c1", .ifname = "net1", .args = ""
	};
	auto_ipam_conf struct ipam_conf ic = { .n_pools = 0 };
	auto_alloc struct alloc_result out = { .n = 0 };
	auto_fixture struct fixture w;
	struct cni_conf conf;
	struct request r;

	open_pools(&w);
	w_conf(&w, "{\"pools\":[[\"rail1\"],[\"rail1\"],[\"rail0\"]]}", &conf);
	const struct alloc_add how = { .conf = &ic, .request = &r };
	ck_assert_int_eq(ipam_conf_decode(&conf, &ic, &w.e) | request_load(&env, &conf, &r, &w.e),
			 0);
	ck_assert_int_eq(alloc_add(&w.m, &how, &out, NULL, &w.e), 0);
	ck_assert_uint_eq(out.n, 3);
	for (unsigned i = 0; i < 3; i++)
		ck_assert_uint_eq(out.grants[i].source->group, i + 1);
	ck_assert(!ip_equal(out.grants[0].ip, out.grants[1].ip));
	cni_conf_clear(&conf);
}
END_TEST

/* rail0 has two addresses: the third interface gets none, and so nobody does. */
START_TEST(all_groups_or_none)
{
	auto_fixture struct fixture w;

	open_pools(&w);
	ck_assert_ptr_nonnull(
		strstr(w_add(&w, "{\"pools\":[[\"rail0\"],[\"rail0\"],[\"rail0\"]]}", "c1", ""),
		       "no address is left in pool rail0"));
	ck_assert_str_eq(w_add(&w, "{\"pools\":[[\"rail0\"],[\"rail0\"]]}", "c2", ""),
			 "10.1.0.5 10.1.0.6");
	w_sound(&w);
}
END_TEST

TEST_PROGRAM("ipam/alloc/pool_groups", each_group_has_an_address_of_each_family,
	     the_grants_name_their_group, all_groups_or_none)
