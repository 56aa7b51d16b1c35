/* SPDX-License-Identifier: Apache-2.0 */
/* site_test.c: shows the defaults, the keys and the errors of railhead.json. */
#include "lib/sys/site.h"

#include <string.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"

#define FILE_AT "/mnt/railhead.json"

static int load(struct site *s, struct err *e)
{
	struct ctx ctx;

	ctx_init(&ctx, "t");
	ctx.etc_dir = "/mnt";
	return site_load(&ctx, s, e);
}

START_TEST(without_a_file_defaults_apply)
{
	auto_site struct site s = { .tree = NULL };
	struct ctx ctx;
	struct err e;

	(void)testing_dir();
	ck_assert_int_eq(load(&s, &e), 0);
	ck_assert_str_eq(s.data_dirs[0], "/var/lib/railhead");
	ck_assert_str_eq(s.data_dirs[1], "/var/lib/cni");
	ck_assert_str_eq(s.data_dirs[2], "/run/railhead");
	ck_assert_ptr_null(s.data_dirs[3]);
	ck_assert_str_eq(s.log_dirs[0], "/var/log");
	ck_assert_ptr_null(s.log_dirs[1]);
	ck_assert_str_eq(s.pod_resources, "/var/lib/kubelet/pod-resources/kubelet.sock");
	ctx_init(&ctx, "t");
	ck_assert_str_eq(ctx.etc_dir, "/etc/railhead");
	ctx.etc_dir = NULL;
	ck_assert_int_eq(site_load(&ctx, &s, &e), 0);
	ctx.etc_dir = "/mnt/no/such";
	ck_assert_int_eq(site_load(&ctx, &s, &e), 0);
}
END_TEST

START_TEST(all_keys_are_read)
{
	auto_site struct site s = { .tree = NULL };
	struct err e = { .msg = "" };

	(void)testing_dir();
	testing_file(FILE_AT, 0644, "{\"dataDirs\":[\"/a\",\"/b/c\"]}");
	ck_assert_msg(load(&s, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(s.data_dirs[0], "/a");
	ck_assert_str_eq(s.data_dirs[1], "/b/c");
	ck_assert_ptr_null(s.data_dirs[2]);
	ck_assert_str_eq(s.log_dirs[0], "/var/log");
	site_clear(&s);
	testing_file(FILE_AT, 0644, "{\"logDirs\":[],\"podResources\":\"/k/kubelet.sock\"}");
	ck_assert_int_eq(load(&s, &e), 0);
	ck_assert_ptr_null(s.log_dirs[0]);
	ck_assert_str_eq(s.pod_resources, "/k/kubelet.sock");
}
END_TEST

START_TEST(bad_files_are_refused)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{ "", "railhead.json" },
		{ "[]", "object" },
		{ "{\"dataDirs\":\"/a\"}", "dataDirs" },
		{ "{\"dataDirs\":[5]}", "dataDirs[0]" },
		{ "{\"dataDirs\":[\"/a\",\"b\"]}", "dataDirs[1]: \"b\"" },
		{ "{\"logDirs\":[\"/a/../b\"]}", "logDirs[0]" },
		{ "{\"podResources\":\"k.sock\"}", "podResources: \"k.sock\"" },
		{ "{\"podResources\":\"\"}", "podResources: \"\"" },
		{ "{\"podResources\":5}", "podResources" },
		{ "{\"datadir\":[\"/a\"]}", "datadir: there is no such key" },
	};
	struct site s;
	struct err e;

	(void)testing_dir();
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		testing_file(FILE_AT, 0644, cases[i].text);
		ck_assert_msg(load(&s, &e) == -1, "%s", cases[i].text);
		ck_assert_ptr_nonnull(strstr(e.msg, FILE_AT));
		ck_assert_msg(strstr(e.msg, cases[i].says) != NULL, "%s", e.msg);
	}
	testing_file(FILE_AT, 0666, "{}");
	ck_assert_int_eq(load(&s, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_FORBIDDEN);
}
END_TEST

static int load_and_clear(void *arg, struct err *e)
{
	auto_site struct site s = { .tree = NULL };

	(void)arg;
	return load(&s, e);
}

START_TEST(out_of_memory)
{
	(void)testing_dir();
	testing_file(FILE_AT, 0644, "{\"dataDirs\":[\"/a\"]}");
	ck_assert_str_eq(alloc_fail_each(load_and_clear, NULL), "ok");
}
END_TEST

TEST_PROGRAM("site", without_a_file_defaults_apply, all_keys_are_read, bad_files_are_refused,
	     out_of_memory)
