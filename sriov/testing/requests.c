/* SPDX-License-Identifier: Apache-2.0 */
/* requests.c: each request of a call to the kernel fails, or kills the process. */
#include "sriov/testing/requests.h"

#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>

#include "cni/testing/call.h"
#include "lib/testing/testing.h"

/* errnum: that of the failure; 0: the request kills the process. */
static void arm(const struct testrequests *r, unsigned at, int errnum)
{
	r->w->kernel->requests = r->hca->requests = 0;
	r->w->kernel->fail_errnum = r->hca->fail_errnum = errnum;
	*(r->rdma ? &r->hca->fail_at : &r->w->kernel->fail_at) = at;
}

static bool reached(const struct testrequests *r, unsigned at)
{
	return (r->rdma ? r->hca->requests : r->w->kernel->requests) >= at;
}

/* A failed undo leaves the record for DEL. */
static void del_restores(const struct testrequests *r, const struct pod *p, const char *when)
{
	struct err e = { .msg = "" };

	r->w->kernel->fail_at = r->hca->fail_at = 0;
	good(r->call(r->host, CNI_DEL, p, &e), &e);
	r->is_restored(r->host, when);
	ck_assert_uint_eq(testing_records(&r->w->ctx, NULL), 0);
}

unsigned testrequests_fail(const struct testrequests *r)
{
	unsigned at = 0;

	for (bool more = true; more;) {
		auto_pod struct pod p = pod();
		struct err e = { .msg = "" };
		char when[160];

		if (r->begin)
			r->begin(&p);
		arm(r, ++at, EIO);
		int rc = r->call(r->host, CNI_ADD, &p, &e);
		more = reached(r, at);
		(void)snprintf(when, sizeof(when), "request %u (%.100s)", at, e.msg);
		ck_assert_msg(more || rc == 0, "%s", when);
		del_restores(r, &p, when);
	}
	return at;
}

/* Whether the process was killed. */
static bool is_killed(const struct testrequests *r, enum cni_command cmd, const struct pod *p)
{
	struct err e = { .msg = "" };
	int status;
	pid_t child = fork();

	if (child == 0)
		_exit(r->call(r->host, cmd, p, &e) ? 2 : 1);
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != 2);
	return WEXITSTATUS(status) != 1;
}

/* A runtime that calls ADD again, without a DEL in between. */
static void add_again(const struct testrequests *r, const struct pod *p, const char *when)
{
	struct err e = { .msg = "" };

	r->w->kernel->fail_at = r->hca->fail_at = 0;
	if (r->again(r->host, p, &e))
		ck_assert_msg(e.code == ERR_BUSY, "%s: ADD again: %s", when, e.msg);
}

unsigned testrequests_kill(const struct testrequests *r, enum cni_command cmd)
{
	unsigned at = 0;

	for (bool more = true; more;) {
		auto_pod struct pod p = pod();
		struct err e = { .msg = "" };
		char when[64];

		if (r->begin)
			r->begin(&p);
		if (cmd == CNI_DEL)
			good(r->call(r->host, CNI_ADD, &p, &e), &e);
		arm(r, ++at, 0);
		more = is_killed(r, cmd, &p);
		(void)snprintf(when, sizeof(when), "killed at request %u", at);
		if (r->again)
			add_again(r, &p, when);
		del_restores(r, &p, when);
	}
	return at;
}
