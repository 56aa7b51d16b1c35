/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_test.c: frames between two ends, timeouts, faults, and peers that end. */
#include "rdma/probe/tcp.h"

#include <errno.h>
#include <signal.h>
#include <sys/socket.h>

#include "lib/testing/testing.h"
#include "lib/testing/net.h"

static struct tcp a, b;

static void pair(void)
{
	int fd[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fd), 0);
	a = (struct tcp){ .fd = fd[0], .timeout_ms = 200 };
	b = (struct tcp){ .fd = fd[1], .timeout_ms = 200 };
}

static const struct wire_msg ready = { .type = WIRE_READY, .ready = { 5 } };

START_TEST(a_frame_arrives)
{
	struct err e = { 0 };
	struct wire_msg m;

	pair();
	ck_assert_int_eq(tcp_alive(&b, &e), 0);
	ck_assert_int_eq(tcp_send(&a, &ready, &e), 0);
	ck_assert_int_eq(tcp_alive(&b, &e), 0);
	ck_assert_int_eq(tcp_receive(&b, WIRE_READY, &m, &e), 0);
	ck_assert_uint_eq(m.ready.n, 5);
}
END_TEST

START_TEST(a_silent_peer_is_not_waited_for)
{
	struct err e = { 0 };
	struct wire_msg m;

	pair();
	ck_assert_int_eq(send(a.fd, "RHRP", 4, 0), 4);
	ck_assert_int_eq(tcp_receive(&b, WIRE_READY, &m, &e), -1);
	ck_assert_int_eq(e.code, ERR_AGAIN);
	ck_assert_str_eq(e.msg, "the peer was silent for 200 ms");
}
END_TEST

START_TEST(a_peer_that_goes_is_noticed)
{
	struct err e = { 0 };
	struct wire_msg m;

	pair();
	tcp_close(&a);
	ck_assert_int_eq(tcp_alive(&b, &e), -1);
	ck_assert_int_eq(tcp_receive(&b, WIRE_READY, &m, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
	ck_assert_str_eq(e.msg, "the peer closed the connection");
	(void)signal(SIGPIPE, SIG_IGN);
	ck_assert_int_eq(tcp_send(&b, &ready, &e), -1);
	tcp_close(&a);
}
END_TEST

START_TEST(its_words_are_the_error)
{
	struct err why = { 0 }, e = { 0 };
	struct wire_msg m;

	pair();
	err_set(&why, ERR_STATE, 0, "data came out wrong");
	err_hint(&why, "one thing");
	err_hint(&why, "another");
	tcp_send_fault(&a, &why);
	ck_assert_int_eq(tcp_alive(&b, &e), -1);
	ck_assert_str_eq(e.msg, "the peer says: data came out wrong; one thing;another");
	ck_assert_int_eq(tcp_receive(&b, WIRE_READY, &m, &e), -1);
	ck_assert_int_eq(e.code, ERR_STATE);
	ck_assert_str_eq(e.msg, "the peer says: data came out wrong; one thing;another");
}
END_TEST

START_TEST(a_code_that_is_none_of_ours)
{
	struct wire_msg m = { .type = WIRE_FAULT, .fault = { .code = 99, .text = "x" } };
	struct err e = { 0 };

	pair();
	ck_assert_int_eq(tcp_send(&a, &m, &e), 0);
	ck_assert_int_eq(tcp_receive(&b, WIRE_READY, &m, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
}
END_TEST

START_TEST(what_was_not_due)
{
	struct err e = { 0 };
	struct wire_msg m;
	const char junk[WIRE_HEADER] = "GET / HTTP/1";

	pair();
	ck_assert_int_eq(tcp_send(&a, &ready, &e), 0);
	ck_assert_int_eq(tcp_receive(&b, WIRE_RESULT, &m, &e), -1);
	ck_assert_str_eq(e.msg, "the peer sent READY where RESULT was due");
	ck_assert_int_eq(send(a.fd, junk, sizeof(junk), 0), sizeof(junk));
	ck_assert_int_eq(tcp_receive(&b, WIRE_READY, &m, &e), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
	ck_assert_ptr_nonnull(strstr(e.msg, "not an rdma-probe"));
}
END_TEST

/* A peer that takes nothing any more, with a full pipe. */
START_TEST(sending_does_not_wait_for_ever)
{
	struct err e = { 0 };

	pair();
	while (tcp_send(&a, &ready, &e) == 0)
		;
	ck_assert_int_eq(e.code, ERR_AGAIN);
}
END_TEST

/* ---- over the network ---- */

static struct tcp_to to(const char *addr, uint16_t port)
{
	struct tcp_to t = { .peer.port = port, .timeout_ms = 2000 };

	ck_assert_int_eq(ip_parse(addr, &t.peer.addr), 0);
	return t;
}

static void meets(struct ip listen_at, const char *addr)
{
	struct err e = { 0 };
	struct wire_msg m;
	struct tcp_to t = to(addr, 7100);
	auto_fd int fd = tcp_listen(listen_at, 7100, &e);
	char text[IP_STR_LEN];

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(tcp_connect(&t, &a, &e), 0);
	const struct tcp_wait wait = { .listening = fd, .wait_ms = 2000, .timeout_ms = 2000 };
	ck_assert_int_eq(tcp_accept(&wait, &b, &e), 0);
	/* IPv4 is IPv4, also over a socket for both. */
	ck_assert_str_eq(ip_format(b.local, text), addr);
	ck_assert_str_eq(ip_format(a.peer, text), addr);
	ck_assert(ip_equal(a.local, b.peer));
	ck_assert_int_eq(tcp_send(&b, &ready, &e), 0);
	ck_assert_int_eq(tcp_receive(&a, WIRE_READY, &m, &e), 0);
	tcp_close(&a);
	tcp_close(&b);
}

START_TEST(both_families_at_one_port)
{
	struct ip any = { 0 }, four;

	net_enter_new();
	meets(any, "127.0.0.1");
	meets(any, "::1");
	ck_assert_int_eq(ip_parse("127.0.0.3", &four), 0);
	meets(four, "127.0.0.3");
}
END_TEST

START_TEST(says_why_it_cannot_connect)
{
	struct err e = { 0 };
	struct tcp_to t = to("127.0.0.1", 7101);

	net_enter_new();
	ck_assert_int_eq(tcp_connect(&t, &a, &e), -1);
	ck_assert_int_eq(e.errnum, ECONNREFUSED);
	ck_assert_ptr_nonnull(strstr(e.detail, "rdma-probe serve"));
	ck_assert_int_eq(ip_parse("192.0.2.1", &t.from), 0);
	ck_assert_int_eq(tcp_connect(&t, &a, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "192.0.2.1 is not an address"));
	t = to("192.0.2.1", 7101);
	ck_assert_int_eq(tcp_connect(&t, &a, &e), -1);
	ck_assert_int_eq(e.errnum, ENETUNREACH);
}
END_TEST

START_TEST(says_why_it_cannot_listen)
{
	struct err e = { 0 };
	struct ip ip;

	net_enter_new();
	ck_assert_int_eq(ip_parse("192.0.2.1", &ip), 0);
	ck_assert_int_eq(tcp_listen(ip, 7102, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "not in this network namespace"));
	ck_assert_int_eq(ip_parse("127.0.0.1", &ip), 0);
	auto_fd int fd = tcp_listen(ip, 7102, &e);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(tcp_listen(ip, 7102, &e), -1);
	ck_assert_int_eq(e.errnum, EADDRINUSE);
	ck_assert_ptr_nonnull(strstr(e.detail, "perftest"));
	ck_assert_ptr_nonnull(strstr(e.detail, "sport = :7102"));
	ck_assert_ptr_nonnull(strstr(e.detail, "--port"));
	const struct tcp_wait wait = { .listening = fd, .wait_ms = 50, .timeout_ms = 50 };
	ck_assert_int_eq(tcp_accept(&wait, &a, &e), -1);
	ck_assert_int_eq(e.code, ERR_AGAIN);
}
END_TEST

TEST_PROGRAM("rdma/probe/tcp", a_frame_arrives, a_silent_peer_is_not_waited_for,
	     a_peer_that_goes_is_noticed, its_words_are_the_error, a_code_that_is_none_of_ours,
	     what_was_not_due, sending_does_not_wait_for_ever, both_families_at_one_port,
	     says_why_it_cannot_connect, says_why_it_cannot_listen)
