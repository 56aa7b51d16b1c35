/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses that are free in a source's own scope and in use all the same. */
#include "ipam/testing/blocks.h"
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
	ck_assert_int_eq(ops->commit(t, &w.e), 0);
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

/* ---- addresses of the node itself ---- */

static const char *on_the_node; /* one address; "?": they are not known */
static unsigned asked;

static int node_has(struct ip ip, struct err *e)
{
	char text[IP_STR_LEN];

	asked++;
	if (strcmp(on_the_node, "?") == 0)
		return err_set(e, ERR_KERNEL, 0, "no answer");
	return strcmp(ip_format(ip, text), on_the_node) == 0;
}

static const char *add_on_node(struct fixture *w, const char *ipam, const char *id,
			       const char *args)
{
	asked = 0;
	return w_add_as(w, (struct alloc_add){ .node = node_has, .probes = true }, ipam, id, args);
}

#define SMALL "{\"subnet\":\"10.0.0.0/29\",\"cooldown\":0}"

START_TEST(an_address_of_the_node_is_skipped)
{
	auto_fixture struct fixture w;

	fixture_open(&w);
	on_the_node = "10.0.0.2";
	ck_assert_str_eq(add_on_node(&w, SMALL, "c1", ""), "10.0.0.3");
	ck_assert_str_eq(add_on_node(&w, SMALL, "c2", ""), "10.0.0.4");
	ck_assert_uint_eq(asked, 1); /* the search does not begin at the node's again */
	ck_assert_str_eq(add_on_node(&w, SMALL, "c2", ""), "10.0.0.4");
	ck_assert_str_eq(add_on_node(&w, SMALL, "c3", "IP=10.0.0.2"),
			 "!103 address 10.0.0.2 is in use by the node itself");
	on_the_node = "10.0.0.5";
	ck_assert_str_eq(add_on_node(&w, SMALL, "c3", ""), "10.0.0.6");
	/* The first one that was skipped is the node's no longer. */
	ck_assert_str_eq(add_on_node(&w, SMALL, "c4", ""), "10.0.0.2");
	ck_assert_int_eq(*add_on_node(&w, SMALL, "c5", ""), '!');
	ck_assert_int_eq(w.e.code, ERR_EXHAUSTED);
	on_the_node = "";
	ck_assert_str_eq(add_on_node(&w, SMALL, "c5", ""), "10.0.0.5");
	w_sound(&w);
}
END_TEST

START_TEST(a_released_address_that_the_node_took_is_skipped)
{
	static const char pod[] = "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web";
	static const char sticky[] = "{\"subnet\":\"10.0.0.0/29\",\"cooldown\":0,\"sticky\":true}";
	auto_fixture struct fixture w;

	fixture_open(&w);
	on_the_node = "";
	ck_assert_str_eq(add_on_node(&w, sticky, "c1", pod), "10.0.0.2");
	w_del(&w, "c1");
	on_the_node = "10.0.0.2";
	ck_assert_str_eq(add_on_node(&w, sticky, "c2", pod), "10.0.0.3");
	for (int i = 0; i < 5; i++) {
		ck_assert_str_ne(add_on_node(&w, sticky, "c3", ""), "10.0.0.2");
		ck_assert_int_ne(*w.text, '!');
		w_del(&w, "c3");
	}
}
END_TEST

START_TEST(an_address_of_the_node_in_a_block_is_skipped)
{
	static const char conf[] = "{\"pool\":\"rail0\"}";
	auto_fixture struct fixture w;

	fixture_open(&w);
	ck_assert_int_eq(w_shared(&w, "rail0", "u1",
				  "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":4,\"cooldown\":0}"),
			 0);
	w_node(&w, 3, INT64_MAX);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.16", BLOCK_GRANTED, 3), 0);
	on_the_node = "10.1.0.16";
	ck_assert_str_eq(add_on_node(&w, conf, "c1", ""), "10.1.0.17");
	ck_assert_str_eq(add_on_node(&w, conf, "c2", ""), "10.1.0.18");
	w_del(&w, "c2");
	ck_assert_str_eq(add_on_node(&w, conf, "c2", "IP=10.1.0.16"),
			 "!103 address 10.1.0.16 is in use by the node itself");
	on_the_node = "10.1.0.18";
	ck_assert_str_eq(add_on_node(&w, conf, "c2", ""), "10.1.0.16");
	ck_assert_str_eq(add_on_node(&w, conf, "c3", ""), "10.1.0.19");
	ck_assert_int_eq(*add_on_node(&w, conf, "c4", ""), '!');
	ck_assert_int_eq(w.e.code, ERR_EXHAUSTED);
	w_sound(&w);
}
END_TEST

START_TEST(without_an_answer_about_the_node_nothing_is_assigned)
{
	auto_fixture struct fixture w;

	fixture_open(&w);
	on_the_node = "?";
	ck_assert_str_eq(add_on_node(&w, SMALL, "c1", ""), "!100 no answer");
	ck_assert_str_eq(add_on_node(&w, SMALL, "c1", "IP=10.0.0.3"), "!100 no answer");
	on_the_node = "";
	ck_assert_str_eq(add_on_node(&w, SMALL, "c1", ""), "10.0.0.2");
}
END_TEST

static int node_has_all(struct ip ip, struct err *e)
{
	(void)ip;
	(void)e;
	asked++;
	return 1;
}

/* A search asks twice for one address. */
START_TEST(an_address_of_the_node_counts_once)
{
	struct overlap x = { .node = node_has_all };
	struct ip ip;

	ck_assert_int_eq(ip_parse("10.0.0.0", &ip), 0);
	asked = 0;
	for (unsigned i = 1; i <= 2048; i++) {
		ip.v += i % 2;
		ck_assert(overlap_is_of_node(&x, ip) && !x.failed);
	}
	ck_assert_uint_eq(asked, 1024);
	ip.v++;
	ck_assert(overlap_is_of_node(&x, ip) && x.failed);
}
END_TEST

TEST_PROGRAM("ipam/alloc/overlap", one_range_looks_and_the_other_does_not,
	     one_range_does_not_look_and_the_other_does, other_ranges_do_not_overlap,
	     leases_of_earlier_versions_count, what_host_local_has_on_file_is_not_given,
	     an_unreadable_folder_fails_the_add, an_address_of_the_node_is_skipped,
	     a_released_address_that_the_node_took_is_skipped,
	     an_address_of_the_node_in_a_block_is_skipped, an_address_of_the_node_counts_once,
	     without_an_answer_about_the_node_nothing_is_assigned)
