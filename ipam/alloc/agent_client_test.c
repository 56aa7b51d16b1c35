/* SPDX-License-Identifier: Apache-2.0 */
/* agent_client_test.c: shows what a client makes of agents that answer, hang, break off or lie. */
#include "ipam/alloc/agent_client.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

#define LONG_MS 20000 /* never waited for */

/* An agent that reads a line and sends `answer`; NULL: nothing, and it stays. */
struct stand_in {
	pid_t pid;
	struct ctx ctx;
};

static void serve(int listener, const char *answer)
{
	char line[4096] = "";
	int fd = accept(listener, NULL, NULL);

	while (!memchr(line, '\n', sizeof(line)) && read(fd, line, sizeof(line)) > 0)
		;
	if (answer && write(fd, answer, strlen(answer)) < 0)
		_exit(1);
	while (!answer)
		(void)pause();
	_exit(0);
}

static struct stand_in agent_begin(uid_t user, const char *answer)
{
	struct stand_in s = { .ctx = { .run_dir = testing_dir() } };
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int ready[2];
	char c;

	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s/" AGENT_SOCKET, s.ctx.run_dir);
	ck_assert_int_eq(chmod(s.ctx.run_dir, 0777), 0);
	ck_assert_int_eq(pipe(ready), 0);
	s.pid = fork();
	ck_assert_int_ge(s.pid, 0);
	if (s.pid == 0) {
		(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
		int fd = socket(AF_UNIX, SOCK_STREAM, 0);

		if ((user && setuid(user)) || bind(fd, (struct sockaddr *)&at, sizeof(at)) ||
		    listen(fd, 1) || write(ready[1], "x", 1) != 1)
			_exit(1);
		serve(fd, answer);
	}
	(void)close(ready[1]);
	ck_assert_int_eq(read(ready[0], &c, 1), 1);
	(void)close(ready[0]);
	return s;
}

static void agent_end(struct stand_in *s)
{
	(void)kill(s->pid, SIGKILL);
	ck_assert_int_eq(waitpid(s->pid, NULL, 0), s->pid);
}

static void assert_fails(struct stand_in *s, int64_t wait_ms, enum err_code code, const char *msg)
{
	struct json *result = NULL;
	struct err e;
	int rc =
		agent_client_call(&s->ctx, &(struct agent_call){ "x", NULL }, wait_ms, &result, &e);

	if (s->pid)
		agent_end(s);
	ck_assert_int_eq(rc, -1);
	ck_assert_ptr_null(result);
	ck_assert_msg(strstr(e.msg, msg), "%s", e.msg);
	ck_assert_int_eq(e.code, code);
	ck_assert_msg(code != ERR_AGAIN || strstr(e.detail, "systemctl start"), "%s", e.detail);
}

START_TEST(an_answer_arrives)
{
	auto_json struct json *result = NULL;
	struct stand_in s = agent_begin(0, "{\"result\":{\"a\":7}}\n");
	struct err e;
	int rc = agent_client_call(&s.ctx, &(struct agent_call){ "x", NULL }, LONG_MS, &result, &e);

	agent_end(&s);
	ck_assert_msg(rc == 0, "%s", e.msg);
	ck_assert_int_eq((int)json_num(json_get(result, "a")), 7);
}
END_TEST

START_TEST(an_error_of_the_agent_is_ours)
{
	struct stand_in s =
		agent_begin(0, "{\"error\":{\"code\":101,\"message\":\"rail0 is full\"}}\n");

	assert_fails(&s, LONG_MS, ERR_EXHAUSTED, "rail0 is full");
}
END_TEST

START_TEST(without_an_agent)
{
	struct stand_in s = { .ctx = { .run_dir = testing_dir() } };

	assert_fails(&s, LONG_MS, ERR_AGAIN, "no node agent answers at /mnt/agent.sock");
}
END_TEST

START_TEST(an_agent_that_hangs)
{
	struct stand_in s = agent_begin(0, NULL);

	assert_fails(&s, 20, ERR_AGAIN, "Connection timed out");
}
END_TEST

START_TEST(an_agent_that_breaks_off)
{
	struct stand_in s = agent_begin(0, "{\"result\":{}");

	assert_fails(&s, LONG_MS, ERR_AGAIN, "Connection reset");
}
END_TEST

START_TEST(an_answer_without_end)
{
	auto_free char *many = malloc(AGENT_ANSWER_MAX + 2);

	ck_assert_ptr_nonnull(many);
	memset(many, 'x', AGENT_ANSWER_MAX + 1);
	many[AGENT_ANSWER_MAX + 1] = 0;

	struct stand_in s = agent_begin(0, many);

	assert_fails(&s, LONG_MS, ERR_DECODE, "more than 1048576 bytes");
}
END_TEST

START_TEST(a_socket_of_another_user)
{
	struct stand_in s = { 0 };

	(void)testing_dir();
	if (geteuid() != 0)
		return;
	s = agent_begin(65534, "{\"result\":{}}\n");
	assert_fails(&s, LONG_MS, ERR_FORBIDDEN, "user 65534 listens there, not root");
}
END_TEST

TEST_PROGRAM("agent_client", an_answer_arrives, an_error_of_the_agent_is_ours, without_an_agent,
	     an_agent_that_hangs, an_agent_that_breaks_off, an_answer_without_end,
	     a_socket_of_another_user)
