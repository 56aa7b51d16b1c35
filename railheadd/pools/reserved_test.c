/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reserved_test.c: a driver in a cluster that reserves addresses, before and after it knows them.
 */
#include "railheadd/pools/reserved.h"

#include <sys/mman.h>

#include "ipam/admin/admin.h"
#include "lib/net/addr.h"
#include "lib/net/link.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"
#include "railheadd/pools/reserved_change.h"
#include "railheadd/testing/driver_ask.h"

#define SMALL "{\"subnet\":\"10.1.0.0/29\",\"blockSize\":4,\"warm\":0,\"cooldown\":0}"
#define WHOLE "{\"subnet\":\"10.1.0.0/29\",\"blockSize\":8,\"warm\":0,\"cooldown\":0}"

#define LOOK_MS 50

static struct reserved *reserved;

static void cluster_reserves(const char *value)
{
	memory_store_put(b.store, CLUSTER_RESERVED, "cluster", "", value);
}

/* The driver waits for the reserved addresses; they are followed later. */
static void begin_waiting(void)
{
	const struct driver_conf conf = { .ctx = &w.ctx,
					  .base = b.base,
					  .store = memory_store_ops(b.store),
					  .ipam = &w.m,
					  .node = "n1",
					  .hold = 600 * SECOND,
					  .renew = 60 * SECOND,
					  .retry = SECOND / 100,
					  .reserves = true };
	struct err e;

	ck_assert_int_eq(driver_new(&conf, &b.driver, &e), 0);
}

static void follow_reserved(void)
{
	const struct reserved_conf conf = { &w.ctx, b.base,   memory_store_ops(b.store),
					    &w.m,   b.driver, "n1",
					    LOOK_MS };
	struct err e;

	ck_assert_int_eq(reserved_new(&conf, &reserved, &e), 0);
}

static bool follows_three(const void *arg)
{
	struct memory_counts counts = memory_store_counts(b.store);

	(void)arg;
	return counts.running == 3 && counts.watches >= 3;
}

static void begin_with(const char *definition, const char *value)
{
	begin();
	if (value)
		cluster_reserves(value);
	pool("rail0", definition);
	begin_waiting();
	follow_reserved();
	loop_until(b.base, has_health, "ok");
	loop_until(b.base, follows_three, NULL);
	loop_until(b.base, knows_pool, "rail0");
}

static void begin_all(const char *value)
{
	begin_with(SMALL, value);
}

static void end_all(void)
{
	reserved_free(reserved);
	end();
}

static const char *add(const char *pod)
{
	return w_add(&w, "{\"pool\":\"rail0\"}", pod, "");
}

/* All addresses that the node gets; one ADD after the other. */
static void gets(const char *const *want)
{
	struct outcome o = { .done = false };
	char pod[16];

	for (int i = 0; want[i]; i++) {
		(void)snprintf(pod, sizeof(pod), "c%d", i);
		ck_assert_int_eq(need("rail0", &o), 0);
		ck_assert_str_eq(add(pod), want[i]);
	}
	ck_assert_int_eq(need("rail0", &o), ERR_EXHAUSTED);
}

START_TEST(reserved_addresses_are_not_assigned)
{
	auto_json struct json *blocks = NULL;
	struct err e;

	/* The second block has no other address, so it is not even claimed. */
	begin_all("{\"ranges\":[\"10.1.0.2\",\"10.1.0.4/30\",\"10.9.0.0/16\"]}");
	gets((const char *const[]){ "10.1.0.1", "10.1.0.3", NULL });
	ck_assert_int_eq(admin_blocks(&w.m, NULL, &blocks, &e), 0);
	ck_assert_uint_eq(json_len(blocks), 1);
	end_all();
}
END_TEST

START_TEST(a_pool_whose_addresses_are_all_reserved_gives_none)
{
	struct outcome o = { .done = false };

	begin_all("{\"ranges\":[\"10.1.0.0/24\"]}");
	ck_assert_int_eq(need("rail0", &o), ERR_EXHAUSTED);
	ck_assert_int_eq(add("c9")[0], '!');
	cluster_reserves("{\"ranges\":[\"10.1.0.1-10.1.0.5\"]}");
	loop_until(b.base, has_subnet, "10.1.0.1-10.1.0.5");
	gets((const char *const[]){ "10.1.0.6", NULL });
	end_all();
}
END_TEST

START_TEST(a_new_pool_waits_until_the_reserved_addresses_are_known)
{
	struct outcome o = { .done = false };

	begin();
	cluster_reserves("{\"ranges\":[\"10.1.0.0/30\"]}");
	pool("rail0", SMALL);
	begin_waiting();
	loop_until(b.base, has_health, "ok");
	(void)begin_need("rail0", &o);
	ck_assert(!knows_pool("rail0"));
	follow_reserved();
	loop_until(b.base, is_done, &o);
	ck_assert_int_eq(o.why.code, 0);
	ck_assert_str_eq(add("c1"), "10.1.0.4");
	loop_until(b.base, follows_three, NULL);
	end_all();
}
END_TEST

/* Of an earlier run: a pool that was not seen yet is not gone. */
START_TEST(reserved_addresses_that_come_before_the_pools_end_no_pool)
{
	const struct ranges none = { .n = 0 };

	begin();
	ck_assert_int_eq(w_shared(&w, "rail0", "uid-1", SMALL), 0);
	pool("rail0", SMALL);
	memory_store_hold(b.store, true);
	begin_waiting();
	driver_reserved(b.driver, &none, NULL);
	ck_assert(knows_pool("rail0"));
	memory_store_hold(b.store, false);
	ready();
	end();
}
END_TEST

/* The node's store has them with the pool, so a driver that never hears of them keeps them. */
START_TEST(reserved_addresses_hold_without_the_cluster_store)
{
	begin_all("{\"ranges\":[\"10.1.0.1-10.1.0.5\"]}");
	gets((const char *const[]){ "10.1.0.6", NULL });
	w_del(&w, "c0");
	reserved_free(reserved);
	driver_free(b.driver);
	b.store = memory_store_new(b.base);
	memory_store_hold(b.store, true);
	begin_waiting();
	follow_reserved();
	ck_assert_str_eq(add("c1"), "10.1.0.6");
	ck_assert_int_eq(w_add(&w, "{\"pool\":\"rail0\"}", "c2", "")[0], '!');
	ck_assert(has_subnet("10.1.0.1-10.1.0.5"));
	reserved_free(reserved);
	driver_free(b.driver);
	loop_free(b.base);
	fixture_close(&w);
}
END_TEST

static bool status_has(const void *arg)
{
	auto_json struct json *status = json_new_object();
	auto_free char *text = NULL;
	struct err e;

	ck_assert_int_eq(reserved_status(reserved, status, &e), 0);
	text = json_print(status, false);
	return strstr(text, arg) != NULL;
}

/* Whoever waits for a change is told that this node has it, or why not. */
START_TEST(a_node_reports_which_reserved_addresses_it_has)
{
	begin_all(NULL);
	loop_until(b.base, node_says,
		   "\"reserved\":{\"name\":\"cluster\",\"uid\":\"\",\"generation\":0}");
	cluster_reserves("{\"ranges\":[\"10.1.0.1\"]}");
	loop_until(b.base, node_says, "\"generation\":1}}");
	/* Neither of these changes an address. */
	cluster_reserves("{\"ranges\":[\"10.1.0.1-10.1.0.1\"]}");
	loop_until(b.base, node_says, "\"generation\":2}}");
	cluster_reserves("{\"ranges\":[\"10.1.0.5-10.1.0.1\"]}");
	loop_until(b.base, node_says, "\"generation\":2,\"waits\":\"reserved.ranges[0]");
	cluster_reserves("{\"ranges\":[\"10.1.0.2\"]}");
	loop_until(b.base, node_says, "\"generation\":4}}");
	memory_store_delete(b.store, CLUSTER_RESERVED, "cluster");
	loop_until(b.base, node_says, "\"uid\":\"\",\"generation\":0}}");
	end_all();
}
END_TEST

/* The old definition of such a pool holds, with the new ranges. */
START_TEST(a_pool_that_is_not_taken_over_is_named_in_the_report)
{
	begin_all(NULL);
	pool("rail0", "{\"subnet\":\"10.1.0.0/29\",\"blockSize\":4,\"ranges\":[\"10.9.0.1\"]}");
	cluster_reserves("{\"ranges\":[\"10.1.0.1\"]}");
	loop_until(b.base, node_says, "\"generation\":1,\"waits\":\"pool rail0: ");
	ck_assert(has_subnet("10.1.0.1"));
	pool("rail0", SMALL);
	loop_until(b.base, node_says, "\"generation\":1}}");
	ck_assert(has_subnet("10.1.0.1"));
	end_all();
}
END_TEST

START_TEST(an_object_that_cannot_be_read_changes_nothing)
{
	begin_all("{\"ranges\":[\"10.1.0.1-10.1.0.5\"]}");
	cluster_reserves("{\"ranges\":[\"10.1.0.5-10.1.0.1\"]}");
	loop_until(b.base, status_has, "reserved.ranges[0]");
	ck_assert(status_has("\"known\":true,\"ranges\":1"));
	ck_assert(has_subnet("10.1.0.1-10.1.0.5"));
	/* An object of another name is none of ours. */
	memory_store_put(b.store, CLUSTER_RESERVED, "other", "", "{\"ranges\":[\"10.1.0.6\"]}");
	memory_store_delete(b.store, CLUSTER_RESERVED, "cluster");
	loop_until(b.base, status_has, "\"ranges\":0}");
	ck_assert(!has_subnet("10.1.0.1-10.1.0.5") && !has_subnet("10.1.0.6"));
	end_all();
}
END_TEST

/* Older types: what the node has holds, until an object or none is really seen. */
START_TEST(a_cluster_without_the_kind_keeps_what_the_node_has)
{
	begin();
	pool("rail0", SMALL);
	auto_json struct json *list = NULL, *def = NULL;
	struct err e;

	ck_assert_int_eq(json_parse("[\"10.1.0.1\"]", 12, "r", &list, &e), 0);
	ck_assert_int_eq(json_parse(SMALL, strlen(SMALL), "d", &def, &e), 0);
	const struct shared_pool_def old = { "rail0", "uid-1", 1, def, list };

	ck_assert_int_eq(shared_pool_put(&w.m, &old, &e), 0);
	begin_waiting();
	loop_until(b.base, has_health, "ok");
	driver_reserved(b.driver, NULL, NULL);
	ck_assert(has_subnet("\"reserved\":[\"10.1.0.1\"]"));
	follow_reserved();
	loop_until(b.base, follows_three, NULL);
	loop_until(b.base, knows_pool, "rail0");
	ck_assert(!has_subnet("\"reserved\":[\"10.1.0.1\"]"));
	end_all();
}
END_TEST

/* ---- addresses that nodes have themselves ---- */

static void node_has(const char *node, const char *value)
{
	memory_store_put(b.store, CLUSTER_RESERVED, node, node, value);
}

START_TEST(addresses_of_other_nodes_are_not_assigned)
{
	begin();
	node_has("n2", "{\"ranges\":[\"10.1.0.1\"]}");
	node_has("n3", "{\"ranges\":[\"10.1.0.4\",\"10.9.0.1\"]}");
	cluster_reserves("{\"ranges\":[\"10.1.0.2\"]}");
	pool("rail0", SMALL);
	begin_waiting();
	follow_reserved();
	loop_until(b.base, knows_pool, "rail0");
	ck_assert(has_subnet("\"reserved\":[\"10.1.0.1-10.1.0.2\",\"10.1.0.4\"]"));
	/* A node that has half of the pool, and one that has no range: they keep what they had. */
	node_has("n3", "{\"ranges\":[\"10.1.0.0-10.1.0.255\"]}");
	node_has("n2", "{\"ranges\":[\"all of them\"]}");
	node_has("n4", "{\"ranges\":[\"10.1.0.6\"]}");
	loop_until(b.base, has_subnet,
		   "\"reserved\":[\"10.1.0.1-10.1.0.2\",\"10.1.0.4\",\"10.1.0.6\"]");
	node_has("n2", "{\"ranges\":[\"10.1.0.6\"]}");
	loop_until(b.base, has_subnet, "\"reserved\":[\"10.1.0.2\",\"10.1.0.4\",\"10.1.0.6\"]");
	for (int i = 2; i <= 4; i++)
		memory_store_delete(b.store, CLUSTER_RESERVED, (char[]){ 'n', (char)('0' + i), 0 });
	memory_store_delete(b.store, CLUSTER_RESERVED, "cluster");
	loop_until(b.base, status_has, "\"ranges\":0}");
	gets((const char *const[]){ "10.1.0.1", "10.1.0.2", "10.1.0.3", "10.1.0.4", "10.1.0.5",
				    "10.1.0.6", NULL });
	end_all();
}
END_TEST

static bool cluster_has(const void *arg)
{
	auto_free char *text = memory_store_has(b.store, CLUSTER_RESERVED, "n1")
				       ? memory_store_text(b.store, CLUSTER_RESERVED, "n1")
				       : NULL;

	return text ? strstr(text, arg) != NULL : !*(const char *)arg;
}

static void add_address(const char *address)
{
	struct nl *nl = net_socket();
	struct ip_prefix p;
	struct err e;

	ck_assert_int_eq(ip_parse_prefix(address, &p), 0);
	ck_assert_int_eq(nl_addr_add(nl, net_ifindex(nl, "up0"), p, true, &e), 0);
	nl_release(nl);
}

START_TEST(a_node_reserves_its_own_addresses)
{
	struct err e;

	net_enter_new();
	net_veth("up0", "peer0", NULL);
	struct nl *nl = net_socket();
	add_address("10.1.0.3/29");
	add_address("10.9.0.3/24");
	begin_with(WHOLE, NULL);
	loop_until(b.base, cluster_has, "\"ranges\":[\"10.1.0.3\"]");
	loop_until(b.base, has_subnet, "\"reserved\":[\"10.1.0.3\"]");
	add_address("10.1.0.4/29");
	loop_until(b.base, cluster_has, "\"ranges\":[\"10.1.0.3\",\"10.1.0.4\"]");
	/* Somebody deletes it, or writes another one. */
	memory_store_delete(b.store, CLUSTER_RESERVED, "n1");
	loop_until(b.base, cluster_has, "\"ranges\":[\"10.1.0.3\",\"10.1.0.4\"]");
	node_has("n1", "{\"ranges\":[\"10.1.0.6\"]}");
	loop_until(b.base, cluster_has, "\"ranges\":[\"10.1.0.3\",\"10.1.0.4\"]");
	loop_until(b.base, has_subnet, "\"reserved\":[\"10.1.0.3-10.1.0.4\"]");
	gets((const char *const[]){ "10.1.0.1", "10.1.0.2", "10.1.0.5", "10.1.0.6", NULL });
	ck_assert_int_eq(nl_link_delete(nl, net_ifindex(nl, "up0"), &e), 0);
	loop_until(b.base, cluster_has, "");
	loop_until(b.base, status_has, "\"ranges\":0}");
	nl_release(nl);
	end_all();
}
END_TEST

static void log_begin(void)
{
	w.ctx.log = (struct log){ .fd = memfd_create("log", MFD_CLOEXEC),
				  .level = LOG_LEVEL_INFO,
				  .tag = "railheadd" };
	ck_assert_int_ge(w.ctx.log.fd, 0);
}

/* How many lines have the text. */
static unsigned logged(const char *what)
{
	static char text[65536];
	const ssize_t len = pread(w.ctx.log.fd, text, sizeof(text) - 1, 0);
	unsigned n = 0;

	text[len > 0 ? len : 0] = '\0';
	for (const char *at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void log_end(void)
{
	(void)close(w.ctx.log.fd);
	w.ctx.log.fd = -1;
}

static bool is_logged(const void *arg)
{
	return logged(arg) > 0;
}

/* One more node with each event, until there are 30. */
static bool more_nodes_come(const void *arg)
{
	static unsigned n;
	char name[8], value[64];

	(void)arg;
	if (n < 30) {
		(void)snprintf(name, sizeof(name), "m%u", n);
		(void)snprintf(value, sizeof(value), "{\"ranges\":[\"10.1.0.%u\"]}", 2 * n++);
		node_has(name, value);
		return false;
	}
	return status_has("\"ranges\":30");
}

START_TEST(changes_of_many_nodes_are_one_a_second)
{
	struct outcome o = { .done = false };

	begin_with(WHOLE, NULL);
	ck_assert_int_eq(need("rail0", &o), 0);
	ck_assert_str_eq(add("c1"), "10.1.0.1");
	ck_assert_int_eq(need("rail0", &o), 0);
	ck_assert_str_eq(add("c2"), "10.1.0.2");
	log_begin();
	const int64_t begun = ctx_mono_ms();

	loop_until(b.base, more_nodes_come, NULL);
	ck_assert_int_le(logged("the cluster reserves"), (ctx_mono_ms() - begun) / 1000 + 1);
	ck_assert_uint_eq(logged("10.1.0.2 of pool rail0 is an address of node m1 now"), 1);
	/* A pod is named once. */
	node_has("m31", "{\"ranges\":[\"10.1.0.1\"]}");
	loop_until(b.base, is_logged, "10.1.0.1 of pool rail0 is an address of node m31 now");
	ck_assert_uint_eq(logged("10.1.0.2 of pool rail0"), 1);
	log_end();
	end_all();
}
END_TEST

#define UNTOLD "other nodes do not learn of the addresses that this node has: "

START_TEST(a_refusal_for_another_reason_is_logged)
{
	net_enter_new();
	net_veth("up0", "peer0", NULL);
	begin_with(WHOLE, NULL);
	log_begin();
	memory_store_fail(b.store, CLUSTER_REFUSED, 1000);
	add_address("10.1.0.3/29");
	loop_until(b.base, is_logged, UNTOLD "the test says so (");
	memory_store_deny(b.store, true);
	add_address("10.1.0.4/29");
	loop_until(b.base, is_logged, UNTOLD "the test does not know who asks (");
	memory_store_deny(b.store, false);
	memory_store_fail(b.store, CLUSTER_REFUSED, 0);
	add_address("10.1.0.6/29");
	loop_until(b.base, cluster_has, "10.1.0.6");
	ck_assert_uint_eq(logged(UNTOLD), 2);
	log_end();
	end_all();
}
END_TEST

#define FOREIGN 5 /* writes of another one */

/* It writes whenever the object is ours. */
static bool another_writes(const void *arg)
{
	static unsigned n;

	(void)arg;
	if (!cluster_has("10.1.0.3"))
		return false;
	node_has("n1", "{\"ranges\":[\"10.1.0.6\"]}");
	return ++n == FOREIGN;
}

START_TEST(two_who_write_one_object_slow_down)
{
	net_enter_new();
	net_veth("up0", "peer0", NULL);
	add_address("10.1.0.3/29");
	begin_with(WHOLE, NULL);
	loop_until(b.base, cluster_has, "10.1.0.3");

	const int64_t begun = ctx_mono_ms();

	/* Pauses of 1, 2, 4 and 8 looks, and up to twice as much. */
	loop_until(b.base, another_writes, NULL);
	ck_assert_int_ge(ctx_mono_ms() - begun, 15 * LOOK_MS - LOOK_MS);
	end_all();
}
END_TEST

/* Each event shows a further heartbeat of another machine of our name. */
static bool another_machine_beats(const void *arg)
{
	static unsigned n;
	char value[256];

	(void)arg;
	(void)snprintf(value, sizeof(value),
		       "{\"holder\":\"%032x\",\"boot\":\"b\",\"machine\":\"m\",\"count\":%u}", 7,
		       ++n);
	memory_store_put(b.store, CLUSTER_HEARTBEAT, "n1", "n1", value);
	return has_health("twin");
}

START_TEST(a_node_whose_name_another_one_has_writes_nothing)
{
	net_enter_new();
	net_veth("up0", "peer0", NULL);
	begin();
	pool("rail0", WHOLE);
	begin_waiting();
	loop_until(b.base, another_machine_beats, NULL);
	follow_reserved();
	loop_until(b.base, follows_three, NULL);
	add_address("10.1.0.3/29");
	loop_until(b.base, status_has, "\"ranges\":1");
	ck_assert(!memory_store_has(b.store, CLUSTER_RESERVED, "n1"));
	end_all();
}
END_TEST

START_TEST(addresses_beyond_the_limit_are_named_in_the_log)
{
	char address[32];

	net_enter_new();
	net_veth("up0", "peer0", NULL);
	begin();
	log_begin();
	for (unsigned i = 1; i <= 66; i++) {
		(void)snprintf(address, sizeof(address), "10.1.0.%u/24", i);
		add_address(address);
	}
	pool("rail0", "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":4,\"warm\":0}");
	begin_waiting();
	follow_reserved();
	loop_until(b.base, status_has, "\"ranges\":1}");
	loop_until(b.base, cluster_has, "10.1.0.64");
	add_address("10.9.0.1/24");
	ck_assert_uint_eq(logged("pools may assign 10.1.0.65, an address of this node"), 1);
	ck_assert_uint_eq(logged("pools may assign"), 1);
	ck_assert(!cluster_has("10.1.0.65"));
	log_end();
	end_all();
}
END_TEST

/* ---- pods ---- */

static bool names_pod(const void *arg)
{
	auto_json struct json *list = NULL;
	auto_free char *text = NULL;
	struct err e;

	ck_assert_int_eq(admin_reserved(&w.m, &list, &e), 0);
	text = json_print(list, false);
	return strcmp(text, arg) == 0;
}

START_TEST(a_pod_keeps_an_address_that_is_reserved_later)
{
	struct outcome o = { .done = false };

	begin_with(WHOLE, NULL);
	ck_assert_int_eq(need("rail0", &o), 0);
	ck_assert_str_eq(add("c1"), "10.1.0.1");
	ck_assert(names_pod("[]"));
	cluster_reserves("{\"ranges\":[\"10.1.0.1-10.1.0.2\",\"10.1.0.6\"]}");
	loop_until(b.base, names_pod,
		   "[{\"pool\":\"rail0\",\"first\":\"10.1.0.1\",\"last\":\"10.1.0.2\",\"pods\":"
		   "[{\"interface\":\"net1\",\"container\":\"c1\",\"address\":\"10.1.0.1\"}],"
		   "\"podCount\":1}]");
	w_del(&w, "c1");
	ck_assert(names_pod("[]"));
	ck_assert_int_eq(need("rail0", &o), 0);
	ck_assert_str_eq(add("c1"), "10.1.0.3");
	end_all();
}
END_TEST

/* ---- changes ---- */

struct answer {
	bool done;
	struct err why;
	char text[sizeof(((struct err *)NULL)->msg)];
};

static void answered(void *arg, const struct json *answer, const struct err *why)
{
	struct answer *a = arg;
	auto_free char *text = answer ? json_print(answer, false) : NULL;

	ck_assert(!a->done);
	a->done = true;
	a->why = why ? *why : (struct err){ .code = 0 };
	(void)snprintf(a->text, sizeof(a->text), "%s", text ? text : a->why.msg);
}

static bool is_answered(const void *arg)
{
	return ((const struct answer *)arg)->done;
}

static struct json *list_of(const char *text)
{
	struct json *list = NULL;
	struct err e;

	if (text)
		ck_assert_int_eq(json_parse(text, strlen(text), "list", &list, &e), 0);
	return list;
}

/* What the answer is, or the error. */
static const char *asks(const char *more, const char *less)
{
	static struct answer a;
	auto_json struct json *add_list = list_of(more), *remove_list = list_of(less);
	const struct reserved_change_ask ask = {
		b.base, memory_store_ops(b.store), add_list, remove_list, { answered, &a }
	};
	struct err e;

	a = (struct answer){ .done = false };
	if (!reserved_change(&ask, &e))
		answered(&a, NULL, &e);
	loop_until(b.base, is_answered, &a);
	return a.text;
}

START_TEST(an_operator_adds_and_removes_ranges)
{
	auto_free char *text = NULL;

	begin_all(NULL);
	ck_assert_str_eq(asks(NULL, NULL), "{\"changed\":false,\"ranges\":[]}");
	ck_assert_str_eq(asks("[\"10.1.0.0/29\"]", NULL),
			 "{\"changed\":true,\"ranges\":[\"10.1.0.0/29\"]}");
	ck_assert_str_eq(asks("[\"10.1.0.3\"]", NULL),
			 "{\"changed\":false,\"ranges\":[\"10.1.0.0/29\"]}");
	ck_assert_str_eq(asks(NULL, "[\"10.1.0.0-10.1.0.6\"]"),
			 "{\"changed\":true,\"ranges\":[\"10.1.0.7\"]}");
	loop_until(b.base, has_subnet, "\"reserved\":[\"10.1.0.7\"]");
	/* Keys of a newer release stay. */
	cluster_reserves("{\"note\":1,\"ranges\":[\"10.1.0.7\"]}");
	ck_assert_str_eq(asks("[\"10.1.0.6\"]", "[\"10.1.0.7\"]"),
			 "{\"changed\":true,\"ranges\":[\"10.1.0.6\"]}");
	text = memory_store_text(b.store, CLUSTER_RESERVED, "cluster");
	ck_assert_str_eq(text, "{\"note\":1,\"ranges\":[\"10.1.0.6\"]}");
	end_all();
}
END_TEST

START_TEST(a_change_that_cannot_be_made_is_refused)
{
	const struct reserved_change_ask none = { .store = NULL };
	struct err e;

	begin_all(NULL);
	cluster_reserves("{\"ranges\":[\"x\"]}");
	ck_assert_ptr_null(reserved_change(&none, &e));
	ck_assert_str_eq(e.msg, "this agent has no cluster store");
	ck_assert_ptr_nonnull(strstr(asks("[\"10.1\"]", NULL), "add[0]: 10.1 is not"));
	ck_assert_ptr_nonnull(strstr(asks(NULL, "[3]"), "remove[0]: a number is not"));
	ck_assert_ptr_nonnull(strstr(asks("[\"10.1.0.1\"]", NULL), "reserved.ranges[0]: x is"));
	end_all();
}
END_TEST

TEST_PROGRAM("reserved", reserved_addresses_are_not_assigned,
	     a_pool_whose_addresses_are_all_reserved_gives_none,
	     a_new_pool_waits_until_the_reserved_addresses_are_known,
	     reserved_addresses_that_come_before_the_pools_end_no_pool,
	     reserved_addresses_hold_without_the_cluster_store,
	     a_node_reports_which_reserved_addresses_it_has,
	     a_pool_that_is_not_taken_over_is_named_in_the_report,
	     an_object_that_cannot_be_read_changes_nothing,
	     a_cluster_without_the_kind_keeps_what_the_node_has,
	     addresses_of_other_nodes_are_not_assigned, a_node_reserves_its_own_addresses,
	     changes_of_many_nodes_are_one_a_second, two_who_write_one_object_slow_down,
	     a_refusal_for_another_reason_is_logged,
	     a_node_whose_name_another_one_has_writes_nothing,
	     addresses_beyond_the_limit_are_named_in_the_log,
	     a_pod_keeps_an_address_that_is_reserved_later, an_operator_adds_and_removes_ranges,
	     a_change_that_cannot_be_made_is_refused)
