/* SPDX-License-Identifier: Apache-2.0 */
/*
 * adopt_model_test.c: random pools of one node with random leases become shared pools, by processes
 * that die at random calls of the store. Whatever died: the leases are those of before.
 *
 * MODEL_RUNS sets how many pools (30), MODEL_SEED where the sequence of numbers begins (1).
 */
#include <sys/wait.h>
#include <unistd.h>

#include "ipam/lease/adopt.h"
#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"

#define CONTAINERS 40
#define DEATHS     6 /* of one pool */
#define DIED       3
#define CONF       "{\"pool\":\"rail0\"}"

static struct fixture w;
static uint64_t seed;
static const struct store_ops *real;
static unsigned calls, last_call; /* the process dies at this one; 0: it does not */

static unsigned random_below(unsigned n)
{
	seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (unsigned)(seed >> 33) % n;
}

static uint64_t token(void *arg)
{
	(void)arg;
	return random_below(UINT32_MAX);
}

/* ---- a store that is left in the middle ---- */

static void call(void)
{
	if (++calls == last_call)
		_exit(DIED);
}

static int mortal_get(struct store_txn *t, const char *key, const char **value, struct err *e)
{
	call();
	return real->get(t, key, value, e);
}

static int mortal_put(struct store_txn *t, const char *key, const char *value, struct err *e)
{
	call();
	return real->put(t, key, value, e);
}

static int mortal_del(struct store_txn *t, const char *key, struct err *e)
{
	call();
	return real->del(t, key, e);
}

static int mortal_commit(struct store_txn *t, struct err *e)
{
	call();
	int rc = real->commit(t, e);
	call();
	return rc;
}

/* ---- one adoption ---- */

static bool adopt(const char *def)
{
	auto_json struct json *tree = NULL;
	struct shared_pool_def d = { .name = "rail0", .uid = "u1", .generation = 1 };
	struct pool_adopt a = { .def = &d, .random = token };

	ck_assert_int_eq(json_parse(def, strlen(def), "def", &tree, &w.e), 0);
	d.definition = tree;
	ck_assert_msg(pool_adopt(&w.m, &a, &w.e) == 0, "%s", w.e.msg);
	json_free(a.local);
	return a.moved;
}

/* How many calls an adoption makes is known when a process has survived it. */
static unsigned die_in(const char *def, unsigned at)
{
	int status;

	ipam_close(&w.m);
	pid_t pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		struct store_ops mortal;

		if (ipam_open(&w.ctx, NULL, false, &w.m, &w.e))
			_exit(1);
		real = w.m.store->ops;
		mortal = *real;
		mortal.get = mortal_get;
		mortal.put = mortal_put;
		mortal.del = mortal_del;
		mortal.commit = mortal_commit;
		w.m.store->ops = &mortal;
		last_call = at;
		(void)adopt(def);
		_exit(0);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_eq(ipam_open(&w.ctx, NULL, false, &w.m, &w.e), 0);
	return (unsigned)WEXITSTATUS(status);
}

static char *leases(void)
{
	const struct lease_filter all = { .resting = false };
	auto_json struct json *list = NULL;

	ck_assert_int_eq(admin_leases(&w.m, &all, &list, &w.e), 0);
	return json_print(list, false);
}

/* ---- a random pool ---- */

struct world {
	char shared[128];
	char addresses[CONTAINERS][IP_STR_LEN]; /* "": none */
};

static void make_pool(struct world *x)
{
	unsigned first = 1 + random_below(60), n = 10 + random_below(60);
	unsigned cooldown = random_below(2) * 60;
	unsigned size = 1u << random_below(7);
	char own[256];

	(void)snprintf(own, sizeof(own),
		       "{\"subnet\":\"10.1.0.0/24\",\"ranges\":[\"10.1.0.%u-10.1.0.%u\","
		       "\"10.1.0.%u-10.1.0.%u\"],\"sticky\":%s,\"cooldown\":%u}",
		       first, first + n, first + n + 20, first + n + 20 + random_below(40),
		       random_below(2) ? "true" : "false", cooldown);
	(void)snprintf(x->shared, sizeof(x->shared),
		       "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":%u,\"cooldown\":%u,"
		       "\"state\":\"adopting\"}",
		       size, cooldown);
	ck_assert_msg(w_pool(&w, "rail0", own, false) == 0, "%s", w.e.msg);
}

static const char *name_of(unsigned container, char id[16])
{
	(void)snprintf(id, 16, "c%u", container);
	return id;
}

static void make_leases(struct world *x)
{
	for (unsigned i = 0; i < 100; i++) {
		unsigned c = random_below(CONTAINERS);
		char id[16], args[64];

		w.now += random_below(5000) * (SECOND / 1000);
		(void)snprintf(args, sizeof(args), "K8S_POD_NAMESPACE=ns;K8S_POD_NAME=p%u", c);
		if (random_below(5) < 2) {
			w_del(&w, name_of(c, id));
			x->addresses[c][0] = '\0';
			continue;
		}
		const char *got = w_add(&w, CONF, name_of(c, id), args);
		if (*got != '!')
			(void)snprintf(x->addresses[c], IP_STR_LEN, "%.40s", got);
	}
}

static void check_pods(struct world *x)
{
	for (unsigned i = 0; i < 5; i++) {
		unsigned c = random_below(CONTAINERS);
		char id[16];

		if (*x->addresses[c])
			ck_assert_str_eq(w_add(&w, CONF, name_of(c, id), ""), x->addresses[c]);
	}
}

/* Each block can be given up when its pods have gone, and then the pool. */
static void end_pods(void)
{
	struct agent_memory memory;
	char id[16];

	for (unsigned c = 0; c < CONTAINERS; c++)
		w_del(&w, name_of(c, id));
	w_sound(&w);
	w.now += 60 * SECOND;
	ck_assert_int_eq(blocks_load(&w.m, &memory, &w.e), 0);
	ck_assert_uint_ge(memory.n, 1);
	for (size_t i = 0; i < memory.n; i++) {
		ck_assert_int_eq(blocks_retire(&w.m, &memory.blocks[i].key, &w.e), 0);
		ck_assert_int_eq(blocks_drop(&w.m, &memory.blocks[i].key, &w.e), 0);
	}
	blocks_clear(&memory);
	ck_assert_msg(shared_pool_remove(&w.m, "rail0", &w.e) == 0, "%s", w.e.msg);
}

static unsigned died, survived;

/* The cluster store gives the node its blocks, and two more. */
static void own_blocks(void)
{
	struct agent_memory memory;

	w_node(&w, 7, INT64_MAX);
	ck_assert_int_eq(blocks_load(&w.m, &memory, &w.e), 0);
	for (size_t i = 0; i < memory.n; i++) {
		memory.blocks[i].state = BLOCK_GRANTED;
		memory.blocks[i].epoch = 7;
		ck_assert_int_eq(blocks_put(&w.m, &memory.blocks[i], &w.e), 0);
	}
	blocks_clear(&memory);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.0", BLOCK_GRANTED, 7), 0);
	ck_assert_int_eq(w_block(&w, "rail0", "10.1.0.192", BLOCK_GRANTED, 7), 0);
}

/* Processes die until one survives, or there were enough. It is done in the end. */
static void survive(struct world *x)
{
	auto_free char *before = leases();
	bool moved = false;

	for (unsigned i = 0; i < DEATHS && !moved; i++) {
		unsigned how = die_in(x->shared, 1 + random_below(300));
		auto_free char *now = leases();

		ck_assert(how == 0 || how == DIED);
		died += how == DIED;
		moved = how == 0;
		survived += how == 0;
		ck_assert_str_eq(now, before);
		w_sound(&w);
		check_pods(x);
	}
	(void)adopt(x->shared);
	auto_free char *after = leases();

	ck_assert_str_eq(after, before);
	w_sound(&w);
	check_pods(x);
}

static void run_one(void)
{
	struct world x = { .shared = "" };

	make_pool(&x);
	make_leases(&x);
	survive(&x);
	own_blocks();
	make_leases(&x);
	w_sound(&w);
	end_pods();
}

START_TEST(no_lease_is_lost_whatever_dies)
{
	unsigned runs = testing_number("MODEL_RUNS", 30);

	seed = testing_number("MODEL_SEED", 1);
	fixture_open(&w);
	for (unsigned i = 0; i < runs; i++)
		run_one();
	printf("%u pools: %u processes died, %u survived\n", runs, died, survived);
	/* A run in which all or none died would show little. */
	ck_assert_msg(died > runs && survived > runs / 10, "%u died, %u survived", died, survived);
	fixture_close(&w);
}
END_TEST

TEST_PROGRAM("adopt_model", no_lease_is_lost_whatever_dies)
