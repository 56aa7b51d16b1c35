/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that are free in a source's own scope and in use all the same. */
#include "ipam/testing/ipam.h"

#include <sys/stat.h>

#define RANGE  "{\"thisNodeOnly\":true,\"range\":\"10.0.0.0/30\""
#define SHARED RANGE "}"
#define APART  RANGE ",\"enable_overlapping_ranges\":false}"
#define WIDER  "{\"thisNodeOnly\":true,\"range\":\"10.0.0.0/29\"}"
#define WIDE_APART                                                                                 \
	"{\"thisNodeOnly\":true,\"range\":\"10.0.0.0/29\",\"enable_overlapping_ranges\":false}"
#define NAMED RANGE ",\"network_name\":\"other\"}"

static void refused(struct fixture *w, const char *ipam, const char *id, const char *args, int code)
{
	char want[16];
	const char *have = w_add(w, ipam, id, args);

	(void)snprintf(want, sizeof(want), "!%d ", code);
	ck_assert_msg(strncmp(have, want, strlen(want)) == 0, "%s: %s", ipam, have);
}

/* One CIDR in two networks, which differ in the flag. */
static void one_range(const char *one, const char *other)
{
	auto_fixture struct fixture w;

	fixture_open(&w);
	w.network = "net-a";
	ck_assert_str_eq(w_add(&w, one, "c1", ""), "10.0.0.1");
	w.network = "net-b";
	ck_assert_str_eq(w_add(&w, other, "c2", ""), "10.0.0.2");
	refused(&w, other, "c3", "", ERR_EXHAUSTED);
	refused(&w, other, "c3", "IP=10.0.0.1", ERR_BUSY);
	w.network = "net-a";
	refused(&w, one, "c3", "IP=10.0.0.2", ERR_BUSY);
	w_del(&w, "c1"); /* what is released is free for both */
	w.network = "net-b";
	ck_assert_str_eq(w_add(&w, other, "c3", ""), "10.0.0.1");
}

START_TEST(one_range_looks_and_the_other_does_not)
{
	one_range(SHARED, APART);
}
END_TEST

START_TEST(one_range_does_not_look_and_the_other_does)
{
	one_range(APART, SHARED);
}
END_TEST

/* The flag decides whether other ranges that overlap are looked at. */
START_TEST(other_ranges_do_not_overlap)
{
	auto_fixture struct fixture w;

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, APART, "c1", ""), "10.0.0.1");
	ck_assert_str_eq(w_add(&w, WIDE_APART, "c2", ""), "10.0.0.1"); /* both do not look */
	ck_assert_str_eq(w_add(&w, WIDER, "c3", ""), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, SHARED, "c4", "IP=10.0.0.1"), "!103 address 10.0.0.1 is held "
								 "outside of range 10.0.0.0/30");
	/* a lease of the wider range is none of the narrow one's that does not look */
	ck_assert_str_eq(w_add(&w, APART, "c5", ""), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, NAMED, "c6", ""), "10.0.0.1"); /* another network_name */
}
END_TEST

/* A lease of an earlier version does not say of which range it is: it counts for each. */
START_TEST(leases_of_earlier_versions_count)
{
	auto_fixture struct fixture w;
	struct store_txn *t;
	enum store_commit outcome;
	struct key k;
	struct ip ip;

	fixture_open(&w);
	ck_assert_str_eq(w_add(&w, SHARED, "c1", ""), "10.0.0.1");
	ck_assert_int_eq(ip_parse("10.0.0.1", &ip), 0);
	key_of_address(&k, "w/", ip);
	const struct store_ops *ops = w.m.store->ops;
	ck_assert_int_eq(ops->begin(w.m.store, STORE_WRITE, &t, &w.e), 0);
	ck_assert_int_eq(ops->put(t, k.s,
				  "{\"state\":\"leased\",\"network\":\"net\",\"container\":\"c1\","
				  "\"ifname\":\"net1\",\"boot\":\"" BOOT_1 "\",\"since\":\"1\"}",
				  &w.e),
			 0);
	ck_assert_int_eq(ops->commit(t, &outcome, &w.e), 0);
	ck_assert_str_eq(w_add(&w, APART, "c2", ""), "10.0.0.2");
	ck_assert_str_eq(w_add(&w, WIDE_APART, "c3", ""), "10.0.0.2");
}
END_TEST

#define HOST_LOCAL "{\"subnet\":\"10.0.0.0/29\"}"

static void host_local_fixture(struct fixture *w)
{
	fixture_open(w);
	w->ctx.cni_dir = "/mnt/cni";
	ck_assert_int_eq(mkdir("/mnt/cni", 0700) | mkdir("/mnt/cni/networks", 0700) |
				 mkdir("/mnt/cni/networks/net", 0700),
			 0);
}

/* Pods that host-local gave addresses live on after the node was moved. */
START_TEST(what_host_local_has_on_file_is_not_given)
{
	auto_fixture struct fixture w;

	host_local_fixture(&w);
	testing_file("/mnt/cni/networks/net/10.0.0.2", 0600, "old\r\nnet1");
	testing_file("/mnt/cni/networks/net/10.0.0.4", 0600, "what nobody can read");
	testing_file("/mnt/cni/networks/net/last_reserved_ip.0", 0600, "10.0.0.4");
	testing_file("/mnt/cni/networks/net/lock", 0600, "");
	ck_assert_str_eq(w_add(&w, HOST_LOCAL, "c1", ""), "10.0.0.3");
	ck_assert_str_eq(w_add(&w, HOST_LOCAL, "c2", ""), "10.0.0.5");
	refused(&w, HOST_LOCAL, "c3", "IP=10.0.0.4", ERR_BUSY);
	ck_assert_str_eq(w_add(&w, HOST_LOCAL, "c3", ""), "10.0.0.6");
	refused(&w, HOST_LOCAL, "c4", "", ERR_EXHAUSTED);
	ck_assert_int_eq(unlink("/mnt/cni/networks/net/10.0.0.2"), 0);
	ck_assert_str_eq(w_add(&w, HOST_LOCAL, "c4", ""), "10.0.0.2");
	w.network = "another"; /* host-local keeps its networks apart, and so do we */
	ck_assert_str_eq(w_add(&w, HOST_LOCAL, "c5", ""), "10.0.0.2");
}
END_TEST

/* A folder that cannot be looked into says nothing of what is in it. */
START_TEST(an_unreadable_folder_fails_the_add)
{
	auto_fixture struct fixture w;

	host_local_fixture(&w);
	ck_assert_int_eq(rmdir("/mnt/cni/networks/net"), 0);
	ck_assert_int_eq(symlink("net", "/mnt/cni/networks/net"), 0);
	refused(&w, HOST_LOCAL, "c1", "", ERR_IO);
	ck_assert_int_eq(unlink("/mnt/cni/networks/net"), 0);
	ck_assert_str_eq(w_add(&w, HOST_LOCAL, "c1", ""), "10.0.0.2");
}
END_TEST

TEST_PROGRAM("ipam/alloc/overlap", one_range_looks_and_the_other_does_not,
	     one_range_does_not_look_and_the_other_does, other_ranges_do_not_overlap,
	     leases_of_earlier_versions_count, what_host_local_has_on_file_is_not_given,
	     an_unreadable_folder_fails_the_add)
