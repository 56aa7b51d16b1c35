/* SPDX-License-Identifier: Apache-2.0 */
/* transport_test.c: shows which pods are suspect, and that other traffic makes none suspect. */
#include "railheadd/watch/transport.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define LOOK_MS 20000

/* What a pod does, in Mbit/s. */
struct doing {
	uint64_t rails_out, rails_in, other_out, other_in;
	int qps;
	bool forced, few, gap; /* gap: not all connections could be read. few: all bytes are in
				  connections that end before the next look */
};

struct life {
	struct transport_table looks[2];
	struct transport_pod *now;
	uint64_t sum[4];
	uint64_t cookie;
};

static uint64_t bytes_of(uint64_t mbps)
{
	return mbps * LOOK_MS * 125;
}

static void flow(struct life *l, const struct transport_pod *before, const struct doing *d,
		 bool rail)
{
	const size_t at = rail ? 0 : 2;
	struct tcp_flow f;

	l->sum[at] = (d->few ? 0 : l->sum[at]) + bytes_of(rail ? d->rails_out : d->other_out);
	l->sum[at + 1] = (d->few ? 0 : l->sum[at + 1]) + bytes_of(rail ? d->rails_in : d->other_in);
	f = (struct tcp_flow){ .cookie = d->few ? ++l->cookie : rail,
			       .sent = l->sum[at],
			       .received = l->sum[at + 1] };
	transport_count(l->now, before, &f, rail);
}

/* The state after one more look. */
static int look(struct life *l, const struct doing *d)
{
	const struct transport_pod *before;
	struct err e;

	transport_clear(&l->looks[0]);
	l->looks[0] = l->looks[1];
	l->looks[1] = (struct transport_table){ 0 };
	l->now = transport_add(&l->looks[1], &e);
	ck_assert_ptr_nonnull(l->now);
	(void)snprintf(l->now->name, sizeof(l->now->name), "train-0");
	before = transport_find(&l->looks[0], l->now);
	l->now->complete = !d->gap;
	l->now->ms = LOOK_MS;
	l->now->qps = d->qps;
	l->now->forced = d->forced;
	flow(l, before, d, true);
	flow(l, before, d, false);
	transport_judge(l->now, before, 1000);
	return l->now->state;
}

static void end(struct life *l)
{
	transport_clear(&l->looks[0]);
	transport_clear(&l->looks[1]);
}

/* The state after a quarter of an hour, which no look before may differ from at its end. */
static int after(const struct doing *d)
{
	struct life l = { .cookie = 100 };
	int state = TRANSPORT_UNKNOWN;

	for (size_t i = 0; i < 45; i++)
		state = look(&l, d);
	end(&l);
	return state;
}

START_TEST(a_forced_socket_is_found_after_a_minute)
{
	const struct doing ring = { .rails_out = 9000, .rails_in = 9000, .qps = QPS_NONE };
	struct life l = { 0 };

	/* The first look has nothing to compare with. */
	for (size_t i = 0; i < 3; i++)
		ck_assert_int_eq(look(&l, &ring), TRANSPORT_UNKNOWN);
	ck_assert_int_eq(look(&l, &ring), TRANSPORT_SUSPECT);
	ck_assert_uint_eq(l.now->rails.sent, bytes_of(9000));
	ck_assert_uint_eq(l.now->other.sent, 0);
	end(&l);
}
END_TEST

/* After a look without all connections, the old ones are not new. */
START_TEST(a_gap_makes_old_bytes_no_new_ones)
{
	const struct doing ring = { .rails_out = 9000, .rails_in = 9000, .qps = QPS_NONE };
	const struct doing gap = { .qps = QPS_NONE, .gap = true };
	struct life l = { 0 };

	ck_assert_int_eq(look(&l, &ring), TRANSPORT_UNKNOWN);
	for (size_t i = 0; i < 9; i++) {
		ck_assert_int_eq(look(&l, i % 2 ? &gap : &ring), TRANSPORT_UNKNOWN);
		ck_assert_int_eq(l.now->over_ms, i ? 0 : LOOK_MS);
	}
	end(&l);
}
END_TEST

/* The test of a job leaves queue pairs behind it that were, and the job itself may use TCP. */
START_TEST(queue_pairs_that_were_seen_are_looked_for_again)
{
	struct transport_pod p = { .ms = LOOK_MS }, before = { .qps = QPS_NONE };
	const uint64_t much = bytes_of(2000);

	ck_assert(transport_needs_qps(&p, NULL, 1000));
	ck_assert(transport_needs_qps(&p, &before, 1000));
	before.qps = QPS_SEEN;
	ck_assert(!transport_needs_qps(&p, &before, 1000));
	p.other = (struct transport_bytes){ much, much };
	ck_assert(transport_needs_qps(&p, &before, 1000));
	p.rails = p.other;
	p.other = (struct transport_bytes){ 0, 0 };
	ck_assert(transport_needs_qps(&p, &before, 1000));
}
END_TEST

START_TEST(a_forced_socket_on_another_interface_needs_its_setting)
{
	struct doing ring = { .other_out = 9000, .other_in = 9000, .qps = QPS_NONE };

	ck_assert_int_eq(after(&ring), TRANSPORT_UNKNOWN);
	ring.forced = true;
	ck_assert_int_eq(after(&ring), TRANSPORT_SUSPECT);
}
END_TEST

/* What pods with rails do by TCP without being wrong. */
START_TEST(legitimate_traffic_is_quiet)
{
	static const struct doing kinds[] = {
		/* the bootstrap of NCCL: many short connections */
		{ .rails_out = 2,
		  .rails_in = 2,
		  .other_out = 40,
		  .other_in = 40,
		  .qps = QPS_NONE,
		  .few = true },
		/* Gloo, over the interface of the pod network, and slow over a rail */
		{ .other_out = 8000, .other_in = 8000, .qps = QPS_NONE },
		{ .rails_out = 300, .rails_in = 300, .qps = QPS_NONE },
		/* Ray moves objects between its nodes */
		{ .other_out = 20000, .other_in = 15000, .qps = QPS_NONE },
		/* NFS over a rail: data loading, a checkpoint */
		{ .rails_out = 60, .rails_in = 20000, .qps = QPS_NONE },
		{ .rails_out = 20000, .rails_in = 60, .qps = QPS_NONE },
		/* HTTP: a model is loaded, also with a proxy setting of NCCL */
		{ .other_out = 80, .other_in = 20000, .qps = QPS_NONE },
		{ .other_out = 80, .other_in = 20000, .qps = QPS_NONE, .forced = true },
		/* NVLink alone */
		{ .qps = QPS_NONE },
		{ .qps = QPS_NONE, .forced = true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++)
		ck_assert_int_eq(after(&kinds[i]), TRANSPORT_UNKNOWN);
}
END_TEST

START_TEST(a_queue_pair_is_rdma_whatever_tcp_does)
{
	const struct doing both = { .rails_out = 9000, .rails_in = 9000, .qps = QPS_SEEN };

	ck_assert_int_eq(after(&both), TRANSPORT_RDMA);
}
END_TEST

START_TEST(without_queue_pairs_to_see_nothing_is_suspect)
{
	const struct doing blind = { .rails_out = 9000, .rails_in = 9000, .qps = QPS_UNKNOWN };

	ck_assert_int_eq(after(&blind), TRANSPORT_UNKNOWN);
}
END_TEST

START_TEST(a_pause_begins_the_minute_again)
{
	const struct doing ring = { .rails_out = 9000, .rails_in = 9000, .qps = QPS_NONE };
	const struct doing pause = { .qps = QPS_NONE };
	struct life l = { 0 };

	for (size_t i = 0; i < 40; i++)
		ck_assert_int_eq(look(&l, i % 3 ? &ring : &pause), TRANSPORT_UNKNOWN);
	end(&l);
}
END_TEST

START_TEST(new_connections_count_whole)
{
	const struct doing ring = {
		.rails_out = 9000, .rails_in = 9000, .qps = QPS_NONE, .few = true
	};

	ck_assert_int_eq(after(&ring), TRANSPORT_SUSPECT);
}
END_TEST

START_TEST(more_connections_than_are_kept_are_unknown)
{
	struct transport_pod *p = calloc(2, sizeof(*p));

	ck_assert_ptr_nonnull(p);
	for (size_t round = 0; round < 2; round++) {
		p[round] = (struct transport_pod){ .qps = QPS_NONE, .counted = true, .ms = 60000 };
		for (uint64_t i = 0; i < TRANSPORT_SOCKETS_MAX + 1; i++) {
			const struct tcp_flow f = { .cookie = i + 1,
						    .sent = (round + 1) << 30,
						    .received = (round + 1) << 30 };

			transport_count(&p[round], round ? &p[0] : NULL, &f, true);
		}
		transport_judge(&p[round], round ? &p[0] : NULL, 1000);
		ck_assert_uint_eq(p[round].n_sockets, TRANSPORT_SOCKETS_MAX);
		ck_assert(!p[round].counted);
		ck_assert_int_eq(p[round].state, TRANSPORT_UNKNOWN);
	}
	free(p);
}
END_TEST

/* NULL: no memory. */
static struct json *printed(const struct transport_table *t, bool sockets)
{
	auto_json struct json *o = json_new_object();

	return o && transport_add_to(o, t, sockets) == 0 ? TAKE_PTR(o) : NULL;
}

START_TEST(a_look_survives_its_text)
{
	struct transport_table t = { 0 }, back = { 0 };
	struct err e;
	struct transport_pod *p = transport_add(&t, &e);
	const struct tcp_flow f = { .cookie = 7, .sent = 1u << 30, .received = 5 };

	(void)snprintf(p->ns, sizeof(p->ns), "ml");
	(void)snprintf(p->name, sizeof(p->name), "train-0");
	(void)snprintf(p->cause, sizeof(p->cause), "NCCL_IB_DISABLE is 1 (the environment)");
	p->complete = p->counted = true;
	p->ms = 20000;
	p->qps = QPS_NONE;
	p->state = TRANSPORT_SUSPECT;
	transport_count(p, NULL, &f, true);
	(void)snprintf(p->missed, sizeof(p->missed), "more than 64 rails");
	t.left_out = 3;

	auto_json struct json *list = printed(&t, true);
	auto_json struct json *brief = printed(&t, false);

	ck_assert_int_eq(transport_read(list, &back, &e), 0);
	ck_assert_ptr_eq(transport_find(&back, p), back.pod[0]);
	auto_json struct json *again = printed(&back, true);
	auto_free char *want = json_print(list, false), *got = json_print(again, false);
	ck_assert_str_eq(got, want);
	auto_free char *text = json_print(brief, false);
	ck_assert_str_eq(
		text,
		"{\"pods\":[{\"namespace\":\"ml\",\"pod\":\"train-0\",\"uid\":\"\","
		"\"container\":\"\",\"state\":\"suspect\",\"queuePairs\":\"none\","
		"\"at\":0,\"milliseconds\":20000,\"rails\":{\"sent\":1073741824,\"received\":5},"
		"\"other\":{\"sent\":0,\"received\":0},\"checked\":false,\"forced\":false,"
		"\"cause\":\"NCCL_IB_DISABLE is 1 (the environment)\","
		"\"overMilliseconds\":0,\"told\":false,\"missed\":\"more than 64 rails\"}],"
		"\"leftOut\":3}");
	transport_clear(&t);
	transport_clear(&back);
}
END_TEST

static int print_and_read(void *arg, struct err *e)
{
	auto_clean(transport_clear) struct transport_table t = { 0 }, back = { 0 };

	(void)arg;
	for (size_t i = 0; i < 2; i++) {
		if (!transport_add(&t, e))
			return -1;
	}
	t.pod[0]->n_sockets = 1;
	auto_json struct json *list = printed(&t, true);

	return list ? transport_read(list, &back, e) : err_nomem(e);
}

START_TEST(allocations_may_fail)
{
	ck_assert_str_eq(alloc_fail_each(print_and_read, NULL), "ok");
}
END_TEST

START_TEST(a_wrong_look_is_refused)
{
	static const char *const wrong[] = { "{\"pods\":[{\"pod\":1}]}",
					     "{\"pods\":[{\"state\":\"good\"}]}",
					     "{\"pods\":[{\"sockets\":[{\"c\":-1}]}]}",
					     "{\"leftOut\":-1}" };
	struct transport_table t = { 0 };
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(wrong); i++) {
		auto_json struct json *list = NULL;

		ck_assert_int_eq(json_parse(wrong[i], strlen(wrong[i]), "look", &list, &e), 0);
		ck_assert_int_eq(transport_read(list, &t, &e), -1);
		transport_clear(&t);
	}
	while (t.n < TRANSPORT_PODS_MAX)
		ck_assert_ptr_nonnull(transport_add(&t, &e));
	ck_assert_ptr_null(transport_add(&t, &e));
	ck_assert_str_eq(e.msg, "more than 256 pods with rails");
	transport_clear(&t);
}
END_TEST

START_TEST(pods_of_one_job_share_a_name)
{
	static const char *const names[][2] = {
		{ "train-0-x7k2p", "train" },             /* an Indexed Job */
		{ "train-x7k2p", "train" },               /* a Job */
		{ "js-workers-0-3-x7k2p", "js-workers" }, /* a JobSet */
		{ "lws-0-1", "lws" },                     /* a LeaderWorkerSet */
		{ "mpi-worker-12", "mpi-worker" },        /* an MPIJob */
		{ "train-llama", "train-llama" },         /* vowels are in no random end */
		{ "7", "7" },
		{ "-7", "-7" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		char job[254];

		transport_job(names[i][0], job);
		ck_assert_str_eq(job, names[i][1]);
	}
}
END_TEST

TEST_PROGRAM("transport", a_forced_socket_is_found_after_a_minute,
	     a_gap_makes_old_bytes_no_new_ones, queue_pairs_that_were_seen_are_looked_for_again,
	     a_forced_socket_on_another_interface_needs_its_setting, legitimate_traffic_is_quiet,
	     a_queue_pair_is_rdma_whatever_tcp_does, without_queue_pairs_to_see_nothing_is_suspect,
	     a_pause_begins_the_minute_again, new_connections_count_whole,
	     more_connections_than_are_kept_are_unknown, a_look_survives_its_text,
	     allocations_may_fail, a_wrong_look_is_refused, pods_of_one_job_share_a_name)
