/* SPDX-License-Identifier: Apache-2.0 */
/* import_test.c: addresses of other IPAMs become leases, and none that another owner holds. */
#include "ipam/admin/import.h"

#include <sys/stat.h>

#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"

#define HOST_LOCAL "{\"subnet\":\"10.0.0.0/29\"}"
#define POOLS      "{\"pools\":[\"v4\",\"v6\"]}"
#define SHARED     "{\"thisNodeOnly\":true,\"range\":\"10.0.0.0/29\"}"
#define APART                                                                                      \
	"{\"thisNodeOnly\":true,\"range\":\"10.0.0.0/29\",\"enable_overlapping_ranges\":false}"

struct lot {
	const char *address, *container, *ifname;
};

/* "ADDRESS state from why;" of each, or the error. */
static const char *run(struct fixture *w, const char *ipam, const struct lot *lots, bool dry_run)
{
	static const char *const states[] = { "new", "ours", "left", "outside" };
	static char out[4096];
	struct import_item items[8] = { 0 };
	auto_ipam_conf struct ipam_conf ic = { .n_pools = 0 };
	struct import x = { &ic, w->network, true, dry_run, items, 0 };
	struct cni_conf conf;

	for (; lots[x.n].address; x.n++) {
		const struct lot *lot = &lots[x.n];

		ck_assert_int_eq(ip_parse(lot->address, &items[x.n].ip), 0);
		items[x.n].owner = (struct owner){ w->network, lot->container, lot->ifname,
						   "team",     lot->container, "" };
	}
	w_conf(w, ipam, &conf);
	*out = '\0';
	if (ipam_conf_decode(&conf, &ic, &w->e) || import_leases(&w->m, &x, NULL, &w->e)) {
		cni_conf_clear(&conf);
		return w_failed(w);
	}
	cni_conf_clear(&conf);
	for (size_t i = 0; i < x.n; i++) {
		char line[800];

		(void)snprintf(line, sizeof(line), "%s %s %s%s%s;", lots[i].address,
			       states[items[i].state], items[i].from, *items[i].why ? " " : "",
			       items[i].why);
		testing_append(out, sizeof(out), line);
	}
	w_sound(w);
	return out;
}

static size_t held(struct fixture *w)
{
	const struct lease_filter all = { .pool = NULL };
	auto_json struct json *list = NULL;

	ck_assert_int_eq(admin_leases(&w->m, &all, &list, &w->e), 0);
	return json_len(list);
}

static int check(struct fixture *w, const char *container)
{
	const struct owner o = w_owner(w, container);
	const struct alloc_check c = { .owner = &o };

	return alloc_check(&w->m, &c, &w->e);
}

/* The addresses are given to nobody, CHECK accepts them, DEL releases them. */
START_TEST(imported_leases_behave_as_our_own)
{
	static const struct lot lots[] = { { "10.0.0.2", "c1", "net1" },
					   { "10.0.0.4", "c2", "net1" },
					   { 0 } };
	auto_fixture struct fixture w;

	fixture_open(&w);
	ck_assert_str_eq(run(&w, HOST_LOCAL, lots, true),
			 "10.0.0.2 new network net;10.0.0.4 new network net;");
	ck_assert_uint_eq(held(&w), 0);
	ck_assert_int_ne(check(&w, "c1"), 0);
	ck_assert_str_eq(run(&w, HOST_LOCAL, lots, false),
			 "10.0.0.2 new network net;10.0.0.4 new network net;");
	ck_assert_uint_eq(held(&w), 2);
	ck_assert_int_eq(check(&w, "c1"), 0);
	ck_assert_int_eq(check(&w, "c2"), 0);
	ck_assert_str_eq(w_add(&w, HOST_LOCAL, "c1", ""), "10.0.0.2"); /* it has it */
	ck_assert_str_eq(w_add(&w, HOST_LOCAL, "c3", ""), "10.0.0.3");
	ck_assert_str_eq(w_add(&w, HOST_LOCAL, "c4", ""), "10.0.0.5");
	ck_assert_str_eq(run(&w, HOST_LOCAL, lots, false),
			 "10.0.0.2 ours network net;10.0.0.4 ours network net;");
	w_del(&w, "c1");
	w_del(&w, "c2");
	ck_assert_uint_eq(held(&w), 2);
	w_sound(&w);
	ck_assert_str_eq(w_add(&w, HOST_LOCAL, "c5", "IP=10.0.0.2"), "10.0.0.2");
}
END_TEST

/* An address of another owner is reported, and its lease is not overwritten. */
START_TEST(conflicting_leases_are_left_out)
{
	static const struct lot lots[] = { { "10.0.0.2", "c9", "net1" },
					   { "10.0.0.5", "c8", "net1" },
					   { "10.0.0.5", "c7", "net1" },
					   { "10.9.0.1", "c6", "net1" },
					   { 0 } };
	static const struct lot mine[] = { { "10.0.0.2", "c1", "net1" }, { 0 } };
	const char *conflict =
		"10.0.0.2 left network net it is leased to container c1, interface net1 "
		"of network net;10.0.0.5 new network net;10.0.0.5 left network net it "
		"is leased to container c8, interface net1 of network net;10.9.0.1 ";
	auto_fixture struct fixture w;

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, HOST_LOCAL, "c1", ""), "10.0.0.2");
	ck_assert_int_eq(strncmp(run(&w, HOST_LOCAL, lots, true), conflict, strlen(conflict)), 0);
	ck_assert_uint_eq(held(&w), 1);
	ck_assert_int_eq(strncmp(run(&w, HOST_LOCAL, lots, false), conflict, strlen(conflict)), 0);
	ck_assert_uint_eq(held(&w), 2);
	ck_assert_int_eq(check(&w, "c1"), 0);
	ck_assert_ptr_nonnull(
		strstr(run(&w, HOST_LOCAL, lots, false),
		       "10.9.0.1 outside  it is in no subnet of this configuration;"));
	/* the same interface, by another configuration */
	ck_assert_str_eq(run(&w, SHARED, mine, false),
			 "10.0.0.2 left whereabouts (no network_name) this interface holds it as "
			 "an address of network net already;");
}
END_TEST

START_TEST(leases_are_imported_into_pools)
{
	static const struct lot lots[] = { { "10.0.0.3", "c1", "net1" },
					   { "fd00::5", "c1", "net1" },
					   { "10.0.0.77", "c2", "net1" },
					   { 0 } };
	auto_fixture struct fixture w;

	fixture_open(&w);
	ck_assert_ptr_nonnull(strstr(run(&w, POOLS, lots, false), "pool v4 does not exist"));
	ck_assert_int_eq(w_pool(&w, "v4",
				"{\"subnet\":\"10.0.0.0/24\",\"ranges\":[\"10.0.0.1-10.0.0.4\"],"
				"\"sticky\":true,\"quota\":2}",
				false),
			 0);
	ck_assert_int_eq(
		w_pool(&w, "v6", "{\"subnet\":\"fd00::/64\",\"thisNodeOnly\":true}", false), 0);
	/* also what is in the subnet and not given out any more */
	ck_assert_str_eq(run(&w, POOLS, lots, false),
			 "10.0.0.3 new pool v4;fd00::5 new pool v6;10.0.0.77 new pool v4;");
	ck_assert_uint_eq(held(&w), 3);
	/* quotas count them */
	ck_assert_int_eq(strncmp(w_add(&w, POOLS, "c3", "K8S_POD_NAMESPACE=team;K8S_POD_NAME=c3"),
				 "!106 ", 5),
			 0);
	w_del(&w, "c1");
	w_del(&w, "c2");
	ck_assert_uint_eq(held(&w), 0);
	w_sound(&w);
	/* the pod's own address comes back to it */
	ck_assert_str_eq(w_add(&w, POOLS, "c4", "K8S_POD_NAMESPACE=team;K8S_POD_NAME=c1"),
			 "10.0.0.3 fd00::1");
}
END_TEST

/* Ranges that look at each other, and one that does not. */
START_TEST(leases_of_other_ranges_are_left_out)
{
	static const struct lot lots[] = { { "10.0.0.1", "c2", "net1" }, { 0 } };
	auto_fixture struct fixture w;

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, APART, "c1", ""), "10.0.0.1");
	ck_assert_str_eq(run(&w, SHARED, lots, false),
			 "10.0.0.1 left whereabouts (no network_name) it is held outside of range "
			 "10.0.0.0/29;");
	w_del(&w, "c1");
	ck_assert_str_eq(run(&w, SHARED, lots, false),
			 "10.0.0.1 new whereabouts (no network_name);");
	ck_assert_str_eq(w_add(&w, APART, "c3", ""), "10.0.0.2");
}
END_TEST

/* Another node may assign the addresses of other blocks. */
START_TEST(leases_are_imported_only_into_own_blocks)
{
	static const struct lot lots[] = { { "10.1.0.4", "c1", "net1" },
					   { "10.1.0.8", "c2", "net1" },
					   { 0 } };
	struct fixture w;

	fixture_open(&w);
	ck_assert_int_eq(
		w_shared(&w, "rail0", "u1", "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":4}"), 0);
	w_node(&w, 1, INT64_MAX);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.4", BLOCK_GRANTED, 1), 0);
	ck_assert_str_eq(
		run(&w, "{\"pool\":\"rail0\"}", lots, false),
		"10.1.0.4 new pool rail0;10.1.0.8 left pool rail0 it is in no block of pool "
		"rail0 that this node may use;");
	ck_assert_uint_eq(w_used(&w, "rail0", "10.1.0.4"), 1);
	ck_assert_str_eq(w_add(&w, "{\"pool\":\"rail0\"}", "c3", ""), "10.1.0.5");
	fixture_close(&w);
}
END_TEST

TEST_PROGRAM("ipam/admin/import", imported_leases_behave_as_our_own,
	     conflicting_leases_are_left_out, leases_are_imported_into_pools,
	     leases_of_other_ranges_are_left_out, leases_are_imported_only_into_own_blocks)
