/* SPDX-License-Identifier: Apache-2.0 */
/* tcp_test.c: shows on a real kernel which connections a namespace has, and what they carried. */
#include "lib/net/tcp.h"

#include <errno.h>
#include <linux/inet_diag.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/net/nl_msg.h"
#include "lib/testing/net.h"
#include "lib/testing/testing.h"

struct seen {
	size_t n;
	struct tcp_flow flow[4];
};

static int see(const struct tcp_flow *f, void *arg)
{
	struct seen *s = arg;

	ck_assert_uint_lt(s->n, ARRAY_SIZE(s->flow));
	s->flow[s->n++] = *f;
	return 0;
}

static int stop(const struct tcp_flow *f, void *arg)
{
	(void)f;
	return ++*(int *)arg;
}

/* Both ends of a connection over lo, that carried n bytes to ends[1] and acknowledged them. */
static void talk(int family, const void *addr, socklen_t len, int ends[2], size_t n)
{
	const int server = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_storage at;
	socklen_t at_len = sizeof(at);
	char bytes[1000] = "";

	ck_assert_int_eq(bind(server, addr, len), 0);
	ck_assert_int_eq(listen(server, 1), 0);
	ck_assert_int_eq(getsockname(server, (struct sockaddr *)&at, &at_len), 0);
	ends[0] = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(ends[0], (struct sockaddr *)&at, at_len), 0);
	ends[1] = accept(server, NULL, NULL);
	ck_assert_int_ge(ends[1], 0);
	ck_assert_int_eq(close(server), 0);
	ck_assert_int_eq(write(ends[0], bytes, n), (ssize_t)n);
	ck_assert_int_eq(recv(ends[1], bytes, n, MSG_WAITALL), (ssize_t)n);
	/* Its answer acknowledges all. */
	ck_assert_int_eq(write(ends[1], bytes, 1), 1);
	ck_assert_int_eq(read(ends[0], bytes, 1), 1);
}

START_TEST(connections_of_a_namespace_with_their_bytes)
{
	const struct sockaddr_in v4 = { .sin_family = AF_INET,
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	const struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
					 .sin6_addr = IN6ADDR_LOOPBACK_INIT };
	auto_nl struct nl *nl = NULL;
	auto_netns struct netns other, host;
	struct seen s = { 0 };
	struct err e = { 0 };
	int a[2], b[2], stopped = 0;

	net_enter_new();
	host = net_self();
	other = net_another();
	talk(AF_INET, &v4, sizeof(v4), a, 700);
	talk(AF_INET6, &v6, sizeof(v6), b, 900);
	ck_assert_int_eq(nl_tcp_open_in(&host, &host, &nl, &e), 0);
	ck_assert_msg(nl_tcp_list(nl, see, &s, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(s.n, 4);
	for (size_t i = 0; i < 4; i += 2) {
		const struct tcp_flow *f = &s.flow[i], *g = &s.flow[i + 1];
		const uint64_t n = i ? 900 : 700;

		ck_assert_int_eq(f->local.family, i ? IP_V6 : IP_V4);
		ck_assert(ip_equal(f->local, g->remote));
		ck_assert_uint_ne(f->cookie, g->cookie);
		/* The kernel counts a SYN, and that byte may wait for its acknowledgement. */
		ck_assert_uint_ge(f->sent + g->sent, n);
		ck_assert_uint_le(f->sent + g->sent, n + 2);
		ck_assert_uint_eq(f->received + g->received, n + 1);
	}
	ck_assert_int_eq(nl_tcp_list(nl, stop, &stopped, &e), 0);
	ck_assert_int_ge(stopped, 1);
	nl_release(nl);
	nl = NULL;
	s.n = 0;
	ck_assert_int_eq(nl_tcp_open_in(&other, &host, &nl, &e), 0);
	ck_assert_int_eq(nl_tcp_list(nl, see, &s, &e), 0);
	ck_assert_uint_eq(s.n, 0);
}
END_TEST

/* ---- answers as other kernels write them ---- */

static void answer(const struct net_fake *k, uint8_t family, size_t info)
{
	struct {
		struct inet_diag_msg m;
		struct nlattr a;
		uint8_t info[256];
	} b = { .m = { .idiag_family = family }, .a = { .nla_type = INET_DIAG_INFO } };
	const struct nlmsghdr h = { .nlmsg_type = SOCK_DIAG_BY_FAMILY, .nlmsg_seq = 1 };
	const struct nlmsghdr end = { .nlmsg_type = NLMSG_DONE, .nlmsg_seq = 1 };
	const int zero = 0;

	b.a.nla_len = (uint16_t)(sizeof(b.a) + info);
	net_say(k, &h, &b, sizeof(b.m) + sizeof(b.a) + info);
	net_say(k, &end, &zero, sizeof(zero));
}

START_TEST(a_kernel_that_does_not_count_bytes_is_refused)
{
	struct net_fake old = net_fake(), odd = net_fake();
	struct seen s = { 0 };
	struct err e = { 0 };

	answer(&old, AF_INET, 104);
	ck_assert_int_eq(nl_tcp_list(old.nl, see, &s, &e), -1);
	ck_assert_int_eq(e.errnum, EOPNOTSUPP);
	answer(&odd, AF_UNIX, 200);
	ck_assert_int_eq(nl_tcp_list(odd.nl, see, &s, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	ck_assert_uint_eq(s.n, 0);
	nl_release(old.nl);
	nl_release(odd.nl);
}
END_TEST

TEST_PROGRAM("tcp", connections_of_a_namespace_with_their_bytes,
	     a_kernel_that_does_not_count_bytes_is_refused)
