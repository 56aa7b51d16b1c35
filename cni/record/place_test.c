/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place_test.c: shows where records are, and that a record under the name of another
 * attachment is refused.
 */
#include <stdio.h>
#include <string.h>

#include "cni/record/record.h"
#include "lib/testing/testing.h"

static void write_record(const struct ctx *ctx, const char *const key[3])
{
	const struct record r = {
		.key = { key[0], key[1], key[2] },
		.plugin = "macvlan",
		.kind = "macvlan",
		.netns = "/run/netns/x",
		.master = "",
		.cni_path = "",
		.args = "",
	};
	struct err e;

	ck_assert_int_eq(record_write(ctx, &r, &e), 0);
}

static int see(const struct record *r, void *arg)
{
	ck_assert_ptr_null(r->tree);
	ck_assert_str_eq(r->key.container, "c2"); /* by its name */
	*(bool *)arg = r->name_mismatch;
	return 0;
}

/* Not one word of it may be acted upon. */
static void refused(const struct ctx *ctx, const char *says)
{
	const struct record_key own = { "a", "c2", "net1" };
	auto_record struct record r = { 0 };
	bool name_mismatch = false;
	struct err e;

	ck_assert_int_eq(record_read(ctx, &own, &r, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_STATE);
	ck_assert(record_is_damaged(&e));
	ck_assert_ptr_nonnull(strstr(e.msg, "a/c2,net1"));
	ck_assert_ptr_nonnull(strstr(e.msg, says));
	ck_assert_ptr_null(r.tree);
	ck_assert_int_eq(record_each(ctx, "a", see, &name_mismatch, &e), 0);
	ck_assert(name_mismatch);
	r.key = own;
	ck_assert_int_eq(record_refuse_mismatch(ctx, &r, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "/attachments/a/c2,net1"));
}

START_TEST(a_record_under_anothers_name_is_refused)
{
	static const char *const own[] = { "a", "c2", "net1" };
	static const char *const others[][3] = { { "a", "c1", "net1" },
						 { "b", "c2", "net1" },
						 { "a", "c2", "net2" } };
	char dir[] = "/tmp/railhead-place-XXXXXX", from[128], to[128], says[64];
	const struct record_key key = { own[0], own[1], own[2] };
	struct ctx ctx;
	struct err e;

	ck_assert_ptr_nonnull(mkdtemp(dir));
	ctx_init(&ctx, "test");
	ctx.run_dir = dir;
	(void)snprintf(to, sizeof(to), "%s/attachments/a/c2,net1", dir);
	for (size_t i = 0; i < ARRAY_SIZE(others); i++) {
		write_record(&ctx, own); /* and its folder */
		write_record(&ctx, others[i]);
		(void)snprintf(says, sizeof(says), "%s/%s,%s", others[i][0], others[i][1],
			       others[i][2]);
		(void)snprintf(from, sizeof(from), "%s/attachments/%s", dir, says);
		ck_assert_int_eq(rename(from, to), 0);
		refused(&ctx, says);
		ck_assert_int_eq(record_remove(&ctx, &key, &e), 0);
	}
	ck_assert_int_eq(record_tidy(&ctx, &e), 0);
	(void)snprintf(to, sizeof(to), "%s/attachments", dir);
	ck_assert_int_eq(rmdir(to), 0);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(records_may_be_in_a_folder_of_their_own)
{
	struct record_place own, none;
	char long_dir[PATH_MAX];
	struct ctx ctx;
	struct err e;

	ctx_init(&ctx, "test");
	ctx.run_dir = "/run/x";
	ck_assert_int_eq(record_place(&ctx, "rdma", &own, &e), 0);
	ck_assert_str_eq(own.ctx.run_dir, "/run/x/rdma");
	ck_assert_int_eq(record_place(&ctx, NULL, &none, &e), 0);
	ck_assert_str_eq(none.ctx.run_dir, "/run/x");
	memset(long_dir, 'a', sizeof(long_dir));
	long_dir[sizeof(long_dir) - 4] = '\0';
	ctx.run_dir = long_dir;
	ck_assert_int_eq(record_place(&ctx, NULL, &none, &e), 0);
	ck_assert_int_eq(record_place(&ctx, "rdma", &own, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
}
END_TEST

TEST_PROGRAM("cni/record_place", a_record_under_anothers_name_is_refused,
	     records_may_be_in_a_folder_of_their_own)
