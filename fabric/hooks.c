/* SPDX-License-Identifier: Apache-2.0 */
/* hooks.c: lists the hooks, and runs each with a message on its standard input. */
#include "fabric/hooks.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "lib/base/parse.h"
#include "lib/sys/exec.h"
#include "lib/sys/safe_path.h"

#define HOOKS_MAX   64
#define SAID_LEN    400
#define MANUAL_PAGE "see railhead-sm.d(5)"

/* ---- which there are ---- */

static bool is_backup(const char *name)
{
	static const char *const suffixes[] = { "~",          ".bak",    ".dpkg-old", ".dpkg-new",
						".dpkg-dist", ".rpmnew", ".rpmsave",  ".rpmorig" };
	size_t len = strlen(name);

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		size_t n = strlen(suffixes[i]);

		if (len > n && strcmp(name + len - n, suffixes[i]) == 0)
			return true;
	}
	return false;
}

static void drop_backups(struct fs_names *names)
{
	size_t n = 0;

	for (size_t i = 0; i < names->n; i++) {
		if (is_backup(names->name[i]))
			free(names->name[i]);
		else
			names->name[n++] = names->name[i];
	}
	names->n = n;
}

int sm_hooks_list(const struct ctx *ctx, struct fs_names *out, struct err *e)
{
	char path[PATH_MAX];
	struct fs_names names = { .n = 0 };
	struct err why;

	if (!ctx->etc_dir) {
		*out = names;
		return 0;
	}
	(void)snprintf(path, sizeof(path), "%s/" SM_HOOKS_DIR, ctx->etc_dir);
	auto_fd int dir = safe_open_dir(path, SAFE_OWNED, &why);
	if (dir < 0 && why.errnum == ENOENT) {
		*out = names;
		return 0;
	}
	if (dir < 0) {
		*e = why;
		return err_wrap(e, "hooks in %s", path);
	}
	if (fs_names_at(dir, ".", HOOKS_MAX, &names, e))
		return err_wrap(e, "hooks in %s", path);
	drop_backups(&names);
	*out = names;
	return 0;
}

/* ---- a call ---- */

/* The last line that a hook printed, in one piece: it goes into an event of a pod. */
static void last_line(const char *output, char said[SAID_LEN])
{
	const char *end = output + strlen(output);

	while (end > output && (unsigned char)end[-1] <= ' ')
		end--;
	const char *line = end;
	while (line > output && line[-1] != '\n')
		line--;

	size_t len = utf8_prefix(line, (size_t)(end - line));

	if (len >= SAID_LEN)
		len = utf8_prefix(line, SAID_LEN - 1);
	memcpy(said, line, len);
	for (size_t i = 0; i < len; i++) {
		if ((unsigned char)said[i] < ' ' || said[i] == 0x7f)
			said[i] = ' ';
	}
	said[len] = '\0';
}

static int judge_result(const char *path, const struct exec_result *res, struct err *e)
{
	char said[SAID_LEN];

	if (WIFEXITED(res->status) && WEXITSTATUS(res->status) == 0)
		return 0;
	last_line(res->output, said);
	if (WIFEXITED(res->status))
		err_set(e, ERR_DELEGATE, 0, "%s failed with exit status %d: %s", path,
			WEXITSTATUS(res->status), *said ? said : "it printed nothing");
	else
		err_set(e, ERR_DELEGATE, 0, "%s was ended by signal %d: %s", path,
			WTERMSIG(res->status), *said ? said : "it printed nothing");
	return err_hint(e, "fix what the hook names; " MANUAL_PAGE);
}

static int explain_failure(const char *path, struct err *e)
{
	const int errnum = e->errnum;

	if (errnum == ETIMEDOUT)
		return err_hint(e, "is the subnet manager reachable from this node? " MANUAL_PAGE);
	if (errnum == ENOEXEC || errnum == ENOENT)
		return err_hint(e,
				"does the first line of %s name its interpreter, such as "
				"#!/bin/sh?",
				path);
	return -1;
}

static int call_hook(struct sm_hooks_run *run, const char *path, const char *message, struct err *e)
{
	static char *const envp[] = { (char *)"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:"
					      "/usr/bin:/sbin:/bin",
				      NULL };
	const int64_t left = run->deadline_ms - ctx_mono_ms();
	char real[PATH_MAX];
	struct exec_child child;
	struct exec_result res = { .output = NULL };
	struct exec_req req = { .path = real,
				.envp = envp,
				.input = message,
				.input_len = strlen(message),
				.timeout_ms = (int)left,
				.join_stderr = true };

	if (left <= 0) {
		err_set(e, ERR_DELEGATE, ETIMEDOUT, "no time was left to run %s", path);
		return err_hint(e, "the hooks before it took all of it; " MANUAL_PAGE);
	}
	if (safe_program(path, real, e))
		return err_wrap(e, "%s", path);
	if (exec_start(&req, &child, e))
		return explain_failure(path, e);
	run->started++;
	if (exec_finish(&child, &res, e))
		return explain_failure(path, e);

	int rc = judge_result(path, &res, e);

	free(res.output);
	return rc;
}

int sm_hooks_call(struct sm_hooks_run *run, enum sm_action action, const struct sm_member *m,
		  struct err *e)
{
	struct utsname names;
	auto_free char *message =
		sm_message_print(action, m, uname(&names) == 0 ? names.nodename : "");
	bool failed = false;

	if (!message)
		return err_nomem(e);
	for (size_t i = 0; i < run->hooks->n; i++) {
		char path[PATH_MAX];
		struct err why;

		(void)snprintf(path, sizeof(path), "%s/" SM_HOOKS_DIR "/%s", run->ctx->etc_dir,
			       run->hooks->name[i]);
		if (call_hook(run, path, message, &why) == 0)
			continue;
		if (!failed)
			*e = why;
		failed = true;
		if (action == SM_ADD)
			break;
	}
	return failed ? -1 : 0;
}
