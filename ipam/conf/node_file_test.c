/* SPDX-License-Identifier: Apache-2.0 */
/* node_file_test.c: node.json is written and read again; a file that others may write is refused.
 */
#include "ipam/conf/node_file.h"

#include <sys/stat.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

#define FILE_AT "/mnt/etc/node.json"

static int load(uint32_t *number, struct err *e)
{
	auto_node_file struct node_file f = { .tree = NULL };
	struct ctx ctx;

	ctx_init(&ctx, "t");
	ctx.etc_dir = "/mnt/etc";
	int rc = node_file_load(&ctx, "gpu-9", &f, e);
	*number = f.number.number;
	return rc;
}

static void write_text(const char *text)
{
	auto_json struct json *j = NULL;
	struct ctx ctx;
	struct err e = { .msg = "" };

	ctx_init(&ctx, "t");
	ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(json_parse(text, strlen(text), "t", &j, &e), 0);
	ck_assert_msg(node_file_write(&ctx, j, &e) == 0, "%s", e.msg);
}

START_TEST(a_written_file_is_read)
{
	struct err e = { .msg = "" };
	struct stat st;
	uint32_t n;

	(void)testing_dir();
	ck_assert_int_eq(load(&n, &e), 1);
	write_text("{\"number\":17}");
	ck_assert_int_eq(stat(FILE_AT, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0600);
	ck_assert_msg(load(&n, &e) == 0, "%s", e.msg);
	ck_assert_uint_eq(n, 17);
	write_text("{\"hostnamePattern\":\"gpu-(\\\\d+)\"}");
	ck_assert_int_eq(load(&n, &e), 0);
	ck_assert_uint_eq(n, 9);
}
END_TEST

START_TEST(no_number_is_an_error_that_says_what_to_type)
{
	struct err e = { .msg = "" };
	struct ctx ctx;
	uint32_t n;

	(void)testing_dir();
	ctx_init(&ctx, "t");
	ctx.etc_dir = "/mnt/etc";
	ck_assert_int_eq(node_file_number(&ctx, "gpu-9", &n, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_str_eq(e.msg, "node gpu-9 has no number, and a slice of the pool needs one");
	ck_assert_ptr_nonnull(strstr(e.detail, "railctl ipam node set 17"));
	ctx.etc_dir = NULL;
	ck_assert_int_eq(node_file_number(&ctx, "gpu-9", &n, &e), -1);
}
END_TEST

START_TEST(a_file_or_folder_that_others_may_write_is_refused)
{
	static char large[5000];
	struct err e = { .msg = "" };
	uint32_t n;

	(void)testing_dir();
	ck_assert_int_eq(mkdir("/mnt/etc", 0755), 0);
	testing_file(FILE_AT, 0666, "{\"number\":1}");
	ck_assert_int_eq(load(&n, &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	ck_assert_ptr_nonnull(strstr(e.msg, FILE_AT));
	testing_file(FILE_AT, 0644, "{\"number\":1}");
	ck_assert_int_eq(load(&n, &e), 0);
	ck_assert_int_eq(chmod("/mnt/etc", 0777), 0);
	ck_assert_int_eq(load(&n, &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	ck_assert_int_eq(chmod("/mnt/etc", 0755), 0);
	testing_file(FILE_AT, 0644, "{\"number\":");
	ck_assert_int_eq(load(&n, &e), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
	memset(large, ' ', sizeof(large) - 1);
	testing_file(FILE_AT, 0644, large);
	ck_assert_int_eq(load(&n, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
}
END_TEST

TEST_PROGRAM("node_file", a_written_file_is_read, no_number_is_an_error_that_says_what_to_type,
	     a_file_or_folder_that_others_may_write_is_refused)
