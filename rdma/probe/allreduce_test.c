/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allreduce_test.c: rings of threads on fake devices: right sums, spoiled data, and ranks that
 * end.
 */
#include "rdma/probe/allreduce.h"

#include <pthread.h>

#include "lib/testing/testing.h"
#include "lib/testing/net.h"
#include "rdma/probe/testing/verbs.h"

#define MOST 6

struct member {
	struct allreduce a;
	struct conf conf;
	struct wire_hop hops[MOST];
	struct err e;
	int rc;
};

static struct member members[MOST];

static int all_rounds(struct member *m)
{
	if (allreduce_join(&m->a, &m->conf, &m->e))
		return -1;
	for (uint32_t i = 0; i < m->conf.iterations; i++) {
		if (allreduce_round(&m->a, &m->e))
			return -1;
	}
	return allreduce_gather(&m->a, m->hops, &m->e);
}

static void *member_thread(void *arg)
{
	struct member *m = arg;

	m->rc = all_rounds(m);
	if (m->rc)
		allreduce_report(&m->a, &m->e);
	allreduce_close(&m->a);
	return NULL;
}

static void prepare(struct member *m, unsigned rank, unsigned ranks, size_t elements)
{
	memset(m, 0, sizeof(*m));
	m->conf = (struct conf){ .gid_index = -1, .timeout_ms = 10000, .iterations = 5 };
	m->a.rank = rank;
	m->a.hop.rank = (uint16_t)rank;
	m->a.next_tcp.fd = m->a.before_tcp.fd = -1;
	m->a.peers.n = ranks;
	for (unsigned i = 0; i < ranks; i++) {
		ck_assert_int_eq(ip_parse("127.0.0.1", &m->a.peers.list[i].addr), 0);
		m->a.peers.list[i].port = (uint16_t)(7000 + i);
	}
	m->a.data = (struct ring_data){ .type = ranks % 2 ? RING_U32 : RING_F32,
					.elements = elements,
					.ranks = ranks,
					.seed = rank };
	m->a.hello = (struct wire_hello){ .purpose = WIRE_RING,
					  .ring_type = (uint8_t)m->a.data.type,
					  .ranks = (uint16_t)ranks,
					  .seed = rank,
					  .iterations = 5,
					  .size = (uint32_t)(elements * RING_ELEMENT) };
}

static void run(unsigned ranks)
{
	pthread_t threads[MOST];

	for (unsigned i = 0; i < ranks; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, member_thread, &members[i]), 0);
	for (unsigned i = 0; i < ranks; i++)
		ck_assert_int_eq(pthread_join(threads[i], NULL), 0);
}

static void prepare_all(unsigned ranks, size_t elements)
{
	for (unsigned i = 0; i < ranks; i++)
		prepare(&members[i], i, ranks, elements);
}

START_TEST(every_rank_has_every_sum)
{
	static const size_t lengths[] = { 1, 3, 7, 1000 };

	net_enter_new();
	for (unsigned ranks = 2; ranks <= MOST; ranks++) {
		for (size_t l = 0; l < ARRAY_SIZE(lengths); l++) {
			prepare_all(ranks, lengths[l]);
			run(ranks);
			for (unsigned i = 0; i < ranks; i++) {
				if (members[i].rc)
					ck_abort_msg("rank %u of %u: %s", i, ranks,
						     members[i].e.msg);
				ck_assert_uint_eq(members[i].a.checked, 5 * lengths[l]);
			}
			ck_assert(!testing_verbs_misused());
		}
	}
}
END_TEST

START_TEST(every_rank_has_all_figures)
{
	net_enter_new();
	prepare_all(5, 100);
	run(5);
	for (unsigned i = 0; i < 5; i++) {
		for (unsigned j = 0; j < 5; j++) {
			ck_assert_uint_eq(members[i].hops[j].rank, j);
			/* 8 chunks of 20 elements, 5 times. */
			ck_assert_uint_eq(members[i].hops[j].bytes, 5 * 8 * 20 * 4);
			ck_assert_uint_eq(members[i].hops[j].ns, members[j].a.hop.ns);
		}
	}
}
END_TEST

START_TEST(a_spoilt_chunk_is_found_and_all_hear_of_it)
{
	static const enum spoil kinds[] = { SPOIL_BIT, SPOIL_LENGTH, SPOIL_LOST, SPOIL_ELSEWHERE };

	net_enter_new();
	for (size_t k = 0; k < ARRAY_SIZE(kinds); k++) {
		prepare_all(3, 300);
		testing_verbs_spoil(kinds[k], 4, 0);
		run(3);
		unsigned found = 0;
		for (unsigned i = 0; i < 3; i++) {
			ck_assert_int_ne(members[i].rc, 0);
			ck_assert_int_eq(members[i].e.code, ERR_STATE);
			found += strncmp(members[i].e.msg, "data came out wrong", 19) == 0;
		}
		ck_assert_uint_ge(found, 1);
	}
}
END_TEST

START_TEST(a_step_out_of_turn_is_found)
{
	net_enter_new();
	prepare_all(3, 300);
	testing_verbs_spoil(SPOIL_STALE, 3, 0);
	run(3);
	unsigned found = 0;
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_ne(members[i].rc, 0);
		found += strstr(members[i].e.msg, "came in step") != NULL;
	}
	ck_assert_uint_ge(found, 1);
}
END_TEST

static unsigned differ(const char *words)
{
	unsigned found = 0;

	run(3);
	for (unsigned i = 0; i < 3; i++) {
		ck_assert_int_ne(members[i].rc, 0);
		found += strstr(members[i].e.msg, words) != NULL;
	}
	if (!found)
		ck_abort_msg("none says \"%s\": \"%s\", \"%s\", \"%s\"", words, members[0].e.msg,
			     members[1].e.msg, members[2].e.msg);
	return found;
}

START_TEST(ranks_that_were_started_differently_say_so)
{
	net_enter_new();
	prepare_all(3, 300);
	members[1].a.hello.size = 64;
	differ("rank 0 was started with --size 1200, rank 1 with 64");
	prepare_all(3, 300);
	members[1].a.hello.iterations = 6;
	differ("rank 0 was started with --iterations 5, rank 1 with 6");
	prepare_all(3, 300);
	members[1].a.hello.ring_type = RING_F32;
	differ("rank 0 was started with --type u32, rank 1 with f32");
	prepare_all(3, 300);
	members[1].a.hello.cm = 1;
	differ("rank 0 was started with --no-cm, and rank 1 without");
	prepare_all(3, 300);
	members[1].a.hello.pkey = 0x8001;
	differ("rank 0 was started with --pkey 0x0000, rank 1 with 0x8001");
	prepare_all(3, 300);
	members[1].a.hello.sl = 2;
	differ("rank 0 was started with --sl 0, rank 1 with 2");
	prepare_all(3, 300);
	members[1].a.hello.has_tc = true;
	differ("rank 1 has a traffic class (--tc or NCCL_IB_TC), and rank 0 has none");
	prepare_all(3, 300);
	for (unsigned i = 0; i < 3; i++)
		members[i].a.hello.has_tc = true;
	members[1].a.hello.tc = 106;
	differ("rank 0 has traffic class 0 (--tc or NCCL_IB_TC), rank 1 has 106");
	prepare_all(3, 300);
	members[0].a.hello.ranks = 4;
	differ("have all ranks the same file of peers?");
	prepare_all(3, 300);
	members[2].a.hello.purpose = WIRE_MEASURE;
	differ("not a rank of a ring");
	prepare_all(3, 300);
	testing_verbs_depth(2);
	differ("takes 2 receives at a time, and 3 are needed");
}
END_TEST

/* Rank 0 has its next rank by then, and waits for the last one, which will not come. */
START_TEST(rank_0_hears_of_ranks_that_differ)
{
	net_enter_new();
	prepare_all(3, 300);
	members[2].a.hello.size = 64;
	ck_assert_uint_eq(differ("rank 1 was started with --size 1200, rank 2 with 64"), 3);
}
END_TEST

START_TEST(a_rank_that_never_comes)
{
	net_enter_new();
	prepare_all(3, 300);
	for (unsigned i = 0; i < 3; i++)
		members[i].conf.timeout_ms = 300;
	(void)member_thread(&members[1]);
	ck_assert_str_eq(members[1].e.msg,
			 "waiting for rank 0, the one before: no client connected within 300 ms");
	ck_assert_ptr_nonnull(strstr(members[1].e.detail, "\"rdma-probe allreduce\" running"));
	(void)member_thread(&members[0]);
	ck_assert_ptr_nonnull(
		strstr(members[0].e.msg, "the next rank, 1: cannot connect to 127.0.0.1:7001"));
	ck_assert_ptr_nonnull(strstr(members[0].e.detail, "\"rdma-probe allreduce\" running"));
}
END_TEST

TEST_PROGRAM("rdma/probe/allreduce", every_rank_has_every_sum, every_rank_has_all_figures,
	     a_spoilt_chunk_is_found_and_all_hear_of_it, a_step_out_of_turn_is_found,
	     ranks_that_were_started_differently_say_so, rank_0_hears_of_ranks_that_differ,
	     a_rank_that_never_comes)
