/* SPDX-License-Identifier: Apache-2.0 */
/* nl_test.c: shows how broken, lost, interrupted and refused answers become errors. */
#include "lib/net/nl_msg.h"

#include <errno.h>
#include <limits.h>
#include <linux/rtnetlink.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "lib/net/link.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/net.h"

/* ---- a scripted kernel ---- */

#define A_MESSAGE 100

/* What a sink saw: how often a list began, and the payloads since. */
struct seen {
	int begun, n;
	uint32_t value[8];
	int fail_at; /* the message, from 1, that the sink refuses; 0: none */
};

static int see(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct seen *s = arg;

	if (!h) {
		s->begun++;
		s->n = 0;
		return 0;
	}
	ck_assert_int_lt(s->n, (int)ARRAY_SIZE(s->value));
	memcpy(&s->value[s->n++], nlmsg_data(h), sizeof(uint32_t));
	return s->n == s->fail_at ? err_set(e, ERR_STATE, 0, "refused by the sink") : 0;
}

static void say(const struct net_fake *k, uint32_t seq, int type, int flags, uint32_t value)
{
	const struct nlmsghdr h = {
		.nlmsg_type = (uint16_t)type,
		.nlmsg_flags = (uint16_t)flags,
		.nlmsg_seq = seq,
	};

	net_say(k, &h, &value, sizeof(value));
}

static int ask(const struct net_fake *k, struct seen *s, bool list, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct rtgenmsg g = { 0 };
	struct nl_sink sink = { see, s };

	nl_req_begin(&rq, RTM_GETADDR, 0, &g, sizeof(g));
	return list ? nl_get_dump(k->nl, &rq, sink, e) : nl_get(k->nl, &rq, sink, e);
}

static int change(const struct net_fake *k, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { 0 };

	nl_req_begin(&rq, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	return nl_request(k->nl, &rq, e);
}

START_TEST(an_interrupted_list_is_read_again)
{
	struct net_fake k = net_fake();
	struct seen s = { 0 };
	struct err e = { 0 };

	say(&k, 1, A_MESSAGE, NLM_F_MULTI, 11);
	say(&k, 1, A_MESSAGE, NLM_F_MULTI | NLM_F_DUMP_INTR, 12);
	say(&k, 1, NLMSG_DONE, NLM_F_MULTI, 0);
	say(&k, 2, A_MESSAGE, NLM_F_MULTI, 21);
	say(&k, 2, NLMSG_DONE, NLM_F_MULTI, 0);
	ck_assert_int_eq(ask(&k, &s, true, &e), 0);
	ck_assert_int_eq(s.begun, 2);
	ck_assert_int_eq(s.n, 1);
	ck_assert_uint_eq(s.value[0], 21);
	ck_assert_str_eq(e.msg, "");
	nl_release(k.nl);
}
END_TEST

START_TEST(a_list_that_is_always_interrupted_is_try_again)
{
	struct net_fake k = net_fake();
	struct seen s = { 0 };
	struct err e = { 0 };

	for (uint32_t i = 1; i <= 6; i++)
		say(&k, i, NLMSG_DONE, NLM_F_MULTI | NLM_F_DUMP_INTR, 0);
	ck_assert_int_eq(ask(&k, &s, true, &e), -1);
	ck_assert_int_eq(e.code, ERR_AGAIN);
	ck_assert_int_eq(s.begun, 5);
	nl_release(k.nl);
}
END_TEST

START_TEST(an_overrun_repeats_the_list)
{
	struct net_fake k = net_fake();
	struct seen s = { 0 };
	struct err e = { 0 };

	say(&k, 1, NLMSG_OVERRUN, 0, 0);
	say(&k, 1, NLMSG_DONE, NLM_F_MULTI, 0);
	say(&k, 2, A_MESSAGE, NLM_F_MULTI, 5);
	say(&k, 2, NLMSG_DONE, NLM_F_MULTI, 0);
	ck_assert_int_eq(ask(&k, &s, true, &e), 0);
	ck_assert_int_eq(s.n, 1);
	nl_release(k.nl);
}
END_TEST

START_TEST(an_answer_lost_for_good_is_an_error)
{
	struct net_fake k = net_fake();
	struct err e = { 0 };

	say(&k, 1, NLMSG_OVERRUN, 0, 0);
	ck_assert_int_eq(change(&k, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, ENOBUFS);
	nl_release(k.nl);
}
END_TEST

START_TEST(answers_to_others_are_skipped)
{
	struct net_fake k = net_fake();
	struct seen s = { 0 };
	struct err e = { 0 };

	net_ack(&k, 0, EBUSY);
	net_ack(&k, 77, EBUSY);
	say(&k, 7, A_MESSAGE, 0, 1);
	say(&k, 1, NLMSG_NOOP, 0, 2);
	say(&k, 1, A_MESSAGE, 0, 3);
	ck_assert_int_eq(ask(&k, &s, false, &e), 0);
	ck_assert_int_eq(s.n, 1);
	ck_assert_uint_eq(s.value[0], 3);
	nl_release(k.nl);
}
END_TEST

START_TEST(a_sink_that_refuses_ends_the_list_in_its_error)
{
	struct net_fake k = net_fake();
	struct seen s = { .fail_at = 2 };
	struct err e = { 0 };

	for (uint32_t i = 1; i <= 3; i++)
		say(&k, 1, A_MESSAGE, NLM_F_MULTI, i);
	say(&k, 1, NLMSG_DONE, NLM_F_MULTI, (uint32_t)-EIO);
	ck_assert_int_eq(ask(&k, &s, true, &e), -1);
	ck_assert_str_eq(e.msg, "refused by the sink");
	ck_assert_int_eq(s.n, 2);
	/* All of it was read: the next exchange finds its own answer. */
	s = (struct seen){ 0 };
	say(&k, 2, A_MESSAGE, 0, 9);
	ck_assert_int_eq(ask(&k, &s, false, &e), 0);
	ck_assert_uint_eq(s.value[0], 9);
	nl_release(k.nl);
}
END_TEST

START_TEST(a_list_may_end_in_an_error_number)
{
	struct net_fake k = net_fake();
	struct seen s = { 0 };
	struct err e = { 0 };

	say(&k, 1, NLMSG_DONE, NLM_F_MULTI, (uint32_t)-ENODEV);
	ck_assert_int_eq(ask(&k, &s, true, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, ENODEV);
	nl_release(k.nl);
}
END_TEST

START_TEST(broken_answers_are_errors)
{
	struct net_fake k = net_fake();
	struct err e = { 0 };
	static char big[NL_RECV_SIZE + 1];

	say(&k, 1, NLMSG_ERROR, 0, 0); /* shorter than struct nlmsgerr */
	ck_assert_int_eq(change(&k, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);

	ck_assert_int_eq(send(k.peer, big, sizeof(big), 0), sizeof(big));
	ck_assert_int_eq(change(&k, &e), -1);
	ck_assert_int_eq(e.errnum, EMSGSIZE);

	ck_assert_int_eq(send(k.peer, big, 3, 0), 3); /* shorter than a header: skipped */
	net_ack(&k, 3, 0);
	ck_assert_int_eq(change(&k, &e), 0);

	ck_assert_int_eq(shutdown(k.peer, SHUT_WR), 0);
	ck_assert_int_eq(change(&k, &e), -1);
	ck_assert_int_eq(e.errnum, EPIPE);
	nl_release(k.nl);
}
END_TEST

/* Found by fuzzing: an errno that is none, and an acknowledgement where an answer was asked for. */
START_TEST(answers_that_no_kernel_gives)
{
	struct net_fake k = net_fake();
	struct seen s = { 0 };
	struct err e = { 0 };

	net_ack(&k, 1, INT_MAX);
	ck_assert_int_eq(change(&k, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	net_ack(&k, 2, -ENOENT);
	ck_assert_int_eq(change(&k, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	say(&k, 3, NLMSG_DONE, 0, 0x80000000);
	ck_assert_int_eq(ask(&k, &s, true, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	net_ack(&k, 4, 0);
	ck_assert_int_eq(ask(&k, &s, false, &e), -1);
	ck_assert_int_eq(e.errnum, EBADMSG);
	nl_release(k.nl);
}
END_TEST

/* An acknowledgement as a kernel without NETLINK_CAP_ACK sends it: with all of the request. */
static void refuse_with_request(const struct net_fake *k, int attr, const void *data, int len)
{
	struct nl_msg *m = nlmsg_alloc_simple(NLMSG_ERROR, NLM_F_ACK_TLVS);
	struct {
		struct nlmsgerr ack;
		char body[16];
	} head = { .ack = { .error = -EINVAL, .msg.nlmsg_len = NLMSG_HDRLEN + 16 } };

	ck_assert_ptr_nonnull(m);
	ck_assert_int_eq(nlmsg_append(m, &head, sizeof(head), NLMSG_ALIGNTO), 0);
	ck_assert_int_eq(nla_put(m, attr, len, data), 0);
	nlmsg_hdr(m)->nlmsg_seq = k->nl->seq + 1;
	ck_assert_int_gt(send(k->peer, nlmsg_hdr(m), nlmsg_hdr(m)->nlmsg_len, 0), 0);
	nlmsg_free(m);
}

START_TEST(ext_ack_in_every_form)
{
	struct net_fake k = net_fake();
	struct err e = { 0 };
	uint32_t n = 42;

	refuse_with_request(&k, NLMSGERR_ATTR_MSG, "no such luck", 13);
	ck_assert_int_eq(change(&k, &e), -1);
	ck_assert_str_eq(e.detail, "kernel: no such luck");
	refuse_with_request(&k, NLMSGERR_ATTR_MSG, "no NUL", 6);
	ck_assert_int_eq(change(&k, &e), -1);
	ck_assert_str_eq(e.detail, "kernel: no NUL");
	refuse_with_request(&k, NLMSGERR_ATTR_MISS_TYPE, &n, sizeof(n));
	ck_assert_int_eq(change(&k, &e), -1);
	ck_assert_str_eq(e.detail, "kernel: attribute 42 is missing");
	refuse_with_request(&k, NLMSGERR_ATTR_OFFS, &n, sizeof(n));
	ck_assert_int_eq(change(&k, &e), -1);
	ck_assert_str_eq(e.detail, "kernel: it stopped at byte 42 of the request");
	refuse_with_request(&k, NLMSGERR_ATTR_OFFS, "!", 1); /* too short */
	ck_assert_int_eq(change(&k, &e), -1);
	ck_assert_str_eq(e.detail, "");
	ck_assert_int_eq(e.errnum, EINVAL);
	nl_release(k.nl);
}
END_TEST

START_TEST(permission_is_explained)
{
	struct net_fake k = net_fake();
	struct err e = { 0 };

	net_ack(&k, 1, EPERM);
	ck_assert_int_eq(change(&k, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.detail, "CAP_NET_ADMIN"));
	nl_release(k.nl);
}
END_TEST

static struct net_fake late_kernel;

static void answer_late(int sig)
{
	(void)sig;
	net_ack(&late_kernel, 1, 0);
}

/* The handler runs in the middle of the read, which then fails with EINTR. */
START_TEST(a_signal_does_not_break_an_exchange)
{
	struct sigaction sa = { .sa_handler = answer_late };
	struct itimerval soon = { .it_value.tv_usec = 20000 };
	struct err e = { 0 };

	late_kernel = net_fake();
	ck_assert_int_eq(sigaction(SIGALRM, &sa, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &soon, NULL), 0);
	ck_assert_int_eq(change(&late_kernel, &e), 0);
	nl_release(late_kernel.nl);
}
END_TEST

START_TEST(a_request_that_does_not_fit_is_no_memory)
{
	struct net_fake k = net_fake();
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { 0 };
	static const char big[64 * 1024];
	struct err e = { 0 };

	nl_req_begin(&rq, RTM_NEWLINK, 0, &ifi, sizeof(ifi));
	nl_req_put(&rq, 1, big, sizeof(big));
	nl_req_put_u32(&rq, 2, 2);
	nl_req_nest_end(&rq, nl_req_nest(&rq, 3));
	ck_assert_int_eq(nl_request(k.nl, &rq, &e), -1);
	ck_assert_int_eq(e.code, ERR_NOMEM);
	nl_release(k.nl);
}
END_TEST

/* ---- the real one ---- */

START_TEST(ext_ack_of_the_kernel)
{
	net_enter_new();
	auto_nl struct nl *nl = net_socket();
	auto_nl_req struct nl_req rq = { 0 };
	struct ifinfomsg ifi = { 0 };
	struct err e = { 0 };

	nl_req_begin(&rq, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &ifi, sizeof(ifi));
	nl_req_put_str(&rq, IFLA_IFNAME, "x");

	struct nlattr *info = nl_req_nest(&rq, IFLA_LINKINFO);

	nl_req_put_str(&rq, IFLA_INFO_KIND, "nonesuch");
	nl_req_nest_end(&rq, info);
	ck_assert_int_eq(nl_request(nl, &rq, &e), -1);
	ck_assert_int_eq(e.code, ERR_KERNEL);
	ck_assert_int_eq(e.errnum, EOPNOTSUPP);
	ck_assert_str_eq(e.msg, "the kernel refused: Operation not supported");
	ck_assert_str_eq(e.detail, "kernel: Unknown device type");
}
END_TEST

START_TEST(opens_in_another_namespace_and_returns)
{
	net_enter_new();
	auto_netns struct netns host = net_self(), other = net_another();
	struct err e = { 0 };

	net_veth("here", "there", &other);

	auto_nl struct nl *in = net_socket_in(&other), *same = net_socket_in(&host);
	auto_netns struct netns after = net_self();
	struct link_info li;

	ck_assert(netns_same(host.id, after.id));
	ck_assert(!netns_same(host.id, other.id));
	ck_assert_int_eq(nl_link_by_name(in, "there", &li, &e), 0);
	ck_assert_int_eq(nl_link_by_name(in, "here", &li, &e), -1);
	ck_assert_int_eq(nl_link_by_name(same, "here", &li, &e), 0);
}
END_TEST

START_TEST(a_namespace_that_cannot_be_entered)
{
	net_enter_new();
	auto_netns struct netns host = net_self();
	struct netns closed = { .fd = -1 };
	struct nl *nl = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(nl_open_in(&closed, &host, &nl, &e), -1);
	ck_assert_int_eq(e.code, ERR_NETNS);
	ck_assert_ptr_null(nl);
}
END_TEST

/* Anybody who is privileged may send to our port; only the kernel is believed. */
START_TEST(another_process_cannot_answer)
{
	net_enter_new();
	auto_nl struct nl *nl = net_socket(), *liar = net_socket();
	struct sockaddr_nl to;
	socklen_t len = sizeof(to);
	struct link_info li;
	struct err e = { 0 };

	ck_assert_int_eq(nl_link_by_name(nl, "lo", &li, &e), 0);
	ck_assert_int_eq(getsockname(nl->fd, (struct sockaddr *)&to, &len), 0);

	struct {
		struct nlmsghdr h;
		struct nlmsgerr ack;
	} lie = {
		.h = { .nlmsg_len = sizeof(lie),
		       .nlmsg_type = NLMSG_ERROR,
		       .nlmsg_seq = nl->seq + 1 },
		.ack = { .error = -EBUSY },
	};

	ck_assert_int_eq(sendto(liar->fd, &lie, sizeof(lie), 0, (void *)&to, sizeof(to)),
			 sizeof(lie));
	ck_assert_msg(nl_link_by_name(nl, "lo", &li, &e) == 0, "%s", e.msg);
}
END_TEST

static int count(const struct nlmsghdr *h, void *arg, struct err *e)
{
	(void)e;
	*(int *)arg = h ? *(int *)arg + 1 : 0;
	return 0;
}

/* Events that nobody reads fill the socket until the kernel drops some and says ENOBUFS. */
START_TEST(a_full_socket_is_enlarged_and_the_list_repeated)
{
	net_enter_new();
	struct nl *full = NULL;
	struct err e = { 0 };
	int small = 1, before, after, n = -1;
	socklen_t len = sizeof(int);

	ck_assert_int_eq(nl_open_bound(RTMGRP_LINK, &full, &e), 0);
	ck_assert_int_eq(setsockopt(full->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small)), 0);
	ck_assert_int_eq(getsockopt(full->fd, SOL_SOCKET, SO_RCVBUF, &before, &len), 0);
	for (int i = 0; i < 20; i++) {
		char name[IFNAME_LEN];

		(void)snprintf(name, sizeof(name), "br%d", i);
		net_link("bridge", name);
	}

	auto_nl_req struct nl_req rq = { 0 };
	struct ifaddrmsg ifa = { .ifa_family = AF_INET };

	nl_req_begin(&rq, RTM_GETADDR, 0, &ifa, sizeof(ifa));
	ck_assert_msg(nl_get_dump(full, &rq, (struct nl_sink){ count, &n }, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(n, 1); /* 127.0.0.1 */
	ck_assert_int_eq(getsockopt(full->fd, SOL_SOCKET, SO_RCVBUF, &after, &len), 0);
	ck_assert_int_gt(after, before);
	nl_release(full);
}
END_TEST

static int open_and_close(void *arg, struct err *e)
{
	struct nl *nl = NULL;

	(void)arg;
	if (nl_open(&nl, e))
		return -1;
	nl_release(nl);
	return 0;
}

static int fill_list(void *arg, struct err *e)
{
	struct nl_list l = { 0 };
	int rc = 0;

	(void)arg;
	for (int i = 0; rc == 0 && i < 100; i++)
		rc = nl_list_add(&l, &i, sizeof(i), e);
	nl_list_clear(&l);
	return rc;
}

START_TEST(allocations_may_fail)
{
	ck_assert_str_eq(alloc_fail_each(open_and_close, NULL), "ok");
	ck_assert_str_eq(alloc_fail_each(fill_list, NULL), "ok");
	nl_release(NULL);
}
END_TEST

TEST_PROGRAM("nl", an_interrupted_list_is_read_again,
	     a_list_that_is_always_interrupted_is_try_again, an_overrun_repeats_the_list,
	     an_answer_lost_for_good_is_an_error, answers_to_others_are_skipped,
	     a_sink_that_refuses_ends_the_list_in_its_error, a_list_may_end_in_an_error_number,
	     broken_answers_are_errors, answers_that_no_kernel_gives, ext_ack_in_every_form,
	     permission_is_explained, a_signal_does_not_break_an_exchange,
	     a_request_that_does_not_fit_is_no_memory, ext_ack_of_the_kernel,
	     opens_in_another_namespace_and_returns, a_namespace_that_cannot_be_entered,
	     another_process_cannot_answer, a_full_socket_is_enlarged_and_the_list_repeated,
	     allocations_may_fail)
