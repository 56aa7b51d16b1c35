/* SPDX-License-Identifier: Apache-2.0 */
#include "cni/logging.h"

#include <fcntl.h>
#include <string.h>

#include "lib/testing.h"

START_TEST(levels)
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

START_TEST(files_that_may_be_written)
{
	ck_assert_ptr_null(logging_path_problem("/var/log/sriov.log"));
	ck_assert_ptr_null(logging_path_problem("/var/log/cni/sriov.log"));
}
END_TEST

START_TEST(files_that_may_not)
{
	static const char *const bad[] = {
		"",
		"sriov.log",
		"/etc/cron.d/x.log",
		"/var/log",
		"/var/log/",
		"/var/log/.log",
		"/var/log/messages",
		"/var/log/../../etc/passwd.log",
		"/var/log/a/./b.log",
		"/var/log//x.log",
		"/var/logs/x.log",
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(logging_path_problem(bad[i]), "accepted: %s", bad[i]);
}
END_TEST

struct written {
	struct cni_conf conf;
	struct log log;
	int fds[2];
};

static void apply(struct written *w, const char *text)
{
	struct err e;

	ck_assert_int_eq(pipe2(w->fds, O_NONBLOCK), 0);
	w->conf = (struct cni_conf){ 0 };
	w->log = (struct log){ .fd = w->fds[1], .level = LOG_LEVEL_INFO, .tag = "t" };
	ck_assert_msg(json_parse(text, strlen(text), "test", &w->conf.tree, &e) == 0, "%s", e.msg);
	logging_apply(&w->conf, &w->log);
}

static void complains(const char *text, const char *word)
{
	char said[1024] = "";
	struct written w;

	apply(&w, text);
	ck_assert_int_gt(read(w.fds[0], said, sizeof(said) - 1), 0);
	ck_assert_msg(strstr(said, word), "\"%s\" is not in: %s", word, said);
	ck_assert_int_eq(w.log.fd, w.fds[1]);
	json_free(w.conf.tree);
}

START_TEST(what_is_wrong_is_a_warning)
{
	complains("{\"logLevel\":\"loud\"}", "loud");
	complains("{\"logFile\":\"/etc/x.log\"}", "/etc/x.log");
	complains("{\"logFile\":\"/var/log/no/such/folder/x.log\"}", "No such file");
}
END_TEST

START_TEST(what_is_given_counts)
{
	struct written w;

	apply(&w, "{\"logLevel\":\"debug\"}");
	ck_assert_int_eq(w.log.level, LOG_LEVEL_DEBUG);
	ck_assert_int_eq(w.log.fd, w.fds[1]);
	json_free(w.conf.tree);
	apply(&w, "{\"logLevel\":\"\",\"logFile\":\"\"}");
	ck_assert_int_eq(w.log.level, LOG_LEVEL_INFO);
	ck_assert_int_eq(w.log.fd, w.fds[1]);
	json_free(w.conf.tree);
}
END_TEST

TEST_PROGRAM("cni/logging", levels, files_that_may_be_written, files_that_may_not,
	     what_is_wrong_is_a_warning, what_is_given_counts)
