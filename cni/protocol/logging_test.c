/* SPDX-License-Identifier: Apache-2.0 */
/* logging_test.c: shows which levels and log files are accepted. */
#include "cni/protocol/logging.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

START_TEST(levels_are_parsed)
{
	ck_assert_int_eq(logging_level("panic"), LOG_LEVEL_ERROR);
	ck_assert_int_eq(logging_level("error"), LOG_LEVEL_ERROR);
	ck_assert_int_eq(logging_level("warning"), LOG_LEVEL_WARN);
	ck_assert_int_eq(logging_level("info"), LOG_LEVEL_INFO);
	ck_assert_int_eq(logging_level("debug"), LOG_LEVEL_DEBUG);
	ck_assert_int_eq(logging_level("loud"), -1);
	ck_assert_int_eq(logging_level(""), -1);
}
END_TEST

static int open_log(const char *path, struct err *e)
{
	struct ctx ctx;
	int fd;

	ctx_init(&ctx, "t");
	ctx.etc_dir = "/mnt/etc";
	fd = logging_open(&ctx, path, O_WRONLY, e);
	if (fd >= 0)
		(void)close(fd);
	return fd < 0 ? -1 : 0;
}

/* A tmpfs with folders of which railhead.json allows one. */
static void make_folders(void)
{
	(void)testing_dir();
	ck_assert_int_eq(mkdir("/mnt/etc", 0700) | mkdir("/mnt/log", 0775) | mkdir("/mnt/d", 0700),
			 0);
	testing_file("/mnt/etc/railhead.json", 0600, "{\"logDirs\":[\"/mnt/log\"]}");
}

START_TEST(allowed_log_files_are_opened)
{
	struct err e = { .msg = "" };
	struct stat st;

	make_folders();
	ck_assert_msg(open_log("/mnt/log/x.log", &e) == 0, "%s", e.msg);
	ck_assert_int_eq(open_log("/mnt/log/x.log", &e), 0);
	ck_assert_int_eq(stat("/mnt/log/x.log", &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
}
END_TEST

START_TEST(other_log_files_are_refused)
{
	static const char *const bad[] = {
		"",
		"sriov.log",
		"/etc/cron.d/x.log",
		"/var/log/x.log",
		"/mnt/log",
		"/mnt/log/",
		"/mnt/log/.log",
		"/mnt/log/messages",
		"/mnt/log/../d/passwd.log",
		"/mnt/log/a/./b.log",
		"/mnt/logs/x.log",
		"/mnt/log/fifo.log",
		"/mnt/log/link.log",
		"/mnt/log/hard.log",
		"/mnt/log/away/x.log",
	};
	struct err e;

	make_folders();
	testing_file("/mnt/d/victim", 0600, "");
	ck_assert_int_eq(symlink("/mnt/d/victim", "/mnt/log/link.log") |
				 link("/mnt/d/victim", "/mnt/log/hard.log") |
				 symlink("/mnt/d", "/mnt/log/away") |
				 mkfifo("/mnt/log/fifo.log", 0600),
			 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_msg(open_log(bad[i], &e) == -1, "accepted: %s", bad[i]);
		ck_assert_int_eq((int)e.code, ERR_FORBIDDEN);
	}
	ck_assert_int_eq(access("/mnt/d/x.log", F_OK), -1);
	ck_assert_int_eq(open_log("/mnt/log/no/such/x.log", &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
}
END_TEST

struct written {
	struct cni_conf conf;
	struct ctx ctx;
	int fds[2];
};

static void apply(struct written *w, const char *text)
{
	struct err e;

	ck_assert_int_eq(pipe2(w->fds, O_NONBLOCK), 0);
	w->conf = (struct cni_conf){ 0 };
	w->ctx = (struct ctx){ .log = { .fd = w->fds[1], .level = LOG_LEVEL_INFO, .tag = "t" } };
	ck_assert_msg(json_parse(text, strlen(text), "test", &w->conf.tree, &e) == 0, "%s", e.msg);
	logging_apply(&w->conf, &w->ctx);
}

static void complains(const char *text, const char *word)
{
	char said[1024] = "";
	struct written w;

	apply(&w, text);
	ck_assert_int_gt(read(w.fds[0], said, sizeof(said) - 1), 0);
	ck_assert_msg(strstr(said, word), "\"%s\" is not in: %s", word, said);
	ck_assert_int_eq(w.ctx.log.fd, w.fds[1]);
	json_free(w.conf.tree);
}

START_TEST(what_is_wrong_is_a_warning)
{
	complains("{\"logLevel\":\"loud\"}", "loud");
	complains("{\"logFile\":\"/etc/x.log\"}", "/etc/x.log");
	complains("{\"logFile\":\"/var/log/no/such/folder/x.log\"}", "No such file");
}
END_TEST

START_TEST(the_given_level_and_file_are_used)
{
	struct written w;

	apply(&w, "{\"logLevel\":\"debug\"}");
	ck_assert_int_eq(w.ctx.log.level, LOG_LEVEL_DEBUG);
	ck_assert_int_eq(w.ctx.log.fd, w.fds[1]);
	json_free(w.conf.tree);
	apply(&w, "{\"logLevel\":\"\",\"logFile\":\"\"}");
	ck_assert_int_eq(w.ctx.log.level, LOG_LEVEL_INFO);
	ck_assert_int_eq(w.ctx.log.fd, w.fds[1]);
	json_free(w.conf.tree);
}
END_TEST

TEST_PROGRAM("cni/protocol/logging", levels_are_parsed, allowed_log_files_are_opened,
	     other_log_files_are_refused, what_is_wrong_is_a_warning,
	     the_given_level_and_file_are_used)
