/* SPDX-License-Identifier: Apache-2.0 */
/* qos_conf_test.c: profiles from text and files, and the errors for wrong ones. */
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"
#include "rdma/qos/qos.h"

#define ALL "{\"pf\":\"ens3f0\",\"trust\":\"dscp\",\"pfc\":[3,5],\"ecn\":[3],\"trafficClass\":106}"

static struct qos_file good(const char *text)
{
	struct qos_file f;
	struct err e = { .msg = "" };

	ck_assert_msg(qos_file_decode(text, strlen(text), "a.json", &f, &e) == 0, "%s", e.msg);
	return f;
}

START_TEST(a_file_is_decoded)
{
	struct qos_file f = good(ALL);

	ck_assert_str_eq(f.pf, "ens3f0");
	ck_assert_uint_eq(f.want.has, QOS_BIT(QOS_CM) - 1);
	ck_assert(f.want.trust_dscp && f.want.pfc == 0x28 && f.want.ecn == 8 && f.want.tc == 106);
	f = good("{\"pf\":\"0000:3B:00.0\",\"pfc\":[]}");
	ck_assert_str_eq(f.pf, "0000:3b:00.0");
	ck_assert_uint_eq(f.want.has, QOS_BIT(QOS_PFC));
	ck_assert_uint_eq(f.want.pfc, 0);
	f = good("{\"pf\":\"p0\",\"trust\":\"pcp\",\"trafficClass\":0}");
	ck_assert_uint_eq(f.want.has, QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_TC));
	ck_assert(!f.want.trust_dscp && f.want.tc == 0);
}
END_TEST

START_TEST(errors_name_file_key_and_value)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "the file" },
		{ "[]", "must be an object" },
		{ "{\"pfc\":[3]}", "pf: is required" },
		{ "{\"pf\":\"p0\"}", "says nothing" },
		{ "{\"pf\":\"a/b\",\"pfc\":[3]}", "pf: \"a/b\" is neither" },
		{ "{\"pf\":\"p0\",\"pfc\":3}", "pfc: must be an array, got 3" },
		{ "{\"pf\":\"p0\",\"pfc\":[8]}", "pfc: 8 is no priority" },
		{ "{\"pf\":\"p0\",\"pfc\":[-1]}", "pfc: -1 is no priority" },
		{ "{\"pf\":\"p0\",\"ecn\":[1.5]}", "ecn: 1.5 is no priority" },
		{ "{\"pf\":\"p0\",\"ecn\":[\"3\"]}", "ecn: \"3\" is no priority" },
		{ "{\"pf\":\"p0\",\"ecn\":[1e300]}", "is no priority" },
		{ "{\"pf\":\"p0\",\"trust\":\"both\"}", "trust: must be one of dscp, pcp" },
		{ "{\"pf\":\"p0\",\"trafficClass\":256}", "trafficClass" },
		{ "{\"pf\":\"p0\",\"tc\":106}", "tc: there is no such key" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct qos_file f = { .want = { .tc = 77 } };
		struct err e = { .msg = "" };

		ck_assert_msg(qos_file_decode(bad[i].text, strlen(bad[i].text), "a.json", &f, &e) ==
				      -1,
			      "%s", bad[i].text);
		ck_assert_uint_eq(f.want.tc, 77);
		ck_assert_msg(strncmp(e.msg, "a.json: ", 8) == 0 && strstr(e.msg, bad[i].says),
			      "%s: %s", bad[i].text, e.msg);
	}
}
END_TEST

START_TEST(printed_and_read_again)
{
	static const char *const texts[] = { ALL, "{\"pf\":\"p0\",\"pfc\":[]}",
					     "{\"pf\":\"p0\",\"trust\":\"pcp\"}" };

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		const struct qos_file f = good(texts[i]);
		auto_free char *text = qos_file_print(&f);
		const struct qos_file again = good(text);

		ck_assert_str_eq(again.pf, f.pf);
		ck_assert_mem_eq(&again.want, &f.want, sizeof(f.want));
	}
}
END_TEST

START_TEST(priorities_as_words)
{
	static const struct {
		const char *text;
		uint8_t set;
	} cases[] = {
		{ "none", 0 }, { "0", 1 }, { "3", 8 }, { "3,5", 0x28 }, { "7,6,5,4,3,2,1,0", 0xff }
	};
	static const char *const bad[] = { "", "8", "3,", ",3", "33", "-1", "3;5", "all", "3, 5" };
	char list[QOS_LIST_LEN];
	uint8_t set = 77;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		ck_assert_int_eq(qos_priorities(cases[i].text, &set), 0);
		ck_assert_uint_eq(set, cases[i].set);
		ck_assert_int_eq(qos_priorities(qos_list(set, list), &set), 0);
		ck_assert_uint_eq(set, cases[i].set);
	}
	ck_assert_str_eq(list, "0,1,2,3,4,5,6,7");
	set = 77;
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(qos_priorities(bad[i], &set) == -1 && set == 77, "%s", bad[i]);
}
END_TEST

static int there_and_back(void *arg, struct err *e)
{
	struct qos_file f;

	if (qos_file_decode(arg, strlen(arg), "a.json", &f, e))
		return -1;

	auto_free char *text = qos_file_print(&f);

	return text ? 0 : err_nomem(e);
}

START_TEST(survives_each_failing_allocation)
{
	char text[] = ALL;

	ck_assert_str_eq(alloc_fail_each(there_and_back, text), "ok");
}
END_TEST

TEST_PROGRAM("rdma/qos/qos_conf", a_file_is_decoded, errors_name_file_key_and_value,
	     printed_and_read_again, priorities_as_words, survives_each_failing_allocation)
