/* SPDX-License-Identifier: Apache-2.0 */
/* log_test.c: shows the exact line of a message, and that errno and other lines are left alone. */
#include "lib/base/log.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <fcntl.h>
#include <wchar.h>

#include "lib/testing/testing.h"

/* A socket that keeps messages apart: each write(2) is one. */
static struct log open_log(int *reader)
{
	int fds[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	*reader = fds[0];
	return (struct log){ .fd = fds[1], .level = LOG_LEVEL_DEBUG, .tag = "macvlan" };
}

/* The next line, or "" if there is none. */
static const char *next_line(int reader)
{
	static char buf[10000];
	ssize_t n = recv(reader, buf, sizeof(buf) - 1, MSG_DONTWAIT);

	buf[n > 0 ? n : 0] = '\0';
	return buf;
}

START_TEST(line_has_all_fields)
{
	int reader;
	struct log log = open_log(&reader);

	log_error(&log, "one %d", 1);
	ck_assert_str_eq(next_line(reader), "level=error program=macvlan msg=\"one 1\"\n");
	log.context = "";
	log_warn(&log, "two");
	ck_assert_str_eq(next_line(reader), "level=warn program=macvlan msg=\"two\"\n");
	log.context = "container=c1 ifname=net1";
	log_info(&log, "three");
	ck_assert_str_eq(next_line(reader), "level=info program=macvlan container=c1 ifname=net1 "
					    "msg=\"three\"\n");
	log_debug(&log, "%s", "");
	ck_assert_str_eq(next_line(reader), "level=debug program=macvlan container=c1 ifname=net1 "
					    "msg=\"\"\n");
}
END_TEST

START_TEST(less_urgent_is_dropped)
{
	int reader;
	struct log log = open_log(&reader);

	log.level = LOG_LEVEL_WARN;
	log_info(&log, "no");
	log_debug(&log, "no");
	ck_assert_str_eq(next_line(reader), "");
	log_warn(&log, "yes");
	log_error(&log, "yes");
	ck_assert_str_ne(next_line(reader), "");
	ck_assert_str_ne(next_line(reader), "");
	log.fd = -1;
	log_error(&log, "nobody listens");
}
END_TEST

START_TEST(values_are_escaped)
{
	int reader;
	struct log log = open_log(&reader);

	log_info(&log, "a\nb\x01\x7f \"q\" \\ \xc3\xa9 \xf0\x9f\x9a\x82 \xff \xe2\x82");
	ck_assert_str_eq(next_line(reader),
			 "level=info program=macvlan msg=\"a\\x0ab\\x01\\x7f \\\"q\\\" \\\\ "
			 "\xc3\xa9 \xf0\x9f\x9a\x82 \\xff \\xe2\\x82\"\n");
	log.context = "container=c\n1";
	log_info(&log, "x");
	ck_assert_str_eq(next_line(reader),
			 "level=info program=macvlan container=c\\x0a1 msg=\"x\"\n");
	log.context = NULL;
	log_info(&log, "%lc", (wint_t)0x20ac); /* vsnprintf fails */
	ck_assert_str_eq(next_line(reader), "level=info program=macvlan msg=\"\"\n");
}
END_TEST

START_TEST(long_text_is_one_cut_line)
{
	int reader;
	struct log log = open_log(&reader);
	static char text[9000];

	/* what is escaped grows, and must not be cut in the middle */
	for (size_t i = 0; i < sizeof(text) - 1; i++)
		text[i] = "a\x01\"\\"[i % 4];
	for (size_t from = 0; from < 4; from++) {
		log_info(&log, "%s", text + from);
		const char *line = next_line(reader);
		size_t len = strlen(line);
		ck_assert_uint_le(len, 4096);
		ck_assert_uint_gt(len, 4096 - 10);
		ck_assert_str_eq(line + len - 5, "...\"\n");
		ck_assert_ptr_eq(strchr(line, '\n'), line + len - 1);
		ck_assert_str_eq(next_line(reader), "");
	}
	/* the context alone is too long */
	log.context = text;
	log_info(&log, "unseen");
	const char *line = next_line(reader);
	ck_assert_str_eq(line + strlen(line) - 5, "...\"\n");
	ck_assert_str_eq(next_line(reader), "");
}
END_TEST

START_TEST(errno_is_kept)
{
	int reader;
	struct log log = open_log(&reader);

	errno = EXDEV;
	log_info(&log, "good: %s", strerror(errno));
	ck_assert_int_eq(errno, EXDEV);
	close(log.fd);
	log_info(&log, "bad descriptor");
	ck_assert_int_eq(errno, EXDEV);
}
END_TEST

static int full_pipe[2];

static void drain(int signal)
{
	char buf[4096];

	(void)signal;
	while (read(full_pipe[0], buf, sizeof(buf)) > 0)
		;
}

START_TEST(interrupted_write_is_repeated)
{
	struct sigaction action = { .sa_handler = drain }; /* no SA_RESTART */
	struct itimerval timer = { .it_value = { .tv_usec = 10000 } };
	char buf[4096] = "";
	char got[200] = "";

	ck_assert_int_eq(pipe2(full_pipe, O_NONBLOCK | O_CLOEXEC), 0);
	while (write(full_pipe[1], buf, sizeof(buf)) > 0)
		;
	ck_assert_int_eq(fcntl(full_pipe[1], F_SETFL, 0), 0);
	ck_assert_int_eq(sigaction(SIGALRM, &action, NULL), 0);
	ck_assert_int_eq(setitimer(ITIMER_REAL, &timer, NULL), 0);
	struct log log = { .fd = full_pipe[1], .level = LOG_LEVEL_INFO, .tag = "t" };
	log_info(&log, "late");
	ck_assert_int_gt(read(full_pipe[0], got, sizeof(got) - 1), 0);
	ck_assert_str_eq(got, "level=info program=t msg=\"late\"\n");
}
END_TEST

TEST_PROGRAM("log", line_has_all_fields, less_urgent_is_dropped, values_are_escaped,
	     long_text_is_one_cut_line, errno_is_kept, interrupted_write_is_repeated)
