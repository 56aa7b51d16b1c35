/* SPDX-License-Identifier: Apache-2.0 */
/* presence_test.c: what the object of a node says about shared pools. */
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "railheadd/testing/driver_ask.h"

static unsigned writes(void)
{
	return memory_store_counts(b.store).writes;
}

START_TEST(a_node_reports_each_generation)
{
	begin();
	pool("rail0", RAIL);
	pool("rail1", OTHER);
	begin_driver();
	ready();
	loop_until(b.base, node_says, "\"name\":\"rail0\",\"uid\":\"uid-1\",\"generation\":1}");
	loop_until(b.base, node_says, "\"name\":\"rail1\",\"uid\":\"uid-2\",\"generation\":1}");
	pool("rail0", "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":8,\"warm\":1,\"cooldown\":0,"
		      "\"excludes\":[\"10.1.0.9\"]}");
	loop_until(b.base, node_says, "\"name\":\"rail0\",\"uid\":\"uid-1\",\"generation\":2}");
	memory_store_delete(b.store, CLUSTER_POOL, "rail1");
	loop_until(b.base, node_says,
		   "\"pools\":[{\"name\":\"rail0\",\"uid\":\"uid-1\",\"generation\":2}]");
	end();
}
END_TEST

START_TEST(a_node_says_why_it_has_not_taken_a_pool_over)
{
	begin();
	ck_assert_int_eq(w_pool(&w, "own", "{\"subnet\":\"10.1.0.0/24\"}", false), 0);
	pool("rail0", RAIL);
	begin_driver();
	ready();
	loop_until(b.base, node_says,
		   "\"name\":\"rail0\",\"uid\":\"uid-1\",\"generation\":0,\"waits\":"
		   "\"pool rail0 overlaps with pool own");
	pool("rail1", "{\"subnet\":\"10.1.0.0/25\",\"blockSize\":8}");
	loop_until(b.base, node_says, "\"waits\":\"it overlaps the older pool rail0\"");
	end();
}
END_TEST

static bool has_looked(const void *arg)
{
	return memory_store_counts(b.store).node_gets > *(const unsigned *)arg;
}

/* An API server gives the keys of an object in an order of its own. */
START_TEST(keys_in_another_order_are_the_same_report)
{
	begin();
	pool("rail0", RAIL);
	begin_driver();
	ready();
	loop_until(b.base, node_says, "\"generation\":1}");

	auto_free char *text = memory_store_text(b.store, CLUSTER_NODE, "n1");
	char *list = strstr(text, "\"pools\":");
	char other[512];

	ck_assert_ptr_nonnull(list);
	(void)snprintf(other, sizeof(other),
		       "%.*s\"pools\":[{\"generation\":2,\"name\":\"rail0\",\"uid\":\"uid-1\"}]}",
		       (int)(list - text), text);
	unsigned looks = memory_store_counts(b.store).node_gets, before = writes();
	memory_store_put(b.store, CLUSTER_NODE, "n1", "n1", other);
	pool("rail0", RAIL);
	loop_until(b.base, has_looked, &looks);
	/* A later report is written once, and none before it. */
	pool("rail0", RAIL);
	loop_until(b.base, node_says, "\"generation\":3}");
	ck_assert_uint_eq(writes(), before + 1);
	end();
}
END_TEST

static bool has_lease(const void *arg)
{
	return *w_add(&w, "{\"pool\":\"rail0\"}", arg, "") != '!';
}

/* Writes of the object do not grow with the number of pods. */
START_TEST(pods_write_no_report)
{
	char id[16];

	begin();
	pool("rail0", "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":64,\"warm\":1,\"cooldown\":0}");
	begin_driver();
	ready();
	loop_until(b.base, node_says, "\"name\":\"rail0\"");
	loop_until(b.base, has_lease, "c0");
	unsigned before = writes();
	for (int i = 1; i < 50; i++) {
		(void)snprintf(id, sizeof(id), "c%d", i);
		ck_assert(has_lease(id));
		driver_look(b.driver);
		loop_until(b.base, follows_both, NULL);
	}
	ck_assert_uint_eq(writes(), before);
	end();
}
END_TEST

static struct json *rails_of(const char *text)
{
	struct json *list = NULL;
	struct err e;

	ck_assert_int_eq(json_parse(text, strlen(text), "rails", &list, &e), 0);
	return list;
}

static bool says_no_rails(const void *arg)
{
	return node_says("\"version\"") && !node_says(arg);
}

#define LEAF "[{\"rail\":0,\"interface\":\"eth1\",\"chassis\":\"mac a\"}]"

/* Until an agent knows its rails, those that an earlier one has written stay. */
START_TEST(a_node_says_how_its_rails_are_cabled)
{
	begin();
	memory_store_put(b.store, CLUSTER_NODE, "n1", "n1", "{\"rails\":" LEAF "}");
	begin_driver();
	ready();
	loop_until(b.base, node_says, "\"version\"");
	ck_assert(node_says("\"rails\":" LEAF));
	driver_rails(b.driver, rails_of("[{\"rail\":0,\"interface\":\"eth2\"}]"));
	loop_until(b.base, node_says, "\"rails\":[{\"rail\":0,\"interface\":\"eth2\"}]");
	driver_rails(b.driver, rails_of("[{\"interface\":\"eth2\",\"rail\":0}]"));
	driver_rails(b.driver, NULL);
	pool("rail0", RAIL);
	loop_until(b.base, node_says, "\"generation\":1}");
	ck_assert(node_says("\"eth2\""));
	/* An agent that does not listen. */
	driver_rails(b.driver, rails_of("[]"));
	pool("rail0", OTHER);
	loop_until(b.base, says_no_rails, "\"rails\"");
	end();
}
END_TEST

static bool is_refused(const void *arg)
{
	auto_json struct json *status = json_new_object();
	struct err e;

	(void)arg;
	ck_assert_int_eq(driver_status(b.driver, status, &e), 0);
	return json_get(status, "refused") != NULL;
}

/* Else nobody learns which right is missing, and `cluster pool open` waits for this node. */
START_TEST(a_report_that_is_refused_is_said)
{
	begin();
	pool("rail0", RAIL);
	begin_driver();
	ready();
	loop_until(b.base, node_says, "\"generation\":1}");
	ck_assert(!is_refused(NULL));
	memory_store_fail(b.store, CLUSTER_REFUSED, 1);
	pool("rail0", RAIL);
	loop_until(b.base, is_refused, NULL);
	loop_until(b.base, node_says, "\"generation\":2}");
	end();
}
END_TEST

static bool is_logged(const void *arg)
{
	char text[4096] = "";

	(void)!pread(w.ctx.log.fd, text, sizeof(text) - 1, 0);
	return strstr(text, arg) != NULL;
}

/* The address is in the middle of the block. */
START_TEST(a_node_says_who_has_a_lost_loan)
{
	static const char block[] = "rail0-0000000000000000000000000a010010";
	struct block_record loan = { .key = w_block_key("rail0", "10.1.0.16"),
				     .state = BLOCK_GRANTED,
				     .token = 5,
				     .epoch = 3 };

	begin();
	w.ctx.log = (struct log){ .fd = memfd_create("log", MFD_CLOEXEC), .tag = "railheadd" };
	ck_assert_int_ge(w.ctx.log.fd, 0);
	ck_assert_int_eq(w_shared(&w, "rail0", "uid-1", RAIL), 0);
	w_node(&w, 3, INT64_MAX);
	loan.key.one = 5;
	ck_assert_int_eq(blocks_put_loans(&w.m, &loan, NULL, &w.e), 0);
	ck_assert_str_eq(
		w_add(&w, "{\"pool\":\"rail0\"}", "c1", "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=web"),
		"10.1.0.20");
	loan.state = BLOCK_LOST;
	loan.epoch = 0;
	ck_assert_int_eq(blocks_put_loans(&w.m, &loan, NULL, &w.e), 0);
	pool("rail0", RAIL);
	memory_store_put(b.store, CLUSTER_BLOCK, block, "n2",
			 "{\"poolUID\":\"uid-1\",\"node\":\"n2\",\"holder\":\"h\",\"token\":"
			 "\"0000000000000007\",\"touched\":1,\"used\":1}");
	begin_driver();
	ready();
	loop_until(b.base, is_logged,
		   "shared pool rail0: the address 10.1.0.20 is lost: node n2 has it; nothing more "
		   "of it is assigned; pods that have it: ns/web (net1 10.1.0.20)");
	(void)close(w.ctx.log.fd);
	w.ctx.log.fd = -1;
	end();
}
END_TEST

static void number(const char *text)
{
	testing_file("/mnt/etc/node.json", 0600, text);
	driver_look(b.driver);
}

/* So many other nodes have the number of this one. */
static bool number_conflicts_are(const void *arg)
{
	auto_json struct json *status = json_new_object();
	struct err e;

	ck_assert_int_eq(driver_status(b.driver, status, &e), 0);
	return json_num(json_get(json_get(status, "conflicts"), "numbers")) == *(const int *)arg;
}

/* Slices need no pool of the cluster. */
START_TEST(a_node_reports_its_number_and_finds_another_with_it)
{
	const int none = 0, one = 1;

	begin();
	w.ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	memory_store_put(b.store, CLUSTER_NODE, "n2", "n2", "{\"number\":7}");
	begin_driver();
	ready();
	loop_until(b.base, node_says, "\"version\"");
	ck_assert(!node_says("\"number\""));
	ck_assert(number_conflicts_are(&none));
	number("{\"number\":7}");
	loop_until(b.base, node_says, "\"number\":7");
	loop_until(b.base, number_conflicts_are, &one);
	number("{\"labels\":{\"leaf\":\"g3\"}}");
	loop_until(b.base, number_conflicts_are, &none);
	ck_assert(!node_says("\"number\""));
	number("{\"number\":1}");
	loop_until(b.base, node_says, "\"number\":1");
	ck_assert(number_conflicts_are(&none));
	end();
}
END_TEST

TEST_PROGRAM("presence", a_node_says_how_its_rails_are_cabled, a_node_says_who_has_a_lost_loan,
	     a_node_reports_each_generation, a_node_says_why_it_has_not_taken_a_pool_over,
	     keys_in_another_order_are_the_same_report, pods_write_no_report,
	     a_report_that_is_refused_is_said, a_node_reports_its_number_and_finds_another_with_it)
