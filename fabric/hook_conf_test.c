/* SPDX-License-Identifier: Apache-2.0 */
/* hook_conf_test.c: configurations and secrets of hooks, and which files are refused. */
#include "fabric/hook_conf.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

struct conf {
	const char *name;
};

static const struct json_field keys[] = {
	{ "name", J_STRING, J_AT(struct conf, name) },
	{ 0 },
};

static int load(const char *path, bool optional, const char *expected, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct conf c = { .name = "default" };
	const struct hook_conf conf = { keys, &c, &tree };
	int rc = hook_conf_load(path, optional, &conf, e);

	ck_assert_str_eq(c.name, expected);
	return rc;
}

START_TEST(a_configuration_may_be_absent_only_where_it_is_optional)
{
	struct err e = { .msg = "" };

	(void)testing_dir();
	ck_assert_int_eq(load("/mnt/none", true, "default", &e), 0);
	ck_assert_int_eq(load("/mnt/none", false, "default", &e), -1);
	ck_assert_int_eq(e.errnum, ENOENT);
	testing_file("/mnt/conf", 0644, "{\"name\":\"x\"}");
	ck_assert_int_eq(load("/mnt/conf", true, "x", &e), 0);
}
END_TEST

START_TEST(a_wrong_configuration_is_refused_with_its_path)
{
	static const char *const texts[] = { "{", "[]", "{\"name\":1}", "{\"nmae\":\"x\"}" };
	struct err e = { .msg = "" };

	(void)testing_dir();
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		testing_file("/mnt/conf", 0644, texts[i]);
		ck_assert_int_eq(load("/mnt/conf", true, "default", &e), -1);
		ck_assert_msg(strstr(e.msg, "/mnt/conf") != NULL, "%s", e.msg);
	}
	testing_file("/mnt/conf", 0666, "{\"name\":\"x\"}");
	ck_assert_int_eq(load("/mnt/conf", true, "default", &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
}
END_TEST

START_TEST(a_secret_is_one_line_that_only_root_may_read)
{
	auto_free char *secret = NULL;
	char *other = NULL;
	struct err e = { .msg = "" };

	(void)testing_dir();
	testing_file("/mnt/secret", 0600, "s3cret\r\nmore\n");
	ck_assert_msg(hook_secret_load("/mnt/secret", &secret, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(secret, "s3cret");
	testing_file("/mnt/empty", 0600, "\nx");
	ck_assert_int_eq(hook_secret_load("/mnt/empty", &other, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "first line is empty"));
	testing_file("/mnt/open", 0640, "s3cret");
	ck_assert_int_eq(hook_secret_load("/mnt/open", &other, &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	ck_assert_ptr_nonnull(strstr(e.detail, "chmod 600"));
	ck_assert_ptr_null(strstr(e.msg, "s3cret"));
	ck_assert_int_eq(hook_secret_load("/mnt/none", &other, &e), -1);
	ck_assert_int_eq(hook_secret_load("relative", &other, &e), -1);
}
END_TEST

static void input(const char *text)
{
	testing_file("/mnt/input", 0600, text);

	auto_fd int fd = open("/mnt/input", O_RDONLY | O_CLOEXEC);

	ck_assert_int_eq(dup2(fd, STDIN_FILENO), STDIN_FILENO);
}

START_TEST(the_message_is_standard_input)
{
	auto_sm_message struct sm_message m = { .n = 0 };
	struct err e = { .msg = "" };

	(void)testing_dir();
	input("{\"version\":1,\"action\":\"add\",\"pkey\":\"0x1\",\"membership\":\"full\","
	      "\"guids\":[\"0200:0000:0000:0001\"]}");
	ck_assert_msg(hook_message_read(&m, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(m.pkey, 0x8001);
	input("");
	ck_assert_int_eq(hook_message_read(&m, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "standard input"));
	ck_assert_ptr_nonnull(strstr(e.detail, "railhead-sm.d(5)"));
}
END_TEST

TEST_PROGRAM("hook_conf", a_configuration_may_be_absent_only_where_it_is_optional,
	     a_wrong_configuration_is_refused_with_its_path,
	     a_secret_is_one_line_that_only_root_may_read, the_message_is_standard_input)
