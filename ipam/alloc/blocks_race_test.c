/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocks_race_test.c: processes ADD and DEL while an agent grants, retires and drops their blocks,
 * and is killed at any moment. A block that was retired has no address in use.
 */
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "ipam/testing/blocks.h"
#include "ipam/testing/ipam.h"

#define RACERS 8
#define BLOCKS 4
#define KILLS  20
#define LAPS   10 /* of the agent, between two kills */
#define FIRST  0x0a010000u
#define CONF   "{\"pool\":\"rail0\"}"

/* Shared by all. */
struct board {
	_Atomic int holder[BLOCKS * 4];
	_Atomic int ours[BLOCKS]; /* 0: retired, so no address of it may be in use */
	_Atomic unsigned given, retired, laps;
	_Atomic int duplicates, strays, failures;
};

static void open_own(struct fixture *w)
{
	struct err e;

	w->m.store = NULL;
	if (ipam_open(&w->ctx, NULL, true, &w->m, &e))
		_exit(2);
}

static void hold(struct board *b, unsigned a, int racer)
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

static void race(struct fixture *w, struct board *b, int racer)
{
	char id[32];

	(void)snprintf(id, sizeof(id), "r%d", racer);
	for (;;) {
		struct ip ip;

		open_own(w);
		const char *got = w_add(w, CONF, id, "");
		if (ip_parse(got, &ip) == 0)
			hold(b, (unsigned)ip.v - FIRST, racer);
		else
			atomic_fetch_add(&b->failures, w->e.code != ERR_EXHAUSTED);
		w_del(w, id);
		ipam_close(&w->m);
	}
}

/* Whoever is killed after a retire leaves the block marked as ours, which accuses nobody. */
static void serve(struct fixture *w, struct board *b, uint32_t seed)
{
	open_own(w);
	for (;;) {
		seed = seed * 1664525 + 1013904223;
		unsigned i = (seed >> 16) % BLOCKS;
		struct block_record r = { .key = { "rail0", { IP_V4, FIRST + 4 * i } },
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

static pid_t begin(struct fixture *w, struct board *b, int racer, uint32_t seed)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	if (racer >= 0)
		race(w, b, racer);
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
	struct board *b =
		mmap(NULL, sizeof(*b), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	auto_fixture struct fixture w = { .now = 0 };
	pid_t pids[RACERS];
	char id[16];

	ck_assert(b != MAP_FAILED);
	fixture_open(&w);
	ck_assert_int_eq(w_shared(&w, "rail0", "u1",
				  "{\"subnet\":\"10.1.0.0/24\",\"blockSize\":4,\"cooldown\":0}"),
			 0);
	w_node(&w, 1, INT64_MAX);
	pid_t agent = begin(&w, b, -1, 1);
	for (int i = 0; i < RACERS; i++)
		pids[i] = begin(&w, b, i, 0);
	for (unsigned i = 0; i < KILLS; i++) {
		/* not at a time but after deeds */
		while (atomic_load(&b->laps) < LAPS * (i + 1))
			(void)sched_yield();
		end(agent);
		agent = begin(&w, b, -1, i + 2);
	}
	while (atomic_load(&b->given) < 100 || atomic_load(&b->retired) < 20)
		(void)sched_yield();
	end(agent);
	for (int i = 0; i < RACERS; i++)
		end(pids[i]);
	for (int i = 0; i < RACERS; i++) {
		(void)snprintf(id, sizeof(id), "r%d", i);
		w_del(&w, id);
	}
	ck_assert_int_eq(atomic_load(&b->duplicates), 0);
	ck_assert_int_eq(atomic_load(&b->strays), 0);
	ck_assert_int_eq(atomic_load(&b->failures), 0);
	w_sound(&w);
}
END_TEST

TEST_PROGRAM("blocks_race", a_retired_block_has_no_address_in_use)
