/* SPDX-License-Identifier: Apache-2.0 */
/*
 * race_test.c: 50 processes draw from one pool and are killed at any moment (CNI-152). No address
 * is ever given to two, and when their DELs have run none is left. Then the same while an agent
 * grants, retires and drops blocks: a block that was retired has no address in use.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"

#define RACERS 50
#define KILLS  60
#define CONF   "{\"ranges\":[[{\"subnet\":\"10.0.0.0/26\"}],[{\"subnet\":\"fd00::/64\"}]]}"

/* Shared by all: who believes to hold each IPv4 address, and how far each racer has come. */
struct board {
	_Atomic int holder[64];
	_Atomic unsigned laps; /* of all racers */
	_Atomic int duplicates, failures;
};

static _Atomic int *place_of(struct board *b, const char *text)
{
	struct ip ip;
	char first[64];

	(void)snprintf(first, sizeof(first), "%.*s", (int)strcspn(text, " "), text);
	if (ip_parse(first, &ip))
		return NULL;
	return &b->holder[ip.v & 63];
}

static void open_own(struct fixture *w)
{
	struct err e;

	w->m.store = NULL;
	if (ipam_open(&w->ctx, NULL, true, &w->m, &e))
		_exit(2);
}

/* ADD, look, DEL, as fast as it goes; each lap with a store opened anew, as plugins do. */
static void race(struct fixture *w, struct board *b, int racer, int life)
{
	char id[32];

	(void)snprintf(id, sizeof(id), "r%d-%d", racer, life);
	for (;;) {
		open_own(w);
		const char *got = w_add(w, CONF, id, "");
		_Atomic int *place = place_of(b, got);
		int nobody = 0;

		if (!place)
			atomic_fetch_add(&b->failures, w->e.code != ERR_EXHAUSTED);
		else if (!atomic_compare_exchange_strong(place, &nobody, racer + 1))
			atomic_fetch_add(&b->duplicates, 1);
		if (place)
			atomic_store(place, 0);
		w_del(w, id);
		ipam_close(&w->m);
		atomic_fetch_add(&b->laps, 1);
	}
}

static pid_t begin(struct fixture *w, struct board *b, int racer, int life)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		race(w, b, racer, life);
		_exit(0);
	}
	return pid;
}

/* The runtime's part: the dead one's DEL. */
static void bury(struct fixture *w, struct board *b, pid_t pid, int racer, int life)
{
	char id[32];
	int status;

	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	for (int i = 0; i < 64; i++) {
		int me = racer + 1;
		(void)atomic_compare_exchange_strong(&b->holder[i], &me, 0);
	}
	(void)snprintf(id, sizeof(id), "r%d-%d", racer, life);
	w_del(w, id);
}

START_TEST(concurrent_adds_get_distinct_addresses)
{
	struct board *b =
		mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t pids[RACERS];
	int lives[RACERS] = { 0 };
	uint32_t seed = 7;
	auto_fixture struct fixture w = { .now = 0 };

	ck_assert(b != MAP_FAILED);
	fixture_open(&w);
	for (int i = 0; i < RACERS; i++)
		pids[i] = begin(&w, b, i, 0);
	for (int i = 0; i < KILLS; i++) {
		seed = seed * 1664525 + 1013904223;
		int racer = (int)((seed >> 8) % RACERS);
		unsigned until = atomic_load(&b->laps) + 1 + (seed >> 16) % RACERS;

		/* not at a time but after deeds of anybody */
		while (atomic_load(&b->laps) < until)
			(void)sched_yield();
		bury(&w, b, pids[racer], racer, lives[racer]);
		lives[racer]++;
		pids[racer] = begin(&w, b, racer, lives[racer]);
	}
	for (int i = 0; i < RACERS; i++)
		bury(&w, b, pids[i], i, lives[i]);
	ck_assert_int_eq(atomic_load(&b->duplicates), 0);
	ck_assert_int_eq(atomic_load(&b->failures), 0);
	w_sound(&w);
	struct json *list = NULL;
	const struct lease_filter all = { .pool = NULL };
	ck_assert_int_eq(admin_leases(&w.m, &all, &list, &w.e), 0);
	ck_assert_uint_eq(json_len(list), 0);
	json_free(list);
}
END_TEST

/*
 * ---- blocks: the agent is killed, too ----
 */

#define AGENT_RACERS 8
#define BLOCKS       4
#define AGENT_KILLS  20
#define LAPS         10 /* of the agent, between two kills */
#define FIRST        0x0a010000u
#define POOL_CONF    "{\"pool\":\"rail0\"}"

/* Shared by all: who holds each address, and which blocks may have any. */
struct block_board {
	_Atomic int holder[BLOCKS * 4];
	_Atomic int ours[BLOCKS]; /* 0: retired, so no address of it may be in use */
	_Atomic unsigned given, retired, laps;
	_Atomic int duplicates, strays, failures;
};

static void hold(struct block_board *b, unsigned a, int racer)
{
	int nobody = 0;

	if (!atomic_compare_exchange_strong(&b->holder[a], &nobody, racer + 1))
		atomic_fetch_add(&b->duplicates, 1);
	for (int i = 0; i < 3; i++) {
		if (!atomic_load(&b->ours[a / 4]))
			atomic_fetch_add(&b->strays, 1);
		(void)sched_yield();
	}
	atomic_store(&b->holder[a], 0);
	atomic_fetch_add(&b->given, 1);
}

static void race_in_blocks(struct fixture *w, struct block_board *b, int racer)
{
	char id[32];

	(void)snprintf(id, sizeof(id), "r%d", racer);
	for (;;) {
		struct ip ip;

		open_own(w);
		const char *got = w_add(w, POOL_CONF, id, "");
		if (ip_parse(got, &ip) == 0)
			hold(b, (unsigned)ip.v - FIRST, racer);
		else
			atomic_fetch_add(&b->failures, w->e.code != ERR_EXHAUSTED);
		w_del(w, id);
		ipam_close(&w->m);
	}
}

/* Whoever is killed after a retire leaves the block marked as ours, which accuses nobody. */
static void serve(struct fixture *w, struct block_board *b, uint32_t seed)
{
	open_own(w);
	for (;;) {
		seed = seed * 1664525 + 1013904223;
		unsigned i = (seed >> 16) % BLOCKS;
		struct block_record r = { .key = { .pool = "rail0",
						   .start = { IP_V4, FIRST + 4 * i } },
					  .state = BLOCK_GRANTED,
					  .epoch = 1 };

		if (blocks_retire(&w->m, &r.key, &w->e) == 0) {
			atomic_store(&b->ours[i], 0);
			atomic_fetch_add(&b->retired, 1);
			(void)sched_yield();
			if (blocks_drop(&w->m, &r.key, &w->e))
				atomic_fetch_add(&b->failures, 1);
		}
		atomic_store(&b->ours[i], 1);
		if (blocks_put(&w->m, &r, &w->e))
			atomic_fetch_add(&b->failures, 1);
		atomic_fetch_add(&b->laps, 1);
	}
}

static pid_t begin_in_blocks(struct fixture *w, struct block_board *b, int racer, uint32_t seed)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	if (racer >= 0)
		race_in_blocks(w, b, racer);
	serve(w, b, seed);
	_exit(0);
}

static void end(pid_t pid)
{
	int status;

	ck_assert_int_eq(kill(pid, SIGKILL), 0);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

START_TEST(a_retired_block_has_no_address_in_use)
{
	struct block_board *b =
		mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	auto_fixture struct fixture w = { .now = 0 };
	pid_t pids[AGENT_RACERS];
	char id[16];

	ck_assert(b != MAP_FAILED);
	fixture_open(&w);
	ck_assert_int_eq(w_shared(&w, "rail0", "u1",
				  "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":4,\"cooldown\":0}"),
			 0);
	w_node(&w, 1, INT64_MAX);
	pid_t agent = begin_in_blocks(&w, b, -1, 1);
	for (int i = 0; i < AGENT_RACERS; i++)
		pids[i] = begin_in_blocks(&w, b, i, 0);
	for (unsigned i = 0; i < AGENT_KILLS; i++) {
		/* not at a time but after deeds */
		while (atomic_load(&b->laps) < LAPS * (i + 1))
			(void)sched_yield();
		end(agent);
		agent = begin_in_blocks(&w, b, -1, i + 2);
	}
	while (atomic_load(&b->given) < 100 || atomic_load(&b->retired) < 20)
		(void)sched_yield();
	end(agent);
	for (int i = 0; i < AGENT_RACERS; i++)
		end(pids[i]);
	for (int i = 0; i < AGENT_RACERS; i++) {
		(void)snprintf(id, sizeof(id), "r%d", i);
		w_del(&w, id);
	}
	ck_assert_int_eq(atomic_load(&b->duplicates), 0);
	ck_assert_int_eq(atomic_load(&b->strays), 0);
	ck_assert_int_eq(atomic_load(&b->failures), 0);
	w_sound(&w);
}
END_TEST

TEST_PROGRAM("race", concurrent_adds_get_distinct_addresses, a_retired_block_has_no_address_in_use)
