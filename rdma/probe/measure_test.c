/* SPDX-License-Identifier: Apache-2.0 */
/* measure_test.c: measurements between two threads on fake devices, also with spoiled data. */
#include "rdma/probe/measure.h"

#include <pthread.h>
#include <sys/socket.h>

#include "lib/testing/testing.h"
#include "rdma/probe/session.h"
#include "rdma/probe/testing/verbs.h"

/* The two ends of one measurement, each a thread. */
struct end {
	struct run run;
	struct tcp tcp;
	struct conf_nccl nccl;
	struct err e;
	int rc;
};

#define NO_NCCL ((struct conf_nccl){ -1, -1, -1, false })

static void *measure_end(void *arg)
{
	struct end *end = arg;
	const struct conf c = { .gid_index = -1, .nccl = end->nccl };
	struct run *r = &end->run;
	struct wire_msg m;

	r->tcp = &end->tcp;
	if (r->client)
		end->rc = session_client(r, &c, &end->e);
	else
		end->rc = tcp_receive(&end->tcp, WIRE_HELLO, &m, &end->e) ||
					  session_server(r, &c, &end->e)
				  ? -1
				  : 0;
	if (!end->rc)
		end->rc = measure(r, &end->e);
	if (end->rc)
		tcp_send_fault(&end->tcp, &end->e);
	verbs_close(&r->conn);
	return NULL;
}

static struct end client, server;

/* Both ends get the HELLO; the variables of NCCL are those of each end. */
static void run_hello(struct wire_hello h, struct conf_nccl here, struct conf_nccl there)
{
	pthread_t thread;
	int fd[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	client = (struct end){ .run = { .hello = h, .client = true },
			       .nccl = here,
			       .tcp = { .fd = fd[0], .timeout_ms = 20000 } };
	server = (struct end){ .run = { .hello = h },
			       .nccl = there,
			       .tcp = { .fd = fd[1], .timeout_ms = 20000 } };
	ck_assert_int_eq(pthread_create(&thread, NULL, measure_end, &server), 0);
	(void)measure_end(&client);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	tcp_close(&client.tcp);
	tcp_close(&server.tcp);
}

static void run(uint32_t size, uint32_t iterations)
{
	const struct wire_hello h = { .size = size, .iterations = iterations, .seed = 42 };

	run_hello(h, NO_NCCL, NO_NCCL);
}

static void good(uint32_t size, uint32_t iterations)
{
	run(size, iterations);
	if (client.rc || server.rc)
		ck_abort_msg("%u x %u: client: %s, server: %s", iterations, size, client.e.msg,
			     server.e.msg);
	const struct wire_result *r = &client.run.result;
	uint64_t bytes = (uint64_t)size * iterations;
	uint64_t small = size < 64 ? size : 64, trips = iterations < 10000 ? iterations : 10000;
	for (size_t i = 0; i < WAYS; i++) {
		ck_assert_uint_eq(r->out[i].bytes, bytes);
		ck_assert_uint_eq(r->in[i].bytes, bytes);
		ck_assert_uint_gt(r->out[i].ns, 0);
	}
	ck_assert_uint_eq(r->checked, 4 * bytes + 2 * trips * small);
	ck_assert_uint_eq(r->messages, 4 * (uint64_t)iterations + 2 * trips);
	ck_assert_uint_eq(r->lat_count, trips);
	ck_assert_uint_le(r->lat_min, r->lat_p50);
	ck_assert_uint_le(r->lat_p50, r->lat_p99);
	ck_assert_uint_le(r->lat_p99, r->lat_max);
	ck_assert(!testing_verbs_misused());
}

START_TEST(data_of_every_size_passes)
{
	good(1, 1);
	good(1, 3);
	good(63, 5);
	good(64, 4);
	good(65, 40);
	good(4096, 17);
	good(100000, 3);
}
END_TEST

START_TEST(more_than_fits_at_once)
{
	good(8, 1300);
	good(1 << 20, 40);
	good(20 << 20, 2);
}
END_TEST

START_TEST(a_shallow_device_will_do)
{
	for (unsigned depth = 16; depth < 60; depth += 7) {
		testing_verbs_depth(depth);
		good(128, 100);
	}
}
END_TEST

static void found(enum spoil how, unsigned n, const char *words)
{
	testing_verbs_spoil(how, n, 5);
	run(200, 10);
	ck_assert_int_ne(client.rc, 0);
	ck_assert_int_ne(server.rc, 0);
	ck_assert_int_eq(server.e.code, ERR_STATE);
	if (!strstr(server.e.msg, words))
		ck_abort_msg("request %u: \"%s\" does not say \"%s\"", n, server.e.msg, words);
	/* The other end is told. */
	if (!strstr(client.e.msg, "the peer says: data came out wrong"))
		ck_abort_msg("the client says \"%s\"", client.e.msg);
	ck_assert_int_eq(client.e.code, ERR_STATE);
}

/* Ten trips, then ten sends, then ten writes, the last of which tells. */
START_TEST(each_thing_that_goes_wrong_is_found)
{
	found(SPOIL_BIT, 0, "message 0 (round trip) has 1 wrong bytes of 64; the first is byte 5");
	found(SPOIL_BIT, 9, "message 9 (round trip)");
	found(SPOIL_BIT, 10, "message 0 (send) has 1 wrong bytes of 200; the first is byte 5");
	found(SPOIL_BIT, 19, "message 9 (send)");
	found(SPOIL_BIT, 20, "message 0 (RDMA write)");
	found(SPOIL_BIT, 29, "message 9 (RDMA write)");
	found(SPOIL_LENGTH, 3, "of 64 bytes came as 63");
	found(SPOIL_LENGTH, 12, "of 200 bytes came as 199");
	found(SPOIL_LENGTH, 22, "message 2 (RDMA write) has 1 wrong bytes");
	found(SPOIL_LOST, 25, "message 5 (RDMA write) has");
	found(SPOIL_LOST, 29, "message 9 (RDMA write) has");
	found(SPOIL_ELSEWHERE, 21, "message 1 (RDMA write) has");
	found(SPOIL_STALE, 29, "carried message 7, expected 0");
	found(SPOIL_TWICE, 11, "data came out wrong: message 2 (send)");
}
END_TEST

START_TEST(what_fails_here_is_told_there)
{
	testing_verbs_spoil(SPOIL_ERROR, 15, 0);
	run(200, 10);
	ck_assert_str_eq(client.e.msg, "posting is spoilt");
	ck_assert_str_eq(server.e.msg, "the peer says: posting is spoilt");
}
END_TEST

START_TEST(a_device_that_is_refused_is_told_there)
{
	testing_verbs_refuse(true, false);
	run(200, 10);
	ck_assert_str_eq(client.e.msg, "this device is refused");
	ck_assert_int_eq(server.e.code, ERR_UNAVAILABLE);
	ck_assert_str_eq(server.e.msg, "the peer says: this device is refused");
	testing_verbs_refuse(false, true);
	run(200, 10);
	ck_assert_str_eq(server.e.msg, "this device is refused");
	ck_assert_str_eq(client.e.msg, "the peer says: this device is refused");
}
END_TEST

START_TEST(the_class_of_NCCL_is_that_of_one_end)
{
	struct wire_hello h = { .size = 64, .iterations = 1, .seed = 42 };
	const struct conf_nccl here = { 106, 3, 5, false }, there = { 40, -1, -1, false };

	run_hello(h, here, there);
	ck_assert_int_eq(client.rc, 0);

	struct verbs_pick c = testing_verbs_picked(false), s = testing_verbs_picked(true);

	ck_assert(c.has_tc && c.tc == 106 && c.sl == 3 && c.gid_index == 5 && c.gid_of_nccl);
	ck_assert(c.tc_of_nccl && s.tc_of_nccl);
	ck_assert(s.has_tc && s.tc == 40 && s.sl == 0 && s.gid_index == -1 && !s.gid_of_nccl);
	ck_assert_int_eq(client.run.tc, 106);
	/* Options count at both ends, also class 0. */
	h.has_tc = true;
	h.sl = 1;
	run_hello(h, here, there);
	c = testing_verbs_picked(false);
	s = testing_verbs_picked(true);
	ck_assert(c.has_tc && c.tc == 0 && c.sl == 1 && s.has_tc && s.tc == 0 && s.sl == 1);
	/* Nobody says anything. */
	h.has_tc = false;
	run_hello(h, NO_NCCL, NO_NCCL);
	c = testing_verbs_picked(false);
	ck_assert(!c.has_tc && client.run.tc == -1);
}
END_TEST

TEST_PROGRAM("rdma/probe/measure", the_class_of_NCCL_is_that_of_one_end, data_of_every_size_passes,
	     more_than_fits_at_once, a_shallow_device_will_do, each_thing_that_goes_wrong_is_found,
	     what_fails_here_is_told_there, a_device_that_is_refused_is_told_there)
