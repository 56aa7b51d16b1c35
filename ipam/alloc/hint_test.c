/* SPDX-License-Identifier: Apache-2.0 */
/* hint_test.c: shows what hints are, and that nothing on the agent's side can hold up who sends. */
#include "ipam/alloc/hint.h"

#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

static const struct hint sent = { HINT_ADD, HINT_FULL, 420 };

START_TEST(a_hint_arrives_as_it_was_sent)
{
	char text[HINT_MAX];
	struct hint got;
	struct err e;
	size_t len = hint_write(&sent, text);

	ck_assert_str_eq(text,
			 "{\"version\":1,\"after\":\"add\",\"outcome\":\"full\",\"micros\":420}");
	ck_assert_int_eq(hint_read(text, len, &got, &e), 0);
	ck_assert_int_eq(got.after, HINT_ADD);
	ck_assert_int_eq(got.outcome, HINT_FULL);
	ck_assert_uint_eq(got.micros, 420);
}
END_TEST

START_TEST(what_a_later_release_adds_is_ignored)
{
	static const char text[] = "{\"version\":1,\"after\":\"del\",\"outcome\":\"done\","
				   "\"micros\":1,\"pool\":[7]}";
	struct hint got;
	struct err e;

	ck_assert_int_eq(hint_read(text, sizeof(text) - 1, &got, &e), 0);
	ck_assert_int_eq(got.after, HINT_DEL);
}
END_TEST

START_TEST(datagrams_that_are_no_hints)
{
	static const struct {
		const char *text, *why;
	} all[] = {
		{ "", "hint is empty" },
		{ "{}", "hint.version: " },
		{ "{\"version\":2}", "hint.version: it is 2, not 1" },
		{ "{\"version\":1}", "hint.after: " },
		{ "{\"version\":1,\"after\":\"gc\"}", "hint.after: " },
		{ "{\"version\":1,\"after\":\"add\",\"outcome\":\"x\"}", "hint.outcome: " },
		{ "{\"version\":1,\"after\":\"add\",\"outcome\":\"full\",\"micros\":-1}",
		  "hint.micros: " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
		struct hint got;
		struct err e;

		ck_assert_int_eq(hint_read(all[i].text, strlen(all[i].text), &got, &e), -1);
		ck_assert_msg(strncmp(e.msg, all[i].why, strlen(all[i].why)) == 0, "%s: %s",
			      all[i].text, e.msg);
	}
}
END_TEST

static int listen_at(const struct ctx *ctx)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);

	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s/" HINT_SOCKET, ctx->run_dir);
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	return fd;
}

/* The kernel keeps a limited number for an agent that reads none. The test ends all the same. */
START_TEST(nobody_waits_for_an_agent_that_hangs)
{
	const struct ctx ctx = { .run_dir = testing_dir() };
	char text[HINT_MAX];
	int fd = listen_at(&ctx);
	unsigned n = 0;

	for (int i = 0; i < 20000; i++)
		hint_send(&ctx, &sent);
	while (recv(fd, text, sizeof(text), 0) > 0)
		n++;
	ck_assert_uint_gt(n, 0);
	ck_assert_uint_lt(n, 20000);
	(void)close(fd);
}
END_TEST

START_TEST(no_agent_and_no_folder)
{
	const struct ctx ctx = { .run_dir = testing_dir() }, none = { .run_dir = "/nosuch" };

	hint_send(&ctx, &sent);
	hint_send(&none, &sent);
	(void)close(listen_at(&ctx));
	hint_send(&ctx, &sent); /* the file of a dead agent */
}
END_TEST

TEST_PROGRAM("hint", a_hint_arrives_as_it_was_sent, what_a_later_release_adds_is_ignored,
	     datagrams_that_are_no_hints, nobody_waits_for_an_agent_that_hangs,
	     no_agent_and_no_folder)
