/* SPDX-License-Identifier: Apache-2.0 */
/* sm.c: a node with hooks, in folders that vanish with the test. */
#include "fabric/testing/sm.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/sys/fs.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

/* Writes "NAME ACTION OWNER" into the log; /mnt/NAME.ACTION says what happens then. */
#define HOOK_TEXT                                                                                  \
	"#!/bin/sh\n"                                                                              \
	"m=$(cat)\n"                                                                               \
	"case $m in *'\"action\":\"add\"'*) a=add ;; *) a=remove ;; esac\n"                        \
	"o=${m#*'\"container\":\"'}\n"                                                             \
	"printf '%s %s %s\\n' \"${0##*/}\" $a \"${o%%\\\"*}\" >>" TESTSM_LOG "\n"                  \
	"[ ! -e /mnt/${0##*/}.$a ] || . /mnt/${0##*/}.$a\n"

struct ctx testsm_ctx;
static int64_t clock_ns;

static int64_t tick(void *clock)
{
	(void)clock;
	return clock_ns += 1000000000;
}

void testsm_boot(char digit)
{
	char id[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx\n";

	for (char *c = id; *c; c++) {
		if (*c == 'x')
			*c = digit;
	}
	testing_file("/mnt/proc/sys/kernel/random/boot_id", 0644, id);
}

void testsm(void)
{
	static const char *const dirs[] = {
		"etc", "etc/sm.d", "proc", "proc/sys", "proc/sys/kernel", "proc/sys/kernel/random"
	};
	char path[64];

	(void)testing_dir();
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		(void)snprintf(path, sizeof(path), "/mnt/%s", dirs[i]);
		ck_assert_int_eq(mkdir(path, 0755), 0);
	}
	ctx_init(&testsm_ctx, "test");
	testsm_ctx.etc_dir = TESTSM_ETC;
	testsm_ctx.state_dir = TESTSM_STATE;
	testsm_ctx.proc = "/mnt/proc";
	testsm_ctx.now = tick;
	testsm_ctx.log.level = LOG_LEVEL_ERROR;
	testsm_boot('1');
}

void testsm_hook(const char *path)
{
	testing_file(path, 0755, HOOK_TEXT);
}

void testsm_behave(const char *name, const char *action, const char *shell)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/mnt/%s.%s", name, action);
	if (shell)
		testing_file(path, 0644, shell);
	else
		ck_assert_int_eq(unlink(path), 0);
}

struct sm_member testsm_member(uint64_t guid, const char *container)
{
	return (struct sm_member){ .pkey = 0x8001,
				   .guid = guid_of_number(guid),
				   .who = { .network = "ib0",
					    .container = container,
					    .ifname = "net1",
					    .pod_namespace = "demo",
					    .pod_name = "pod" } };
}

int testsm_add(uint64_t guid, const char *container, struct err *e)
{
	const struct sm_member m = testsm_member(guid, container);

	return sm_add(&testsm_ctx, &m, TESTSM_SOON, e);
}

void testsm_must_add(uint64_t guid, const char *container)
{
	struct err e = { .msg = "" };

	ck_assert_msg(testsm_add(guid, container, &e) == 0, "%s", e.msg);
}

int testsm_del(const char *container, int timeout_ms, struct err *e)
{
	const struct sm_who who = { .container = container, .ifname = "net1" };

	return sm_remove(&testsm_ctx, &who, timeout_ms, e);
}

void testsm_must_del(const char *container)
{
	struct err e = { .msg = "" };

	ck_assert_msg(testsm_del(container, TESTSM_SOON, &e) == 0, "%s", e.msg);
}

void testsm_log_is(const char *expected)
{
	auto_free char *text = NULL;
	struct err e = { .msg = "" };
	ssize_t n = fs_read_at(AT_FDCWD, TESTSM_LOG, 65536, &text, &e);

	ck_assert_str_eq(n < 0 ? "" : text, expected);
	(void)unlink(TESTSM_LOG);
}

static int note_entry(const struct sm_entry *x, void *arg)
{
	char *list = arg, line[256], guid[GUID_STR_LEN];

	(void)snprintf(line, sizeof(line), "%s %s %s %u\n", guid_format(x->member.guid, guid) + 18,
		       x->member.who.container, x->leaving ? "leaving" : "member", x->tries);
	testing_append(list, 1024, line);
	return 0;
}

void testsm_entries_are(const char *expected)
{
	char text[1024] = "";
	struct err e = { .msg = "" };

	ck_assert_msg(sm_each(&testsm_ctx, note_entry, text, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(text, expected);
}

void testsm_note_result(const struct sm_entry *x, const struct err *why, void *arg)
{
	char line[256];

	(void)snprintf(line, sizeof(line), "%s %s\n", x->member.who.container,
		       why ? "failed" : "done");
	testing_append(arg, 1024, line);
}

void testsm_retry_gives(const char *expected)
{
	char text[1024] = "";
	struct err e = { .msg = "" };
	const struct sm_budget budget = { .budget_ms = TESTSM_SOON };

	ck_assert_msg(sm_retry(&testsm_ctx, budget, testsm_note_result, text, &e) == 0, "%s",
		      e.msg);
	ck_assert_str_eq(text, expected);
}
