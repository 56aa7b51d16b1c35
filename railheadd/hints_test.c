/* SPDX-License-Identifier: Apache-2.0 */
/* hints_test.c: shows which datagrams reach the agent, and whose. */
#include "railheadd/hints.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cluster/testing/loop.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

static const struct hint sent = { HINT_ADD, HINT_DONE, 420 };

struct bed {
	struct event_base *base;
	struct ctx ctx;
	struct hints *hints;
	unsigned heard;
	struct hint last;
};

static void hear(void *arg, const struct hint *h)
{
	struct bed *b = arg;

	b->heard++;
	b->last = *h;
}

static struct bed bed_begin(void)
{
	return (struct bed){ .base = loop_new(),
			     .ctx = { .run_dir = testing_dir(), .log.fd = -1 } };
}

static void bed_listen(struct bed *b)
{
	struct err e;

	ck_assert_msg(hints_new(&(struct hints_conf){ b->base, &b->ctx, hear, b }, &b->hints, &e) ==
			      0,
		      "%s", e.msg);
}

static void bed_end(struct bed *b)
{
	hints_free(b->hints);
	loop_free(b->base);
}

static struct sockaddr_un where(const struct bed *b)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };

	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s/" HINT_SOCKET, b->ctx.run_dir);
	return at;
}

static void send_text(const struct bed *b, const char *text, size_t len)
{
	const struct sockaddr_un at = where(b);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	ck_assert_int_eq(sendto(fd, text, len, 0, (const struct sockaddr *)&at, sizeof(at)),
			 (ssize_t)len);
	(void)close(fd);
}

static bool heard_one(const void *arg)
{
	return ((const struct bed *)arg)->heard > 0;
}

START_TEST(a_hint_is_heard)
{
	struct bed b = bed_begin();
	struct stat st;

	bed_listen(&b);
	ck_assert_int_eq(stat(where(&b).sun_path, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	hint_send(&b.ctx, &sent);
	loop_until(b.base, heard_one, &b);
	ck_assert_int_eq(b.last.after, HINT_ADD);
	ck_assert_uint_eq(b.last.micros, 420);
	bed_end(&b);
}
END_TEST

START_TEST(what_is_no_hint_is_dropped)
{
	static const char newer[] = "{\"version\":2,\"after\":\"add\"}";
	char longer[HINT_MAX + 64];
	struct bed b = bed_begin();

	bed_listen(&b);
	memset(longer, ' ', sizeof(longer));
	(void)hint_write(&sent, longer + 1);
	longer[strlen(longer)] = ' ';
	send_text(&b, longer, sizeof(longer)); /* a hint, if it were read without its end */
	send_text(&b, newer, sizeof(newer) - 1);
	send_text(&b, "", 0);
	loop_turn(b.base);
	ck_assert_uint_eq(b.heard, 0);
	hint_send(&b.ctx, &sent);
	loop_until(b.base, heard_one, &b);
	bed_end(&b);
}
END_TEST

/* A folder and a socket that are open by mistake: the mode is not what protects the agent. */
START_TEST(another_user_is_not_heard)
{
	struct bed b = bed_begin();
	int status;

	if (geteuid() != 0)
		return;
	bed_listen(&b);
	ck_assert_int_eq(chmod(b.ctx.run_dir, 0777), 0);
	ck_assert_int_eq(chmod(where(&b).sun_path, 0777), 0);
	pid_t pid = fork();
	if (pid == 0) {
		const struct sockaddr_un at = where(&b);
		char text[HINT_MAX];
		size_t len = hint_write(&sent, text);
		int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

		_exit(setuid(65534) || sendto(fd, text, len, 0, (const struct sockaddr *)&at,
					      sizeof(at)) != (ssize_t)len);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	loop_turn(b.base);
	ck_assert_uint_eq(b.heard, 0);
	bed_end(&b);
}
END_TEST

START_TEST(the_socket_of_a_dead_agent_is_replaced)
{
	struct bed b = bed_begin();
	const struct sockaddr_un at = where(&b);
	int fd = socket(AF_UNIX, SOCK_DGRAM, 0);

	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	(void)close(fd);
	bed_listen(&b);
	hint_send(&b.ctx, &sent);
	loop_until(b.base, heard_one, &b);
	bed_end(&b);
	ck_assert_int_ne(access(at.sun_path, F_OK), 0);
}
END_TEST

TEST_PROGRAM("railheadd/hints", a_hint_is_heard, what_is_no_hint_is_dropped,
	     another_user_is_not_heard, the_socket_of_a_dead_agent_is_replaced)
