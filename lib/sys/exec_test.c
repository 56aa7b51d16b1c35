/* SPDX-License-Identifier: Apache-2.0 */
/*
 * exec_test.c: shows that children get name, environment and input, that their output is
 * bounded, and that none is left.
 */
#include "lib/sys/exec.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include "lib/base/ctx.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

#define LONG_MS 20000 /* never waited for: longer than any child here takes */

/* A shell without arguments reads its script from stdin. */
static struct exec_req shell(const char *script)
{
	static char *const env[] = { "PATH=/usr/bin:/bin", "GREETING=hello", NULL };

	return (struct exec_req){
		.path = "/bin/sh",
		.envp = env,
		.input = script,
		.input_len = strlen(script),
		.timeout_ms = LONG_MS,
	};
}

/* No child is left, not even a dead one. */
static void assert_no_children(void)
{
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);
	ck_assert_int_eq(errno, ECHILD);
}

static struct exec_result run(const struct exec_req *req)
{
	struct exec_child c;
	struct exec_result res = { 0 };
	struct err e = { 0 };

	ck_assert_msg(exec_start(req, &c, &e) == 0, "%s", e.msg);
	ck_assert_msg(exec_finish(&c, &res, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(c.pid, 0);
	ck_assert_int_eq(c.out_fd, -1);
	ck_assert_uint_eq(strlen(res.output), res.len);
	assert_no_children();
	return res;
}

static void prints(const char *script, const char *expected)
{
	struct exec_req req = shell(script);
	struct exec_result res = run(&req);

	ck_assert_str_eq(res.output, expected);
	ck_assert_int_eq(res.status, 0);
	free(res.output);
}

static void fails(const struct exec_req *req, int errnum)
{
	struct exec_child c = { .pid = 0, .out_fd = -1 };
	struct exec_result res = { 0 };
	struct err e = { 0 };
	int rc = exec_start(req, &c, &e);

	if (rc == 0)
		rc = exec_finish(&c, &res, &e);
	ck_assert_int_eq(rc, -1);
	ck_assert_int_eq(e.code, ERR_DELEGATE);
	ck_assert_msg(e.errnum == errnum, "%s", e.msg);
	ck_assert_ptr_nonnull(strstr(e.msg, req->path));
	ck_assert_ptr_null(res.output);
	ck_assert_int_eq(c.out_fd, -1);
	assert_no_children();
}

START_TEST(gives_name_environment_and_input)
{
	prints("tr '\\0' '|' </proc/$$/cmdline; echo $GREETING", "sh|hello\n");
	prints("", "");
}
END_TEST

START_TEST(input_and_output_of_any_length)
{
	char *big = malloc(EXEC_MAX_OUTPUT + 2);
	static char *const env[] = { NULL };

	ck_assert_ptr_nonnull(big);
	memset(big, 'x', EXEC_MAX_OUTPUT + 1);

	struct exec_req cat = {
		.path = "/bin/cat",
		.envp = env,
		.input = big,
		.input_len = EXEC_MAX_OUTPUT,
		.timeout_ms = LONG_MS,
	};
	struct exec_result res = run(&cat);

	ck_assert_uint_eq(res.len, EXEC_MAX_OUTPUT);
	ck_assert_mem_eq(res.output, big, EXEC_MAX_OUTPUT);
	free(res.output);
	cat.input_len++;
	fails(&cat, EFBIG);
	free(big);

	struct exec_req endless = shell("exec yes");

	fails(&endless, EFBIG);
}
END_TEST

START_TEST(the_exit_status_is_the_callers_business)
{
	struct exec_req req = shell("echo '{}'; exit 3");
	struct exec_result res = run(&req);

	ck_assert(WIFEXITED(res.status) && WEXITSTATUS(res.status) == 3);
	ck_assert_str_eq(res.output, "{}\n");
	free(res.output);
	req = shell("kill -TERM $$");
	res = run(&req);
	ck_assert(WIFSIGNALED(res.status) && WTERMSIG(res.status) == SIGTERM);
	free(res.output);
}
END_TEST

START_TEST(what_cannot_be_run)
{
	struct exec_req req = shell("");

	req.path = "/nonesuch/program";
	fails(&req, ENOENT);
	req.path = "program";
	fails(&req, ENOENT);
	req.path = "/etc/passwd";
	fails(&req, EACCES);
	req.path = "/etc";
	fails(&req, EACCES);
}
END_TEST

START_TEST(the_output_has_standard_error_where_the_request_joins_it)
{
	struct exec_req req = shell("echo one; echo two >&2");

	req.join_stderr = true;

	struct exec_result res = run(&req);

	ck_assert_str_eq(res.output, "one\ntwo\n");
	free(res.output);
}
END_TEST

START_TEST(the_input_is_sealed)
{
	prints("(echo x >&0) 2>/dev/null || echo sealed", "sealed\n");
}
END_TEST

static void on_signal(int sig)
{
	(void)sig;
}

/* A CNI plugin ignores SIGPIPE; what it runs must not. */
START_TEST(signals_are_as_usual_in_the_child)
{
	sigset_t blocked;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, on_signal);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);
	/* Signals 32 and 33 are the C library's own: posix_spawn(), with which make starts us,
	 * leaves them ignored, and no program can change that through the library. */
	prints("while read k v; do case $k in SigIgn:|SigBlk:) echo $((0x$v & ~0x180000000));; "
	       "esac; done </proc/self/status",
	       "0\n0\n");
	/* and ours are as they were */
	ck_assert_ptr_eq(signal(SIGPIPE, SIG_DFL), SIG_IGN);
	ck_assert_ptr_eq(signal(SIGTERM, SIG_DFL), on_signal);
	sigprocmask(SIG_BLOCK, NULL, &blocked);
	ck_assert_int_eq(sigismember(&blocked, SIGUSR1), 1);
	ck_assert_int_eq(sigismember(&blocked, SIGUSR2), 0);
}
END_TEST

START_TEST(an_ignored_SIGCHLD_does_not_swallow_the_status)
{
	struct exec_req req = shell("exit 5");

	signal(SIGCHLD, SIG_IGN);

	struct exec_result res = run(&req);

	ck_assert(WIFEXITED(res.status) && WEXITSTATUS(res.status) == 5);
	free(res.output);
}
END_TEST

/* Only what has no O_CLOEXEC gets through, and nothing of ours lacks it. */
/* The caller of a plugin may leave descriptors open, as a runtime does. */
START_TEST(nothing_else_is_inherited)
{
	int low = dup(STDOUT_FILENO), high = fcntl(STDOUT_FILENO, F_DUPFD, 900);

	ck_assert(low > STDERR_FILENO && high >= 900);
	prints("ls -v /proc/$$/fd", "0\n1\n2\n");
	(void)close(low);
	(void)close(high);
}
END_TEST

START_TEST(our_own_stdio_may_be_closed)
{
	struct exec_req req = shell("echo fine");
	auto_fd int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);

	(void)close(STDIN_FILENO);
	(void)close(STDOUT_FILENO);

	struct exec_child c;
	struct exec_result res = { 0 };
	struct err e = { 0 };
	int rc = exec_start(&req, &c, &e) || exec_finish(&c, &res, &e);

	(void)dup2(out, STDOUT_FILENO);
	ck_assert_msg(rc == 0, "%s", e.msg);
	ck_assert_str_eq(res.output, "fine\n");
	free(res.output);
}
END_TEST

/* ---- time ---- */

START_TEST(who_hangs_is_killed)
{
	static const char *const scripts[] = {
		"exec sleep 1000",
		"exec sleep 1000 >&-", /* without holding the pipe */
		"echo partly; exec sleep 1000",
	};

	for (size_t i = 0; i < ARRAY_SIZE(scripts); i++) {
		struct exec_req req = shell(scripts[i]);

		req.timeout_ms = 50;
		fails(&req, ETIMEDOUT);
	}
}
END_TEST

/* Its descendants end with it: they may hold what the next call waits for. */
START_TEST(who_hangs_is_killed_with_all_that_it_started)
{
	struct exec_req req = shell("sh -c 'sleep 1000 & sleep 1000' & sleep 1000");
	struct exec_child c;
	struct exec_result res;
	struct err e;
	int n = 0;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	req.timeout_ms = 200;
	ck_assert_int_eq(exec_start(&req, &c, &e), 0);
	ck_assert_int_eq(exec_finish(&c, &res, &e), -1);
	ck_assert_int_eq(e.errnum, ETIMEDOUT);
	/* they are ours to reap now; one that lived on would be waited for in vain */
	(void)alarm(20);
	while (wait(NULL) > 0)
		n++;
	ck_assert_int_eq(errno, ECHILD);
	ck_assert_int_ge(n, 1);
}
END_TEST

START_TEST(a_grandchild_that_holds_the_pipe_is_not_waited_for)
{
	struct exec_req req = shell("sleep 1000 & echo $!");
	struct exec_result res = run(&req);
	pid_t grandchild = (pid_t)strtol(res.output, NULL, 10);

	ck_assert_int_gt(grandchild, 1);
	ck_assert_int_eq(res.status, 0);
	ck_assert_int_eq(kill(grandchild, SIGKILL), 0); /* it lived, and was none of our business */
	free(res.output);
}
END_TEST

/* The caller had something else to do meanwhile. */
START_TEST(who_ended_before_its_deadline_was_in_time)
{
	struct exec_req req = shell("head -c 10000 /dev/zero | tr '\\0' x");
	struct exec_child c;
	struct exec_result res = { 0 };
	struct err e = { 0 };
	siginfo_t si;

	ck_assert_int_eq(exec_start(&req, &c, &e), 0);
	ck_assert_int_eq(waitid(P_PID, (id_t)c.pid, &si, WEXITED | WNOWAIT), 0);
	c.deadline_ms = ctx_mono_ms() - 1;
	ck_assert_msg(exec_finish(&c, &res, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(res.len, 10000);
	free(res.output);
	assert_no_children();
}
END_TEST

/* With no descriptor left pidfd_open(2) fails, as on kernels that do not have it. */
START_TEST(serves_kernels_without_pidfd)
{
	struct exec_req hang = shell("exec sleep 1000 >&-"), good = shell("echo fine");
	const struct rlimit few = { 64, 64 };
	struct exec_child c, d;
	struct exec_result res = { 0 };
	struct err late = { 0 }, e = { 0 };
	int used[64], n = 0;

	hang.timeout_ms = 50;
	ck_assert_int_eq(exec_start(&hang, &c, &e), 0);
	ck_assert_int_eq(exec_start(&good, &d, &e), 0);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	while ((used[n] = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3)) >= 0)
		n++;

	int rc_good = exec_finish(&d, &res, &e);
	int again = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3); /* where its pipe was */
	int rc_hang = exec_finish(&c, &res, &late);

	(void)close(again);
	while (n > 0)
		(void)close(used[--n]);
	ck_assert_int_ge(again, 3);
	ck_assert_msg(rc_good == 0, "%s", e.msg);
	ck_assert_str_eq(res.output, "fine\n");
	ck_assert_int_eq(rc_hang, -1);
	ck_assert_int_eq(late.errnum, ETIMEDOUT);
	free(res.output);
	assert_no_children();
}
END_TEST

/* ---- the end ---- */

START_TEST(killing_is_idempotent)
{
	struct exec_req req = shell("exec sleep 1000");
	struct exec_child c = { .pid = 0, .out_fd = -1 };
	struct err e = { 0 };

	exec_kill(&c);
	ck_assert_int_eq(exec_start(&req, &c, &e), 0);

	pid_t pid = c.pid;

	exec_kill(&c);
	ck_assert_int_eq(c.pid, 0);
	ck_assert_int_eq(c.out_fd, -1);
	ck_assert_int_eq(kill(pid, 0), -1);
	exec_kill(&c);
	assert_no_children();
}
END_TEST

START_TEST(the_end_of_a_child_is_not_awaited)
{
	struct exec_req req = shell("exec sleep 1000");
	struct exec_child c = { .pid = 0, .out_fd = -1 };
	struct err e;

	exec_send_kill(&c);
	ck_assert(exec_try_reap(&c));
	ck_assert_int_eq(exec_start(&req, &c, &e), 0);
	ck_assert(!exec_try_reap(&c));
	ck_assert_int_gt(c.pid, 0);
	exec_send_kill(&c);
	while (!exec_try_reap(&c)) {
	}
	ck_assert_int_eq(c.pid, 0);
	ck_assert_int_eq(c.out_fd, -1);
	assert_no_children();
}
END_TEST

/* ---- a function instead of a program ---- */

static int calls; /* of shout(), in this process */

/* Prints what it got, and what it is: environment, input, name, open descriptors. */
static int shout(const void *arg)
{
	char in[16] = "", name[16] = "";
	const char *greeting = getenv("GREETING"), *home = getenv("HOME");
	int open_fds = 0;

	(void)arg;
	calls++;
	(void)!read(STDIN_FILENO, in, sizeof(in) - 1);
	(void)prctl(PR_GET_NAME, name);
	for (int fd = 0; fd < 1024; fd++)
		open_fds += fcntl(fd, F_GETFD) >= 0;
	(void)dprintf(STDOUT_FILENO, "%s %s %s %s %d", in, greeting, home ? home : "-", name,
		      open_fds);
	return 7;
}

static int hang(const void *arg)
{
	(void)arg;
	(void)dprintf(STDOUT_FILENO, "begun");
	while (pause())
		;
	return 0;
}

static int crash(const void *arg)
{
	(void)arg;
	(void)signal(SIGSEGV, SIG_DFL); /* a sanitizer would print and exit */
	return raise(SIGSEGV);
}

static int print_signals(const void *arg)
{
	struct sigaction pipe, term;
	sigset_t blocked;

	(void)arg;
	if (sigaction(SIGPIPE, NULL, &pipe) || sigaction(SIGTERM, NULL, &term) ||
	    sigprocmask(SIG_BLOCK, NULL, &blocked))
		return 1;
	(void)dprintf(STDOUT_FILENO, "%d %d %d", pipe.sa_handler == SIG_DFL,
		      term.sa_handler == SIG_DFL, sigisemptyset(&blocked));
	return 0;
}

static struct exec_req function(int (*fn)(const void *))
{
	struct exec_req req = shell("input");

	req.path = "/opt/cni/bin/program";
	req.run = fn;
	return req;
}

START_TEST(a_function_runs_as_a_program_would)
{
	struct exec_req req = function(shout);
	int inheritable = dup(STDOUT_FILENO); /* without O_CLOEXEC */
	struct exec_result res = run(&req);

	ck_assert_str_eq(res.output, "input hello - program 3");
	ck_assert(WIFEXITED(res.status) && WEXITSTATUS(res.status) == 7);
	ck_assert_int_eq(calls, 0); /* our memory is not its memory */
	ck_assert_ptr_nonnull(getenv("PATH"));
	(void)close(inheritable);
	free(res.output);
}
END_TEST

START_TEST(a_function_that_hangs_or_crashes_is_the_childs_trouble)
{
	struct exec_req req = function(hang);

	req.timeout_ms = 50;
	fails(&req, ETIMEDOUT);
	req = function(crash);

	struct exec_result res = run(&req);

	ck_assert(WIFSIGNALED(res.status) && WTERMSIG(res.status) == SIGSEGV);
	free(res.output);
}
END_TEST

/* Whoever kills it at once kills the group, which the child may not have made yet. */
START_TEST(a_function_leads_its_group_from_the_start)
{
	struct exec_req req = function(hang);
	struct exec_child c;
	struct err e;

	for (int i = 0; i < 50; i++) {
		ck_assert_int_eq(exec_start(&req, &c, &e), 0);
		ck_assert_int_eq(getpgid(c.pid), c.pid);
		ck_assert_int_eq(kill(-c.pid, SIGKILL), 0);
		exec_kill(&c);
	}
}
END_TEST

START_TEST(signals_are_as_usual_in_a_function)
{
	struct exec_req req = function(print_signals);
	sigset_t blocked;

	signal(SIGPIPE, SIG_IGN);
	signal(SIGTERM, on_signal);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	sigprocmask(SIG_BLOCK, &blocked, NULL);

	struct exec_result res = run(&req);

	ck_assert_str_eq(res.output, "1 1 1");
	ck_assert_ptr_eq(signal(SIGTERM, SIG_DFL), on_signal);
	free(res.output);
}
END_TEST

/* In between: starts a child that never ends, tells its number and waits to be killed. */
static void parent_in_between(int tell, struct exec_req req)
{
	struct exec_child c;
	struct err e;
	char begun;

	if (exec_start(&req, &c, &e) || read(c.out_fd, &begun, 1) != 1 ||
	    write(tell, &c.pid, sizeof(c.pid)) != sizeof(c.pid))
		_exit(1);
	for (;;)
		pause();
}

static void dies_with_its_parent(struct exec_req req)
{
	int fds[2];
	pid_t child;

	ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);

	pid_t parent = fork();

	if (parent == 0)
		parent_in_between(fds[1], req);
	ck_assert_int_eq(read(fds[0], &child, sizeof(child)), sizeof(child));
	ck_assert_int_eq(kill(parent, SIGKILL), 0);
	ck_assert_int_eq(waitpid(parent, NULL, 0), parent);

	int status;

	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

START_TEST(the_child_dies_with_us)
{
	dies_with_its_parent(shell("echo begun; exec sleep 1000"));
	dies_with_its_parent(function(hang));
}
END_TEST

static int run_with_failures(void *arg, struct err *e)
{
	struct exec_req req = shell("echo fine");
	struct exec_child c;
	struct exec_result res;

	(void)arg;
	if (exec_start(&req, &c, e) || exec_finish(&c, &res, e))
		return -1;
	free(res.output);
	return 0;
}

START_TEST(allocations_may_fail)
{
	ck_assert_str_eq(alloc_fail_each(run_with_failures, NULL), "ok");
	assert_no_children();
}
END_TEST

TEST_PROGRAM("exec", the_output_has_standard_error_where_the_request_joins_it,
	     gives_name_environment_and_input, input_and_output_of_any_length,
	     the_exit_status_is_the_callers_business, what_cannot_be_run, the_input_is_sealed,
	     signals_are_as_usual_in_the_child, an_ignored_SIGCHLD_does_not_swallow_the_status,
	     nothing_else_is_inherited, our_own_stdio_may_be_closed, who_hangs_is_killed,
	     who_ended_before_its_deadline_was_in_time,
	     who_hangs_is_killed_with_all_that_it_started,
	     a_grandchild_that_holds_the_pipe_is_not_waited_for, serves_kernels_without_pidfd,
	     killing_is_idempotent, the_end_of_a_child_is_not_awaited,
	     a_function_runs_as_a_program_would,
	     a_function_that_hangs_or_crashes_is_the_childs_trouble,
	     a_function_leads_its_group_from_the_start, signals_are_as_usual_in_a_function,
	     the_child_dies_with_us, allocations_may_fail)
