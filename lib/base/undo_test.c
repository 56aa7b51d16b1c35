/* SPDX-License-Identifier: Apache-2.0 */
/* undo_test.c: shows when inverses run, and in which order. */
#include "lib/base/undo.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

#include "lib/testing/testing.h"

/* What the inverses did, in order. */
struct trace {
	char text[UNDO_MAX + 1];
	struct undo *undo;
};

struct step {
	struct trace *trace;
	const char *name;
	int result;
};

static int inverse(void *arg, struct err *e)
{
	const struct step *s = arg;

	testing_append(s->trace->text, sizeof(s->trace->text), s->name);
	if (s->result == 0)
		return 0;
	err_set(e, ERR_KERNEL, EBUSY, "delete %s", s->name);
	if (s->result < -1)
		err_hint(e, "the kernel's reason");
	return -1;
}

static int pushes_another(void *arg, struct err *e)
{
	static struct step another;
	struct step *s = arg;

	another = (struct step){ s->trace, "n", 0 };
	undo_push(s->trace->undo, inverse, &another, "nested");
	return inverse(arg, e);
}

START_TEST(runs_backwards_once)
{
	struct trace t = { .text = "" };
	struct step a = { &t, "a", 0 }, b = { &t, "b", 0 }, c = { &t, "c", 0 };
	struct undo u = { 0 };

	undo_push(&u, inverse, &a, "a");
	undo_push(&u, inverse, &b, "b");
	undo_push(&u, inverse, &c, "c");
	undo_run(&u);
	ck_assert_str_eq(t.text, "cba");
	ck_assert_uint_eq(u.n, 0);
	undo_run(&u);
	ck_assert_str_eq(t.text, "cba");
}
END_TEST

START_TEST(scope_end_runs)
{
	struct trace t = { .text = "" };
	struct step a = { &t, "a", 0 }, b = { &t, "b", 0 };

	for (int commit = 0; commit < 2; commit++) {
		auto_undo struct undo u = { 0 };

		t.text[0] = '\0';
		undo_push(&u, inverse, &a, "a");
		undo_push(&u, inverse, &b, "b");
		if (commit)
			undo_commit(&u);
	}
	ck_assert_str_eq(t.text, ""); /* the second round was committed */
	{
		auto_undo struct undo u = { 0 };
		undo_push(&u, inverse, &a, "a");
	}
	ck_assert_str_eq(t.text, "a");
}
END_TEST

START_TEST(inverse_may_push)
{
	struct undo u = { 0 };
	struct trace t = { .text = "", .undo = &u };
	struct step a = { &t, "a", 0 }, b = { &t, "b", 0 };

	undo_push(&u, inverse, &a, "a");
	undo_push(&u, pushes_another, &b, "b");
	undo_run(&u);
	ck_assert_str_eq(t.text, "bna");
}
END_TEST

struct hook {
	struct trace *trace;
	int fails_at; /* the number of the call that fails; 0: none */
};

static int hook(void *arg, struct err *e)
{
	struct hook *h = arg;

	testing_append(h->trace->text, sizeof(h->trace->text), "^");
	return --h->fails_at == 0 ? err_set(e, ERR_NETNS, 0, "no way back") : 0;
}

START_TEST(a_hook_runs_before_each_inverse)
{
	struct trace t = { .text = "" };
	struct step a = { &t, "a", 0 }, b = { &t, "b", -1 }, c = { &t, "c", 0 };
	struct hook h = { &t, 0 };
	struct undo u = { .before = hook, .before_arg = &h };

	for (int fails = 0; fails < 2; fails++) {
		h.fails_at = fails ? 2 : 0;
		undo_push(&u, inverse, &a, "a");
		undo_push(&u, inverse, &b, "b");
		undo_push(&u, inverse, &c, "c");
		undo_run(&u);
		ck_assert_str_eq(t.text, fails ? "^c^" : "^c^b^a");
		ck_assert_uint_eq(u.n, 0);
		t.text[0] = '\0';
	}
}
END_TEST

START_TEST(errors_are_logged_and_passed_over)
{
	struct trace t = { .text = "" };
	struct step a = { &t, "a", -2 }, b = { &t, "b", -1 }, c = { &t, "c", 0 };
	struct undo u = { 0 };
	char line[500];
	int fds[2];

	undo_push(&u, inverse, &c, "delete c");
	undo_push(&u, inverse, &a, "delete a");
	undo_run(&u); /* nobody listens */
	ck_assert_str_eq(t.text, "ac");

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
	struct log log = { .fd = fds[1], .level = LOG_LEVEL_INFO, .tag = "t" };
	u.log = &log;
	undo_push(&u, inverse, &c, "take back c");
	undo_push(&u, inverse, &b, "take back b");
	undo_push(&u, inverse, &a, "take back a");
	undo_run(&u);
	ck_assert_str_eq(t.text, "acabc");
	ssize_t n = recv(fds[0], line, sizeof(line) - 1, MSG_DONTWAIT);
	ck_assert_int_gt(n, 0);
	line[n] = '\0';
	ck_assert_str_eq(line, "level=warn program=t msg=\"turning back: take back a: delete a: "
			       "Device or resource busy; the kernel's reason\"\n");
	n = recv(fds[0], line, sizeof(line) - 1, MSG_DONTWAIT);
	ck_assert_int_gt(n, 0);
	line[n] = '\0';
	ck_assert_str_eq(line, "level=warn program=t msg=\"turning back: take back b: delete b: "
			       "Device or resource busy\"\n");
	ck_assert_int_eq(recv(fds[0], line, sizeof(line), MSG_DONTWAIT), -1);
}
END_TEST

static sigjmp_buf aborted;

static void on_abort(int signal)
{
	siglongjmp(aborted, signal);
}

START_TEST(too_many_abort)
{
	struct trace t = { .text = "" };
	struct step a = { &t, "a", 0 };
	static struct undo u; /* not in a register that the jump restores */

	for (int i = 0; i < UNDO_MAX; i++)
		undo_push(&u, inverse, &a, "a");
	ck_assert_ptr_ne((void *)signal(SIGABRT, on_abort), (void *)SIG_ERR);
	if (sigsetjmp(aborted, 1) == 0) {
		undo_push(&u, inverse, &a, "one too many");
		ck_abort_msg("undo_push() came back");
	}
	undo_run(&u);
	ck_assert_uint_eq(strlen(t.text), UNDO_MAX);
}
END_TEST

TEST_PROGRAM("undo", runs_backwards_once, scope_end_runs, inverse_may_push,
	     a_hook_runs_before_each_inverse, errors_are_logged_and_passed_over, too_many_abort)
