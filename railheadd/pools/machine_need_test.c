/* SPDX-License-Identifier: Apache-2.0 */
/* machine_need_test.c: ADDs of pods whose addresses move with them, on a store that has Pods. */
#include "railheadd/pools/machine_need.h"
#include "railheadd/testing/driver_ask.h"

#define MOVES "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":1,\"sticky\":true}"
#define POD   "ns/virt-launcher-web-x/net1"
#define LAUNCHER                                                                                   \
	"{\"labels\":{\"kubevirt.io\":\"virt-launcher\"},\"annotations\":{\"kubevirt.io/"          \
	"domain\":\"web\"}}"

struct heard {
	struct outcome o;
	char identity[IDENTITY_LEN];
};

static void ended(void *arg, const char *identity, const struct err *why)
{
	struct heard *h = arg;

	(void)snprintf(h->identity, sizeof(h->identity), "%s", identity ? identity : "");
	need_done(&h->o, why);
}

static struct machine_need *begin_machine(const char *identity, int64_t wait_ms, struct heard *h)
{
	const struct machine_need_at at = { b.base, b.driver, memory_store_ops(b.store) };
	const struct driver_need_ask ask = {
		.pool = "rail0", .identity = identity, .addresses = 1, .wait_ms = wait_ms
	};
	struct machine_need *n;

	*h = (struct heard){ .identity = "" };
	n = machine_need(&at, &ask, &(struct machine_need_end){ ended, h });
	ck_assert_ptr_nonnull(n);
	return n;
}

static int machine_needs(const char *identity, struct heard *h)
{
	(void)begin_machine(identity, 50000, h);
	loop_until(b.base, is_done, &h->o);
	return (int)h->o.why.code;
}

static void begin_moves(void)
{
	begin();
	pool("rail0", MOVES);
	begin_driver();
	ready();
	loop_until(b.base, knows_pool, "rail0");
}

static void pod_is(const char *value)
{
	memory_store_put(b.store, CLUSTER_KUBE_POD, "virt-launcher-web-x.ns", "", value);
}

START_TEST(the_block_is_that_of_the_machine)
{
	struct heard h;

	begin_moves();
	pod_is(LAUNCHER);
	ck_assert_int_eq(machine_needs(POD, &h), 0);
	ck_assert_str_eq(h.identity, "ns/vm:web/net1");
	end();
}
END_TEST

/* A pod that has the name of a launcher, and no machine. */
START_TEST(other_pods_have_their_own_block)
{
	struct heard h;

	begin_moves();
	pod_is("{\"labels\":{\"app\":\"web\"}}");
	ck_assert_int_eq(machine_needs(POD, &h), 0);
	ck_assert_str_eq(h.identity, "");
	ck_assert_int_eq(machine_needs("ns/web-0/net1", &h), 0);
	ck_assert_str_eq(h.identity, "");
	end();
}
END_TEST

START_TEST(a_pod_that_cannot_be_read_gets_no_address)
{
	struct heard h;

	begin_moves();
	ck_assert_int_eq(machine_needs(POD, &h), ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(h.o.why.msg, "has no such pod"));
	pod_is(LAUNCHER);
	memory_store_fail(b.store, CLUSTER_REFUSED, 1);
	ck_assert_int_eq(machine_needs(POD, &h), ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(h.o.why.detail, "machines.yaml"));
	end();
}
END_TEST

START_TEST(a_store_without_an_answer_ends_the_wait)
{
	struct heard h;

	begin_moves();
	memory_store_hold(b.store, true);
	(void)begin_machine(POD, 30, &h);
	loop_until(b.base, is_done, &h.o);
	ck_assert_int_eq((int)h.o.why.code, ERR_AGAIN);
	ck_assert_ptr_nonnull(strstr(h.o.why.msg, "gives no answer"));
	/* A caller that goes at any moment. */
	machine_need_cancel(begin_machine(POD, 50000, &h));
	memory_store_hold(b.store, false);
	pod_is(LAUNCHER);
	machine_need_cancel(begin_machine("ns/web-0/net1", 50000, &h));
	ck_assert_int_eq(machine_needs(POD, &h), 0);
	ck_assert(!h.o.why.code);
	end();
}
END_TEST

/* ---- live migration ---- */

#define TARGET                                                                                     \
	"{\"labels\":{\"kubevirt.io\":\"virt-launcher\",\"kubevirt.io/migrationJobUID\":\"j\"},"   \
	"\"annotations\":{\"kubevirt.io/domain\":\"web\"}}"
#define FIVE "rail0-0000000000000000000000000a010005"

/* The machine lives on n2, and its block is shared by a node. */
static void is_shared_by(const char *node)
{
	auto_json struct json *status = json_new_object();
	char value[400];
	struct err e;

	ck_assert_int_eq(driver_status(b.driver, status, &e), 0);
	(void)snprintf(value, sizeof(value),
		       "{\"poolUID\":\"%s\",\"node\":\"n2\",\"holder\":\"h2\","
		       "\"token\":\"0000000000000001\",\"touched\":0,\"used\":1,"
		       "\"identity\":\"ns/vm:web/net1\",\"ask\":{\"node\":\"%s\","
		       "\"holder\":\"h3\",\"token\":\"0000000000000002\",\"migrates\":true}}",
		       json_str(json_get(json_first(json_get(status, "pools")), "uid")), node);
	memory_store_put(b.store, CLUSTER_BLOCK, FIVE, "n2", value);
}

START_TEST(a_second_target_is_told_of_the_first_one)
{
	struct heard h;

	begin_moves();
	pod_is(TARGET);
	is_shared_by("n3");
	ck_assert_int_eq(machine_needs(POD, &h), ERR_AGAIN);
	ck_assert_msg(strstr(h.o.why.msg, "ns/vm:web on node n2 migrates to node n3 already"), "%s",
		      h.o.why.msg);
	ck_assert_ptr_null(strstr(h.o.why.detail, "forget"));
	/* One that does not migrate: the source is what it waits for. */
	pod_is(LAUNCHER);
	ck_assert_int_eq(machine_needs(POD, &h), ERR_AGAIN);
	ck_assert_msg(strstr(h.o.why.msg, "is held by virtual machine ns/vm:web on node n2"), "%s",
		      h.o.why.msg);
	end();
}
END_TEST

/* An earlier process of this node, or its earlier store, wrote the ask and knows it no more. */
START_TEST(an_old_ask_of_this_node_is_no_obstacle)
{
	auto_free char *block = NULL;
	struct heard h;

	begin_moves();
	pod_is(TARGET);
	is_shared_by("n1");
	ck_assert_int_eq(machine_needs(POD, &h), 0);
	block = memory_store_text(b.store, CLUSTER_BLOCK, FIVE);
	ck_assert_msg(strstr(block, "\"node\":\"n2\"") && strstr(block, "\"migrates\":true"), "%s",
		      block);
	ck_assert_ptr_null(strstr(block, "0000000000000002"));
	end();
}
END_TEST

TEST_PROGRAM("machine_need", the_block_is_that_of_the_machine, other_pods_have_their_own_block,
	     a_pod_that_cannot_be_read_gets_no_address, a_store_without_an_answer_ends_the_wait,
	     a_second_target_is_told_of_the_first_one, an_old_ask_of_this_node_is_no_obstacle)
