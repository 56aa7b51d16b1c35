/* SPDX-License-Identifier: Apache-2.0 */
/* manager_conf_test.c: files of vf.d that are accepted, and the message for each that is not. */
#include <string.h>

#include "lib/json/json.h"
#include "lib/testing/testing.h"
#include "lib/testing/typos.h"
#include "lib/testing/alloc.h"
#include "sriov/admin/manager.h"

static struct vf_file good(const char *text)
{
	struct vf_file f;
	struct err e = { .msg = "" };

	ck_assert_msg(vf_file_decode(text, strlen(text), "a.json", &f, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(e.msg, "");
	return f;
}

START_TEST(a_file_is_decoded)
{
	auto_vf_file struct vf_file f = good("{\"pf\": \"ens3f0\", \"count\": 8}");

	ck_assert_str_eq(f.pf, "ens3f0");
	ck_assert_uint_eq(f.count, 8);
	ck_assert_ptr_null(f.driver);
	vf_file_clear(&f);
	f = good("{\"driver\":\"vfio-pci\",\"count\":65535,\"pf\":\"0000:3b:00.0\"}");
	ck_assert_str_eq(f.pf, "0000:3b:00.0");
	ck_assert_uint_eq(f.count, 65535);
	ck_assert_str_eq(f.driver, "vfio-pci");
	vf_file_clear(&f);
	f = good("{\"driver\":\"default\",\"count\":1,\"pf\":\"10000:01:00.0\"}");
	ck_assert_ptr_null(f.driver);
	vf_file_clear(&f);
	f = good("{\"driver\":null,\"count\":1,\"pf\":\"p0\"}");
	ck_assert_ptr_null(f.driver);
	ck_assert_uint_eq(f.guids.n, 0);
	vf_file_clear(&f);
	f = good("{\"count\":1,\"pf\":\"ib0\",\"guids\":[\"02:00:00:00:00:00:00:07\","
		 "\"0200:0000:0000:0008\"]}");
	ck_assert_uint_eq(f.guids.n, 2);
	ck_assert_uint_eq(guid_number(f.guids.list[1]), 0x0200000000000008);
	vf_file_clear(&f);
	f = good("{\"count\":8,\"pf\":\"ib0\",\"firstGuid\":\"02:00:00:00:00:00:00:07\"}");
	ck_assert_uint_eq(guid_number(f.guids.first), 0x0200000000000007);
}
END_TEST

START_TEST(errors_name_file_key_and_value)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "the file" },
		{ "{", "the file" },
		{ "[]", "must be an object" },
		{ "{\"count\":1}", "pf: " },
		{ "{\"pf\":\"ens3f0\"}", "count: " },
		{ "{\"pf\":7,\"count\":1}", "pf: must be a string, got 7" },
		{ "{\"pf\":\"ens3f0\",\"count\":0}", "count: " },
		{ "{\"pf\":\"ens3f0\",\"count\":65536}", "65536" },
		{ "{\"pf\":\"ens3f0\",\"count\":1.5}", "1.5" },
		{ "{\"pf\":\"ens3f0\",\"count\":\"4\"}", "\"4\"" },
		{ "{\"pf\":\"ens3f0\",\"count\":-1}", "-1" },
		{ "{\"pf\":\"\",\"count\":1}", "pf: \"\" is neither" },
		{ "{\"pf\":\"a/b\",\"count\":1}", "pf: \"a/b\" is neither" },
		{ "{\"pf\":\"0000:3b:00.8\",\"count\":1}", "pf: \"0000:3b:00.8\" is neither" },
		{ "{\"pf\":\"p0\",\"count\":1,\"numVfs\":2}", "numVfs: there is no such key" },
		{ "{\"pf\":\"p0\",\"Count\":1,\"count\":2}", "Count: there is no such key" },
		{ "{\"pf\":\"p0\",\"count\":1,\"driver\":\"\"}", "driver: \"\"" },
		{ "{\"pf\":\"p0\",\"count\":1,\"driver\":\"../x\"}", "driver: \"../x\"" },
		{ "{\"pf\":\"p0\",\"count\":1,\"driver\":\"a-name-of-thirty-two-characters-x\"}",
		  "driver: " },
		{ "{\"pf\":\"p0\",\"count\":1,\"driver\":true}", "driver: " },
		{ "{\"pf\":\"p0\",\"count\":1,\"guids\":[]}", "guids: 0 is not a number" },
		{ "{\"pf\":\"p0\",\"count\":1,\"guids\":[7]}", "guids: \"\" is not a GUID" },
		{ "{\"pf\":\"p0\",\"count\":1,\"guids\":[\"02:00\"]}", "guids: \"02:00\" is not" },
		{ "{\"pf\":\"p0\",\"count\":2,\"guids\":[\"0200:0000:0000:0008\"]}",
		  "guids: there are 1 for 2 VFs" },
		{ "{\"pf\":\"p0\",\"count\":1,\"firstGuid\":\"x\"}", "firstGuid: \"x\" is not" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct vf_file f = { .count = 77 };
		struct err e = { .msg = "" };
		int rc = vf_file_decode(bad[i].text, strlen(bad[i].text), "a.json", &f, &e);

		ck_assert_msg(rc == -1, "%s", bad[i].text);
		ck_assert_uint_eq(f.count, 77);
		ck_assert_msg(strncmp(e.msg, "a.json: ", 8) == 0, "%s", e.msg);
		ck_assert_msg(strstr(e.msg, bad[i].says) != NULL, "%s: %s", bad[i].text, e.msg);
	}
}
END_TEST

static int decode_once(void *arg, struct err *e)
{
	auto_vf_file struct vf_file f = { 0 };

	return vf_file_decode(arg, strlen(arg), "a.json", &f, e);
}

START_TEST(survives_each_failing_allocation)
{
	char text[] = "{\"pf\":\"p0\",\"count\":1,\"driver\":\"vfio-pci\"}";

	char guids[] = "{\"pf\":\"p0\",\"count\":1,\"guids\":[\"0200:0000:0000:0008\"]}";

	ck_assert_str_eq(alloc_fail_each(decode_once, text), "ok");
	ck_assert_str_eq(alloc_fail_each(decode_once, guids), "ok");
}
END_TEST

static bool refuses(const char *text, void *arg)
{
	auto_vf_file struct vf_file f = { .pf = NULL };
	struct err e;

	(void)arg;
	return vf_file_decode(text, strlen(text), "a.json", &f, &e) != 0;
}

START_TEST(no_key_is_mistyped_in_silence)
{
	ck_assert_uint_gt(typos_all_told("{\"count\":1,\"pf\":\"ib0\",\"driver\":\"x\",\"guids\":["
					 "\"02:00:00:00:00:00:00:07\"]}",
					 NULL, refuses, NULL),
			  9);
	ck_assert_uint_gt(
		typos_all_told(
			"{\"count\":8,\"pf\":\"ib0\",\"firstGuid\":\"02:00:00:00:00:00:00:07\"}",
			NULL, refuses, NULL),
		9);
}
END_TEST

TEST_PROGRAM("manager_conf", a_file_is_decoded, errors_name_file_key_and_value,
	     survives_each_failing_allocation, no_key_is_mistyped_in_silence)
