/* SPDX-License-Identifier: Apache-2.0 */
/* sm_file_test.c: names and texts of the files of memberships, and what is refused. */
#include "fabric/sm_file.h"

#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"
#include "lib/testing/testing.h"

#define BOOT "6e8a6a3d-1c1b-4c53-8a53-a04eb5ba2b1d"

static const struct sm_file member = {
	.x = { .member = { .pkey = 0x8001,
			   .guid = { { 2, 0, 0, 0, 0, 0, 0x0a, 1 } },
			   .who = { .network = "ib0", .container = "id-1", .ifname = "net1" } },
	       .since = 1700000000123000000,
	       .error = "" },
	.boot = BOOT,
};

START_TEST(a_name_is_partition_and_GUID)
{
	static const char *const bad[] = { "",
					   "lock",
					   "0001",
					   "0001-02000000",
					   "0001-0200000000000a0",
					   "0001-0200000000000a011",
					   "0001_0200000000000a01",
					   "0001-0200000000000A01",
					   "8001-0200000000000a01",
					   "0000-0200000000000a01" };
	char name[SM_FILE_NAME_LEN];
	struct guid guid;
	uint16_t partition;

	ck_assert_str_eq(sm_file_name(0x8001, member.x.member.guid, name), "0001-0200000000000a01");
	ck_assert_int_eq(sm_file_name_parse(name, &partition, &guid), 0);
	ck_assert_uint_eq(partition, 1);
	ck_assert(guid_equal(guid, member.x.member.guid));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(sm_file_name_parse(bad[i], &partition, &guid) == -1, "%s", bad[i]);
}
END_TEST

static void comes_back(const struct sm_file *in, struct sm_file *out)
{
	auto_free char *text = sm_file_print(in);
	struct err e = { .msg = "" };

	ck_assert_ptr_nonnull(text);
	ck_assert_msg(sm_file_decode(text, strlen(text), out, &e) == 0, "%s", e.msg);
}

START_TEST(a_text_is_read_back)
{
	struct sm_file queued = member;
	auto_sm_file struct sm_file a = { .tree = NULL }, b = { .tree = NULL };
	const struct sm_who other = { .container = "id-1", .ifname = "net2" };

	comes_back(&member, &a);
	ck_assert(!a.x.leaving);
	ck_assert_str_eq(a.boot, BOOT);
	ck_assert_int_eq(a.x.since, member.x.since);
	ck_assert_uint_eq(a.x.member.pkey, 0x8001);
	ck_assert_str_eq(a.x.member.who.network, "ib0");
	ck_assert_ptr_null(a.x.member.who.pod_name);
	ck_assert(sm_file_is_of(&a, &member.x.member.who));
	ck_assert(!sm_file_is_of(&a, &other));
	queued.x.leaving = true;
	queued.boot[0] = '\0';
	queued.x.tries = 3;
	queued.x.tried = 1700000000456000000;
	queued.x.error = "away";
	comes_back(&queued, &b);
	ck_assert(b.x.leaving);
	ck_assert_str_eq(b.boot, "");
	ck_assert_uint_eq(b.x.tries, 3);
	ck_assert_int_eq(b.x.tried, queued.x.tried);
	ck_assert_str_eq(b.x.error, "away");
}
END_TEST

START_TEST(the_text_stays_the_same)
{
	struct sm_file queued = member;
	auto_free char *a = sm_file_print(&member);

	ck_assert_str_eq(a, "{\n\t\"version\": 1,\n\t\"state\": \"member\",\n"
			    "\t\"pkey\": \"0x8001\",\n\t\"guid\": \"02:00:00:00:00:00:0a:01\",\n"
			    "\t\"since\": 1700000000123,\n\t\"boot\": \"" BOOT "\",\n"
			    "\t\"who\": {\n\t\t\"network\": \"ib0\",\n"
			    "\t\t\"container\": \"id-1\",\n\t\t\"ifname\": \"net1\"\n\t}\n}");
	queued.x.leaving = true;
	queued.boot[0] = '\0';
	queued.x.tries = 3;
	auto_free char *b = sm_file_print(&queued);
	ck_assert_str_eq(b, "{\n\t\"version\": 1,\n\t\"state\": \"leaving\",\n"
			    "\t\"pkey\": \"0x8001\",\n\t\"guid\": \"02:00:00:00:00:00:0a:01\",\n"
			    "\t\"since\": 1700000000123,\n\t\"tries\": 3,\n\t\"tried\": 0,\n"
			    "\t\"error\": \"\",\n"
			    "\t\"who\": {\n\t\t\"network\": \"ib0\",\n"
			    "\t\t\"container\": \"id-1\",\n\t\t\"ifname\": \"net1\"\n\t}\n}");
}
END_TEST

static void refused(const char *text, const char *words)
{
	struct sm_file x = { .tree = NULL };
	struct err e = { .msg = "" };

	ck_assert_msg(sm_file_decode(text, strlen(text), &x, &e) == -1, "%s", text);
	ck_assert_msg(strstr(e.msg, words) != NULL, "%s: %s", text, e.msg);
}

#define HEAD "{\"version\":1,\"state\":\"member\","
#define GUID "\"guid\":\"02:00:00:00:00:00:0a:01\","

START_TEST(a_damaged_text_is_refused)
{
	refused("{", "membership");
	refused("[]", "must be an object");
	refused("{\"version\":2}", "version");
	refused(HEAD GUID "\"pkey\":\"0\",\"who\":{}}", "partition key");
	refused(HEAD "\"guid\":\"x\",\"pkey\":\"0x1\",\"who\":{}}", "GUID");
	refused(HEAD GUID "\"pkey\":\"0x1\",\"who\":{\"ifname\":1}}", "who.ifname");
	refused(HEAD GUID "\"pkey\":\"0x1\",\"who\":{\"ifname\":\"a\"}}", "no container");
	refused(HEAD GUID "\"pkey\":\"0x1\",\"who\":{\"container\":\"a\"}}", "no ifname");
}
END_TEST

START_TEST(a_file_with_the_text_of_another_is_refused)
{
	struct ctx ctx = { .state_dir = "/mnt/state" };
	auto_sm_file struct sm_file x = { .tree = NULL };
	struct err e = { .msg = "" };

	(void)testing_dir();
	ck_assert_int_eq(sm_file_open_dir(&ctx, false, &e), -1);
	auto_fd int dir = sm_file_open_dir(&ctx, true, &e);
	ck_assert_msg(sm_file_write(dir, &member, true, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(rename("/mnt/state/sm/0001-0200000000000a01",
				"/mnt/state/sm/0002-0200000000000a01"),
			 0);
	ck_assert_int_eq(sm_file_read(dir, "0001-0200000000000a01", &x, &e), 0);
	ck_assert_int_eq(sm_file_read(dir, "0002-0200000000000a01", &x, &e), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
	ck_assert_ptr_nonnull(strstr(e.msg, "is about 0001-0200000000000a01"));
}
END_TEST

static int print_file(void *arg, struct err *e)
{
	auto_free char *text = sm_file_print(arg);

	(void)e;
	return text ? 0 : -1;
}

static int decode_file(void *arg, struct err *e)
{
	auto_sm_file struct sm_file x = { .tree = NULL };

	return sm_file_decode(arg, strlen(arg), &x, e);
}

START_TEST(allocations_may_fail)
{
	struct sm_file queued = member;
	auto_free char *text = sm_file_print(&member);

	queued.x.tries = 1;
	ck_assert_str_eq(alloc_fail_each(print_file, &queued), "ok");
	ck_assert_str_eq(alloc_fail_each(decode_file, text), "ok");
}
END_TEST

TEST_PROGRAM("sm_file", the_text_stays_the_same, a_name_is_partition_and_GUID, a_text_is_read_back,
	     a_damaged_text_is_refused, a_file_with_the_text_of_another_is_refused,
	     allocations_may_fail)
