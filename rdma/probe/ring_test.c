/* SPDX-License-Identifier: Apache-2.0 */
/* ring_test.c: simulated rings give right sums, and slots are never reused too early. */
#include "rdma/probe/ring.h"

#include <stdio.h>

#include "lib/testing/testing.h"

START_TEST(chunks_cover_everything_once)
{
	for (size_t elements = 0; elements < 70; elements++) {
		for (unsigned ranks = 2; ranks < 9; ranks++) {
			size_t at = 0;
			for (unsigned i = 0; i < ranks; i++) {
				struct ring_chunk c = ring_chunk(elements, ranks, i);
				ck_assert_uint_eq(c.at, at);
				ck_assert_uint_ge(c.count, elements / ranks);
				ck_assert_uint_le(c.count, elements / ranks + 1);
				at += c.count;
			}
			ck_assert_uint_eq(at, elements);
		}
	}
}
END_TEST

START_TEST(what_one_sends_the_next_expects)
{
	for (unsigned ranks = 2; ranks < 12; ranks++) {
		for (unsigned s = 0; s < ring_steps(ranks); s++) {
			for (unsigned r = 0; r < ranks; r++) {
				struct ring_step mine = ring_step(r, ranks, s);
				struct ring_step next = ring_step((r + 1) % ranks, ranks, s);
				ck_assert_uint_eq(mine.send, next.receive);
				ck_assert_uint_lt(mine.send, ranks);
				ck_assert(mine.add == (s < ranks - 1));
			}
		}
	}
}
END_TEST

#define MOST 8
#define LONG 100

/* A whole ring in memory: ranks take their steps in a random order, each as far as it can. */
struct ranks {
	struct ring_data d;
	uint32_t vector[MOST][LONG], slot[MOST][MOST][LONG];
	uint64_t sent[MOST], received[MOST], in_slot[MOST][MOST];
};

static void send_step(struct ranks *w, unsigned r)
{
	unsigned n = w->d.ranks, next = (r + 1) % n;
	uint64_t t = w->sent[r]++;
	struct ring_step s = ring_step(r, n, (unsigned)(t % ring_steps(n)));
	struct ring_chunk c = ring_chunk(w->d.elements, n, s.send);
	unsigned slot = ring_slot(t, n);

	/* Whatever lay there was used up: nobody had to ask. */
	ck_assert(t < n || w->received[next] > w->in_slot[next][slot]);
	memcpy(w->slot[next][slot], w->vector[r] + c.at, c.count * RING_ELEMENT);
	w->in_slot[next][slot] = t;
}

static void receive_step(struct ranks *w, unsigned r)
{
	unsigned n = w->d.ranks;
	uint64_t t = w->received[r]++;
	struct ring_step s = ring_step(r, n, (unsigned)(t % ring_steps(n)));
	struct ring_chunk c = ring_chunk(w->d.elements, n, s.receive);
	uint32_t *to = w->vector[r] + c.at, *from = w->slot[r][ring_slot(t, n)];

	if (s.add)
		ring_add(to, from, c.count, w->d.type);
	else
		memcpy(to, from, c.count * RING_ELEMENT);
}

/* One step of rank r where it can take one: sends and receives take turns. */
static bool advance(struct ranks *w, unsigned r, uint64_t end)
{
	unsigned before = (r + w->d.ranks - 1) % w->d.ranks;

	if (w->sent[r] == w->received[r] && w->sent[r] < end) {
		send_step(w, r);
		return true;
	}
	if (w->sent[r] > w->received[r] && w->sent[before] > w->received[r]) {
		receive_step(w, r);
		return true;
	}
	return false;
}

static void run(struct ranks *w)
{
	unsigned random = w->d.ranks * 7 + (unsigned)w->d.elements;
	uint64_t end = ring_steps(w->d.ranks);
	unsigned idle = 0;

	for (unsigned r = 0; r < w->d.ranks; r++) {
		ring_fill(&w->d, r, w->vector[r]);
		w->sent[r] = w->received[r] = 0;
	}
	while (idle < 1000) {
		random = random * 1103515245 + 12345;
		/* Some rank runs ahead as far as it can. */
		unsigned r = (random >> 16) % w->d.ranks;
		idle = advance(w, r, end) ? 0 : idle + 1;
	}
	for (unsigned r = 0; r < w->d.ranks; r++)
		ck_assert_uint_eq(w->received[r], end);
}

START_TEST(every_sum_is_right_in_any_order)
{
	static struct ranks w;
	struct ring_fault fault;

	for (int type = RING_U32; type <= RING_F32; type++) {
		for (unsigned ranks = 2; ranks <= MOST; ranks++) {
			w = (struct ranks){ .d = { .type = (enum ring_type)type,
						   .elements = LONG - ranks,
						   .ranks = ranks,
						   .seed = 3 } };
			run(&w);
			for (unsigned r = 0; r < ranks; r++)
				ck_assert(ring_check(&w.d, w.vector[r], &fault));
		}
	}
}
END_TEST

START_TEST(slots_last_over_many_rounds)
{
	static struct ranks w;

	for (unsigned ranks = 2; ranks <= MOST; ranks++) {
		w = (struct ranks){ .d = { .elements = 4, .ranks = ranks } };
		unsigned random = ranks;
		for (unsigned i = 0; i < 200000; i++) {
			random = random * 1103515245 + 12345;
			(void)advance(&w, (random >> 16) % ranks, 1000);
		}
		/* And with one that never waits for the others when it need not. */
		for (unsigned i = 0; i < 20000; i++) {
			while (advance(&w, i % ranks, 3000))
				;
		}
		ck_assert_uint_eq(w.received[0], 3000);
	}
}
END_TEST

START_TEST(a_wrong_sum_is_found)
{
	const struct ring_data d = { .type = RING_U32, .elements = LONG, .ranks = 3, .seed = 9 };
	uint32_t sum[LONG], part[LONG];
	struct ring_fault fault = { 0 };

	ring_fill(&d, 0, sum);
	for (unsigned r = 1; r < 3; r++) {
		ck_assert(!ring_check(&d, sum, &fault));
		ring_fill(&d, r, part);
		ring_add(sum, part, LONG, d.type);
	}
	ck_assert(ring_check(&d, sum, &fault));
	for (size_t i = 0; i < LONG; i++) {
		sum[i]++;
		ck_assert(!ring_check(&d, sum, &fault));
		ck_assert_uint_eq(fault.element, i);
		ck_assert_uint_eq(fault.wrong, 1);
		ck_assert_double_eq(fault.got, sum[i]);
		sum[i]--;
	}
	struct ring_data other = d;
	other.round = 1;
	ck_assert(!ring_check(&other, sum, &fault));
	ck_assert_uint_gt(fault.wrong, LONG - 3);
}
END_TEST

START_TEST(a_wrong_float_is_found)
{
	const struct ring_data d = { .type = RING_F32, .elements = 5, .ranks = 2, .seed = 1 };
	float sum[5], part[5];
	struct ring_fault fault = { 0 };

	ring_fill(&d, 0, sum);
	ring_fill(&d, 1, part);
	ring_add(sum, part, 5, d.type);
	ck_assert(ring_check(&d, sum, &fault));
	sum[4] += 1;
	ck_assert(!ring_check(&d, sum, &fault));
	ck_assert_uint_eq(fault.element, 4);
	ck_assert_double_eq(fault.got, fault.want + 1);
}
END_TEST

TEST_PROGRAM("rdma/probe/ring", chunks_cover_everything_once, what_one_sends_the_next_expects,
	     every_sum_is_right_in_any_order, slots_last_over_many_rounds, a_wrong_sum_is_found,
	     a_wrong_float_is_found)
