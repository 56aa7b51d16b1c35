/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sandbox_shared_test.c: a pod with a new sandbox in a shared pool, while the old one had no DEL.
 * The names of the containers say what is known of them: gone-1 is proved gone, others live.
 */
#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"

#define CONF "{\"pool\":\"rail0\"}"
#define POD  "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=virt-launcher-web-a"
#define NEXT "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=virt-launcher-web-b"

static struct fixture w;
static const char *machine; /* what the agent says that the pod runs; NULL: it says nothing */
static int asked;

static void look_by_name(const struct ctx *ctx, const struct owner *o, struct holder_view *out)
{
	(void)ctx;
	out->state = strncmp(o->container, "gone", 4) == 0 ? HOLDER_GONE : HOLDER_MAY_LIVE;
	out->mark = 7;
}

static uint64_t mark_by_name(const struct ctx *ctx, const struct owner *o)
{
	(void)ctx;
	(void)o;
	return 7;
}

static void open_rail(const char *def)
{
	static const struct holder_ops by_name = { look_by_name, mark_by_name };

	fixture_open(&w);
	w.m.holders = &by_name;
	ck_assert_int_eq(w_shared(&w, "rail0", "u1", def), 0);
	w_node(&w, 3, INT64_MAX);
	machine = NULL;
	asked = 0;
}

static void block_of(const char *identity)
{
	struct block_record r = { .key = w_block_key("rail0", "10.1.0.5"),
				  .state = BLOCK_GRANTED,
				  .epoch = 3 };

	(void)snprintf(r.identity, sizeof(r.identity), "%s/%s", identity, w.ifname);
	ck_assert_int_eq(blocks_put(&w.m, &r, &w.e), 0);
}

#define RAIL    "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":4,\"cooldown\":60}"
#define MOVES   "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":1,\"sticky\":true,\"cooldown\":60}"
#define ADDRESS "10.1.0.17"

/* Also at once, although the address cools down; and if the pod requests it. */
START_TEST(a_new_sandbox_has_its_address)
{
	open_rail(RAIL);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.16", BLOCK_GRANTED, 3), 0);
	ck_assert_str_eq(w_add(&w, CONF, "other", ""), "10.1.0.16");
	ck_assert_str_eq(w_add(&w, CONF, "gone-1", POD), ADDRESS);
	ck_assert_str_eq(w_add(&w, CONF, "gone-2", POD), ADDRESS);
	ck_assert_str_eq(w_add(&w, CONF, "live", POD ";IP=" ADDRESS), ADDRESS);
	ck_assert_str_eq(w_add(&w, CONF, "new", POD), "10.1.0.18");
	ck_assert_int_eq(strncmp(w_add(&w, CONF, "newer", POD ";IP=" ADDRESS), "!103", 4), 0);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(a_new_sandbox_has_its_loan)
{
	const struct block_record r = { .key = { .pool = "rail0", .start = { .family = IP_NONE } },
					.state = BLOCK_GRANTED,
					.epoch = 3 };
	struct block_record loan = r;

	open_rail(RAIL);
	loan.key = w_block_key("rail0", "10.1.0.16");
	loan.key.one = 2;
	ck_assert_int_eq(blocks_put(&w.m, &loan, &w.e), 0);
	ck_assert_str_eq(w_add(&w, CONF, "gone-1", POD), ADDRESS);
	ck_assert_str_eq(w_add(&w, CONF, "live", POD), ADDRESS);
	ck_assert_int_eq(strncmp(w_add(&w, CONF, "new", POD), "!101", 4), 0);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

/* The agent is not asked: the block is here, and its identity is the pod. */
START_TEST(a_new_sandbox_has_its_sticky_address)
{
	open_rail(MOVES);
	block_of("ns/virt-launcher-web-a");
	ck_assert_str_eq(w_add(&w, CONF, "gone-1", POD), "10.1.0.5");
	ck_assert_str_eq(w_add(&w, CONF, "live", POD), "10.1.0.5");
	ck_assert_int_eq(strncmp(w_add(&w, CONF, "new", POD), "!101", 4), 0);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

/* ---- a virtual machine: only the agent knows what the pod runs ---- */

/* The block is here and in use. */
static int need(const struct ctx *ctx, const struct agent_need *n, struct err *e)
{
	(void)ctx;
	asked++;
	if (machine)
		(void)snprintf(n->is_of, IDENTITY_LEN, "%s/%s", machine, w.ifname);
	return err_set(e, ERR_AGAIN, 0, "the address is held by virtual machine web");
}

static const char *add_asking(const char *id, const char *args)
{
	return w_add_as(&w, (struct alloc_add){ .need = need }, CONF, id, args);
}

/* The pod, in a pool with the block of its machine. */
static void first_sandbox(const char *id)
{
	open_rail(MOVES);
	block_of("ns/virt-launcher-web-a");
	ck_assert_str_eq(w_add(&w, CONF, id, POD), "10.1.0.5");
	block_of("ns/vm:web");
	machine = "ns/vm:web";
}

START_TEST(a_launcher_with_a_new_sandbox_has_the_address_of_its_machine)
{
	first_sandbox("gone-1");
	ck_assert_str_eq(add_asking("new", POD), "10.1.0.5");
	ck_assert_int_eq(asked, 1);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

/* The machine starts again, and its pod has a new name each time. */
START_TEST(a_new_launcher_has_the_address_of_its_machine)
{
	first_sandbox("gone-1");
	ck_assert_str_eq(add_asking("new", NEXT), "10.1.0.5");
	ck_assert_int_eq(asked, 1);
	w_sound(&w);
	fixture_close(&w);
}
END_TEST

START_TEST(a_launcher_waits_while_the_machine_may_live)
{
	static const char *const pods[] = { POD, NEXT };

	for (size_t i = 0; i < ARRAY_SIZE(pods); i++) {
		first_sandbox("live");
		ck_assert_str_eq(add_asking("new", pods[i]),
				 "!11 the address is held by virtual machine web");
		w_sound(&w);
		fixture_close(&w);
	}
}
END_TEST

/* An older agent does not say it. A pod of another machine or namespace gets nothing either. */
START_TEST(only_the_pod_of_the_machine_gets_its_address)
{
	static const struct {
		const char *machine, *args;
	} each[] = {
		{ NULL, NEXT },
		{ "ns/vm:db", NEXT },
		{ "other/vm:web", "K8S_POD_NAMESPACE=other;K8S_POD_NAME=virt-launcher-web-b" },
		{ "ns/vm:web", "K8S_POD_NAMESPACE=other;K8S_POD_NAME=virt-launcher-web-b" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(each); i++) {
		first_sandbox("gone-1");
		machine = each[i].machine;
		ck_assert_str_eq(add_asking("new", each[i].args),
				 "!11 the address is held by virtual machine web");
		w_sound(&w);
		fixture_close(&w);
	}
}
END_TEST

TEST_PROGRAM("sandbox_shared", a_new_sandbox_has_its_address, a_new_sandbox_has_its_loan,
	     a_new_sandbox_has_its_sticky_address,
	     a_launcher_with_a_new_sandbox_has_the_address_of_its_machine,
	     a_new_launcher_has_the_address_of_its_machine,
	     a_launcher_waits_while_the_machine_may_live,
	     only_the_pod_of_the_machine_gets_its_address)
