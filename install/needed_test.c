/* SPDX-License-Identifier: Apache-2.0 */
/* needed_test.c: which programs the records of attachments ask for, and which records count. */
#include "install/needed.h"

#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

#define BOOT  "01234567-89ab-cdef-0123-456789abcdef"
#define OTHER "11234567-89ab-cdef-0123-456789abcdef"

static struct ctx new_ctx(void)
{
	(void)testing_dir();
	ck_assert_int_eq(mkdir("/mnt/sys", 0755) | mkdir("/mnt/sys/kernel", 0755) |
				 mkdir("/mnt/sys/kernel/random", 0755),
			 0);
	testing_file("/mnt/sys/kernel/random/boot_id", 0644, BOOT "\n");
	return (struct ctx){ .run_dir = "/mnt/run", .proc = "/mnt", .log = { .fd = -1 } };
}

/* A record with this configuration; NULL: it has none. */
static void attach(const struct ctx *ctx, const char *container, const char *boot, const char *text)
{
	struct err e = { .msg = "" };
	auto_json struct json *config = NULL;
	struct record r = { .key = { "rail0", container, "net1" },
			    .plugin = "macvlan",
			    .kind = "macvlan",
			    .netns = "/run/netns/p",
			    .master = "eth0",
			    .cni_path = "/opt/cni/bin",
			    .args = "" };

	(void)snprintf(r.boot, sizeof(r.boot), "%s", boot);
	ck_assert(!text || json_parse(text, strlen(text), "test", &config, &e) == 0);
	r.config = config;
	ck_assert_msg(record_write(ctx, &r, &e) == 0, "%s", e.msg);
}

static struct needed load(const struct ctx *ctx)
{
	struct needed x;
	struct err e = { .msg = "" };

	ck_assert_msg(needed_load(ctx, NULL, &x, &e) == 0, "%s", e.msg);
	return x;
}

static bool needs(const struct ctx *ctx, const char *name)
{
	const struct needed x = load(ctx);

	return needed_has(&x, name);
}

START_TEST(nothing_is_needed_without_attachments)
{
	const struct ctx ctx = new_ctx();
	struct needed x = load(&ctx);

	ck_assert_uint_eq(x.attachments, 0);
	ck_assert(!needed_has(&x, "macvlan"));
}
END_TEST

START_TEST(plugin_and_IPAM_of_the_configuration_are_needed)
{
	const struct ctx ctx = new_ctx();
	struct record_place rdma;
	struct err e = { .msg = "" };

	ck_assert_int_eq(record_place(&ctx, "rdma", &rdma, &e), 0);
	attach(&ctx, "c1", BOOT, "{\"type\":\"rh-macvlan\",\"ipam\":{\"type\":\"railhead-ipam\"}}");
	attach(&ctx, "c2", BOOT, "{\"type\":\"ipvlan\"}");
	attach(&rdma.ctx, "c1", BOOT, "{\"type\":\"rh-rdma\"}");

	struct needed x = load(&ctx);

	ck_assert_uint_eq(x.attachments, 3);
	ck_assert(needed_has(&x, "rh-macvlan") && needed_has(&x, "railhead-ipam"));
	ck_assert(needed_has(&x, "ipvlan") && needed_has(&x, "rh-rdma"));
	ck_assert(!needed_has(&x, "macvlan") && !needed_has(&x, "rdma"));
}
END_TEST

START_TEST(attachments_of_an_earlier_boot_do_not_count)
{
	const struct ctx ctx = new_ctx();

	attach(&ctx, "c1", OTHER, "{\"type\":\"macvlan\"}");
	ck_assert_uint_eq(load(&ctx).attachments, 0);
}
END_TEST

START_TEST(an_attachment_that_does_not_say_needs_all)
{
	const struct ctx ctx = new_ctx();

	attach(&ctx, "c1", BOOT, NULL);
	ck_assert(needs(&ctx, "sriov"));
	attach(&ctx, "c1", BOOT, "{\"type\":\"macvlan\"}");
	ck_assert(!needs(&ctx, "sriov"));
	testing_file("/mnt/run/attachments/rail0/c2,net1", 0600, "{");
	ck_assert(needs(&ctx, "sriov"));
}
END_TEST

START_TEST(a_record_under_a_wrong_name_needs_all)
{
	const struct ctx ctx = new_ctx();

	attach(&ctx, "c1", BOOT, "{\"type\":\"macvlan\"}");
	ck_assert_int_eq(
		rename("/mnt/run/attachments/rail0/c1,net1", "/mnt/run/attachments/rail0/c2,net1"),
		0);
	ck_assert(needs(&ctx, "sriov"));
}
END_TEST

START_TEST(an_unknown_boot_is_an_error)
{
	struct ctx ctx = new_ctx();
	struct needed x;
	struct err e = { .msg = "" };

	ctx.proc = "/mnt/none";
	ck_assert_int_eq(needed_load(&ctx, NULL, &x, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "need the plugins"));
}
END_TEST

START_TEST(more_names_than_there_is_room_for_are_all)
{
	auto_json struct json *tree = json_new_object();
	struct needed x = { .n = 0 };
	char name[16];

	for (int i = 0; i <= RECEIPT_PROGRAMS; i++) {
		auto_json struct json *config = json_new_object();
		const struct record r = { .key = { "n", "c", "i" },
					  .config = config,
					  .tree = tree };

		(void)snprintf(name, sizeof(name), "p%d", i);
		ck_assert_int_eq(json_add_str(config, "type", name), 0);
		ck_assert(!needed_has(&x, name));
		needed_add(&x, &r);
		ck_assert(needed_has(&x, name));
		ck_assert_int_eq(x.all, i == RECEIPT_PROGRAMS);
	}
}
END_TEST

START_TEST(a_path_as_type_is_no_program_of_the_folder)
{
	auto_json struct json *config = json_new_object();
	struct needed x = { .n = 0 };
	const struct record r = { .key = { "n", "c", "i" }, .config = config, .tree = config };

	ck_assert_int_eq(json_add_str(config, "type", "../macvlan"), 0);
	needed_add(&x, &r);
	ck_assert_uint_eq(x.n, 0);
}
END_TEST

START_TEST(a_refusal_names_the_first_attachments)
{
	const struct ctx ctx = new_ctx();
	struct err e = { .msg = "" };
	struct needed x;

	attach(&ctx, "c1", BOOT, "{\"type\":\"macvlan\"}");
	x = load(&ctx);
	ck_assert_int_eq(needed_refuse(&x, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_BUSY);
	ck_assert_str_eq(e.msg, "1 attachment of this node still needs the plugins for its DEL: "
				"rail0 c1 net1");
	attach(&ctx, "c2", BOOT, "{\"type\":\"macvlan\"}");
	attach(&ctx, "c3", BOOT, "{\"type\":\"macvlan\"}");
	attach(&ctx, "c4", BOOT, "{\"type\":\"macvlan\"}");
	x = load(&ctx);
	ck_assert_int_eq(needed_refuse(&x, &e), -1);
	ck_assert_str_eq(e.msg, "4 attachments of this node still need the plugins for their DEL: "
				"rail0 c1 net1, rail0 c2 net1, rail0 c3 net1, ...");
	ck_assert_ptr_nonnull(strstr(e.detail, "railctl attachments repair"));
}
END_TEST

/* The programs of another prefix do not matter, and railhead-ipam has none. */
START_TEST(a_check_asks_for_some_programs)
{
	const struct ctx ctx = new_ctx();
	struct receipt names = { .n = 0 };
	struct err e = { .msg = "" };

	ck_assert_int_eq(receipt_add(&names, "rh-macvlan", "", &e), 0);
	ck_assert_int_eq(needed_check(&ctx, &names, &e), 0);
	attach(&ctx, "c1", BOOT, "{\"type\":\"macvlan\",\"ipam\":{\"type\":\"railhead-ipam\"}}");
	ck_assert_int_eq(needed_check(&ctx, &names, &e), 0);
	ck_assert_int_eq(receipt_add(&names, "railhead-ipam", "", &e), 0);
	ck_assert_int_eq(needed_check(&ctx, &names, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_BUSY);
	ck_assert_ptr_nonnull(strstr(e.msg, "rail0 c1 net1"));
}
END_TEST

TEST_PROGRAM("needed", nothing_is_needed_without_attachments,
	     plugin_and_IPAM_of_the_configuration_are_needed,
	     attachments_of_an_earlier_boot_do_not_count, an_attachment_that_does_not_say_needs_all,
	     a_record_under_a_wrong_name_needs_all, an_unknown_boot_is_an_error,
	     more_names_than_there_is_room_for_are_all, a_path_as_type_is_no_program_of_the_folder,
	     a_refusal_names_the_first_attachments, a_check_asks_for_some_programs)
