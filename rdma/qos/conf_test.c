/* SPDX-License-Identifier: Apache-2.0 */
/* conf_test.c: profiles from text and files, and the errors for wrong ones. */
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/typos.h"
#include "lib/testing/alloc.h"
#include "rdma/qos/profile.h"

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
	ck_assert_uint_eq(f.want.has, QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_PFC) | QOS_BIT(QOS_ECN) |
					      QOS_BIT(QOS_TC));
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

#define MORE                                                                                       \
	"{\"pf\":\"p0\",\"dscp\":{\"26\":3,\"48-49\":6},\"priorityQueues\":[0,0,0,3,0,0,6,0],"     \
	"\"queueBandwidth\":[50,0,0,50,0,0,\"strict\",\"vendor\"],\"priorityBuffers\":[0,0,0,1,0," \
	"0,0,0],"                                                                                  \
	"\"bufferBytes\":[20000,167000,0,0,0,0,0,0],\"pfcStormTimeout\":\"auto\","                 \
	"\"cnp\":{\"dscp\":48,\"priority\":6}}"

START_TEST(a_map_queues_and_buffers_are_decoded)
{
	struct qos_file f = good(MORE);
	const struct qos_profile *p = &f.want;

	ck_assert_uint_eq(p->has, QOS_PROFILE & ~(QOS_BIT(QOS_TRUST) | QOS_BIT(QOS_PFC) |
						  QOS_BIT(QOS_ECN) | QOS_BIT(QOS_TC)));
	for (unsigned i = 0; i < DCB_DSCP; i++)
		ck_assert_uint_eq(p->dscp[i], i == 26 ? 3 : i == 48 || i == 49 ? 6 : QOS_NO_RULE);
	ck_assert(p->list[0][3] == 3 && p->list[0][6] == 6 && p->list[0][7] == 0);
	ck_assert(p->list[1][0] == 50 && p->list[1][6] == QOS_STRICT &&
		  p->list[1][7] == QOS_VENDOR);
	ck_assert(p->list[2][3] == 1 && p->list[3][1] == 167000);
	ck_assert(p->storm == 0xffff && p->cnp.dscp == 48 && p->cnp.priority == 6 && !p->lossy);
	f = good("{\"pf\":\"p0\",\"lossy\":true}");
	ck_assert(f.want.lossy && !f.want.has);
	f = good("{\"pf\":\"p0\",\"pfcStormTimeout\":0,\"cnp\":{\"priority\":7}}");
	ck_assert(f.want.storm == 0 && f.want.cnp.dscp == QOS_UNSET && f.want.cnp.priority == 7);
	f = good("{\"pf\":\"p0\",\"pfcStormTimeout\":8000,\"lossy\":true,\"pfc\":[]}");
	ck_assert(f.want.storm == 8000);
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
		{ "{\"pf\":\"p0\",\"pfc\":[8]}", "pfc: 8 is not a priority" },
		{ "{\"pf\":\"p0\",\"pfc\":[-1]}", "pfc: -1 is not a priority" },
		{ "{\"pf\":\"p0\",\"ecn\":[1.5]}", "ecn: 1.5 is not a priority" },
		{ "{\"pf\":\"p0\",\"ecn\":[\"3\"]}", "ecn: \"3\" is not a priority" },
		{ "{\"pf\":\"p0\",\"ecn\":[1e300]}", "is not a priority" },
		{ "{\"pf\":\"p0\",\"trust\":\"both\"}", "trust: must be one of dscp, pcp" },
		{ "{\"pf\":\"p0\",\"trafficClass\":256}", "trafficClass" },
		{ "{\"pf\":\"p0\",\"lossy\":false}", "says nothing" },
		{ "{\"pf\":\"p0\",\"lossy\":true,\"pfc\":[3]}", "lossy: the fabric has no flow" },
		{ "{\"pf\":\"p0\",\"trust\":\"pcp\",\"dscp\":{\"1\":1}}", "trust: with pcp" },
		{ "{\"pf\":\"p0\",\"dscp\":{}}", "dscp: \"\" is wrong: it takes DSCP values" },
		{ "{\"pf\":\"p0\",\"dscp\":{\"64\":3}}", "dscp: \"64=3\" is wrong" },
		{ "{\"pf\":\"p0\",\"dscp\":{\"6\":8}}", "is wrong" },
		{ "{\"pf\":\"p0\",\"dscp\":{\"6\":true}}", "dscp: 6: true is wrong" },
		{ "{\"pf\":\"p0\",\"dscp\":{\"6-4\":3}}", "is wrong" },
		{ "{\"pf\":\"p0\",\"dscp\":{\"4-6\":3,\"5\":2}}", "is wrong" },
		{ "{\"pf\":\"p0\",\"dscp\":{\"4=3,5\":3}}", "is wrong" },
		{ "{\"pf\":\"p0\",\"priorityQueues\":[0,1]}", "priorityQueues: \"0,1\" is wrong" },
		{ "{\"pf\":\"p0\",\"priorityQueues\":[0,1,2,3,4,5,6,7,0]}", "is wrong" },
		{ "{\"pf\":\"p0\",\"priorityQueues\":[0,1,2,3,4,5,6,8]}", "is wrong" },
		{ "{\"pf\":\"p0\",\"priorityQueues\":[\"0,1\",2,3,4,5,6,7]}", "is wrong" },
		{ "{\"pf\":\"p0\",\"priorityQueues\":[0,1,2,3,4,5,6,\"strict\"]}", "is wrong" },
		{ "{\"pf\":\"p0\",\"queueBandwidth\":[50,40,0,0,0,0,0,0]}",
		  "queueBandwidth: the percentages are 90 together" },
		{ "{\"pf\":\"p0\",\"queueBandwidth\":[101,0,0,0,0,0,0,0]}", "is wrong" },
		{ "{\"pf\":\"p0\",\"bufferBytes\":[67108865,0,0,0,0,0,0,0]}", "67108865 is wrong" },
		{ "{\"pf\":\"p0\",\"bufferBytes\":[-1,0,0,0,0,0,0,0]}", "-1 is wrong" },
		{ "{\"pf\":\"p0\",\"pfcStormTimeout\":65535}", "pfcStormTimeout: 65535 is wrong" },
		{ "{\"pf\":\"p0\",\"pfcStormTimeout\":\"later\"}",
		  "pfcStormTimeout: \"later\" is wrong" },
		{ "{\"pf\":\"p0\",\"pfcStormTimeout\":[]}", "pfcStormTimeout: an array is wrong" },
		{ "{\"pf\":\"p0\",\"cnp\":{}}", "cnp: says nothing" },
		{ "{\"pf\":\"p0\",\"cnp\":{\"dscp\":64}}", "dscp" },
		{ "{\"pf\":\"p0\",\"cnp\":{\"tc\":6}}", "tc" },
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

/* A map that does not fit is refused and not cut. */
START_TEST(a_map_with_long_numbers)
{
	char text[4096] = "{\"pf\":\"p0\",\"dscp\":{";
	struct qos_file f;
	struct err e = { .msg = "" };

	for (unsigned i = 0; i < DCB_DSCP; i++)
		(void)snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\"%011u\":3",
			       i ? "," : "", i);
	strcat(text, "}}");
	ck_assert_int_eq(qos_file_decode(text, strlen(text), "a.json", &f, &e), -1);
	ck_assert_msg(strstr(e.msg, "dscp is too long"), "%s", e.msg);
}
END_TEST

START_TEST(printed_and_read_again)
{
	static const char *const texts[] = { ALL,
					     MORE,
					     "{\"pf\":\"p0\",\"lossy\":true}",
					     "{\"pf\":\"p0\",\"pfcStormTimeout\":0}",
					     "{\"pf\":\"p0\",\"cnp\":{\"dscp\":0}}",
					     "{\"pf\":\"p0\",\"pfc\":[]}",
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

/* What a table prints is what an option takes, except for congestion notifications. */
START_TEST(settings_as_words)
{
	static const struct {
		enum qos_setting s;
		const char *text;
	} good_words[] = {
		{ QOS_TRUST, "dscp" },
		{ QOS_TRUST, "pcp" },
		{ QOS_DSCP, "0-63=7" },
		{ QOS_DSCP, "0=0,1=1,26=3,48-55=6" },
		{ QOS_PRIORITY_QUEUES, "0,1,2,3,4,5,6,7" },
		{ QOS_QUEUE_BANDWIDTH, "strict,vendor,100,0,0,0,0,0" },
		{ QOS_BUFFER_BYTES, "67108864,0,0,0,0,0,0,0" },
		{ QOS_STORM, "auto" },
		{ QOS_STORM, "off" },
		{ QOS_STORM, "80" },
		{ QOS_PFC, "3,5" },
		{ QOS_ECN, "none" },
		{ QOS_TC, "255" },
	};
	static const struct {
		enum qos_setting s;
		const char *text;
	} bad_words[] = {
		{ QOS_DSCP, "" },
		{ QOS_DSCP, "26" },
		{ QOS_DSCP, "26=" },
		{ QOS_DSCP, "=3" },
		{ QOS_DSCP, "1-2-3=3" },
		{ QOS_DSCP, "1-=3" },
		{ QOS_DSCP, "1=1,1=1" },
		{ QOS_STORM, "0" },
		{ QOS_STORM, "65535" },
		{ QOS_CNP, "48" },
		{ QOS_CNP, "64/1" },
		{ QOS_CNP, "48/8" },
		{ QOS_TRUST, "dscpx" },
		{ QOS_TC, "256" },
		{ QOS_CM, "1" },
		{ QOS_BUFFER_BYTES, "999999999999,0,0,0,0,0,0,0" },
		{ QOS_PRIORITY_QUEUES, "" },
	};
	char text[QOS_TEXT_LEN];
	struct qos_profile p = { .has = 0 };

	for (size_t i = 0; i < ARRAY_SIZE(good_words); i++) {
		p.has = 0;
		ck_assert_msg(qos_parse(good_words[i].s, good_words[i].text, &p) == 0, "%s",
			      good_words[i].text);
		ck_assert_uint_eq(p.has, QOS_BIT(good_words[i].s));
		ck_assert_str_eq(qos_text(good_words[i].s, &p, text), good_words[i].text);
	}
	ck_assert_int_eq(qos_parse(QOS_CNP, "48/6", &p), 0);
	ck_assert_str_eq(qos_text(QOS_CNP, &p, text), "DSCP 48, priority 6");
	p.has = 77;
	for (size_t i = 0; i < ARRAY_SIZE(bad_words); i++)
		ck_assert_msg(qos_parse(bad_words[i].s, bad_words[i].text, &p) == -1, "%s",
			      bad_words[i].text);
	ck_assert_uint_eq(p.has, 77);
}
END_TEST

/* The longest text: no value has the priority of its neighbour. */
START_TEST(a_map_without_ranges_fits)
{
	struct qos_profile p = { .has = 0 }, again = { .has = 0 };
	char text[QOS_TEXT_LEN];

	for (uint8_t i = 0; i < DCB_DSCP; i++)
		p.dscp[i] = i % 2 ? 7 : 6;
	ck_assert_int_eq(qos_parse(QOS_DSCP, qos_text(QOS_DSCP, &p, text), &again), 0);
	ck_assert_mem_eq(again.dscp, p.dscp, sizeof(p.dscp));
	memset(p.dscp, QOS_NO_RULE, sizeof(p.dscp));
	ck_assert_str_eq(qos_text(QOS_DSCP, &p, text), "none");
}
END_TEST

START_TEST(a_second_profile_over_the_first)
{
	struct qos_profile p = good(ALL).want,
			   over = good("{\"pf\":\"p0\",\"pfc\":[],\"lossy\":true}").want;
	struct err e = { .msg = "" };

	qos_overlay(&p, &over);
	ck_assert(p.lossy && p.pfc == 0 && p.ecn == 8 && p.tc == 106 && p.trust_dscp);
	ck_assert_int_eq(qos_check_profile(&p, &e), 0);
	over = good("{\"pf\":\"p0\",\"pfc\":[3]}").want;
	qos_overlay(&p, &over);
	ck_assert(!p.lossy && p.pfc == 8);
	over = good(MORE).want;
	qos_overlay(&p, &over);
	ck_assert(p.dscp[26] == 3 && p.list[1][0] == 50 && p.storm == 0xffff && p.pfc == 8);
	over = good("{\"pf\":\"p0\",\"trust\":\"pcp\",\"cnp\":{\"dscp\":40},\"bufferBytes\":[1,0,0,"
		    "0,0,0,0,0]}")
		       .want;
	qos_overlay(&p, &over);
	ck_assert(!(p.has & QOS_BIT(QOS_DSCP)) && !p.trust_dscp && p.list[1][0] == 50);
	ck_assert(p.cnp.dscp == 40 && p.cnp.priority == 6 && p.list[3][0] == 1 &&
		  p.list[3][1] == 0);
	over = good("{\"pf\":\"p0\",\"dscp\":{\"1\":1}}").want;
	qos_overlay(&p, &over);
	ck_assert(p.trust_dscp && p.dscp[1] == 1 && p.dscp[26] == QOS_NO_RULE);
	ck_assert_int_eq(qos_check_profile(&p, &e), 0);
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
	char text[] = ALL, more[] = MORE;

	ck_assert_str_eq(alloc_fail_each(there_and_back, text), "ok");
	ck_assert_str_eq(alloc_fail_each(there_and_back, more), "ok");
}
END_TEST

static bool refuses(const char *text, void *arg)
{
	struct qos_file f;
	struct err e;

	(void)arg;
	return qos_file_decode(text, strlen(text), "a.json", &f, &e) != 0;
}

START_TEST(no_key_is_mistyped_in_silence)
{
	static const char *const also[] = { "26", "48-49", NULL }; /* values of DSCP */

	ck_assert_uint_gt(typos_all_told(ALL, NULL, refuses, NULL), 9);
	ck_assert_uint_gt(typos_all_told(MORE, also, refuses, NULL), 9);
}
END_TEST

TEST_PROGRAM("rdma/qos/conf", a_file_is_decoded, a_map_queues_and_buffers_are_decoded,
	     settings_as_words, a_map_without_ranges_fits, a_map_with_long_numbers,
	     a_second_profile_over_the_first, errors_name_file_key_and_value,
	     printed_and_read_again, priorities_as_words, survives_each_failing_allocation,
	     no_key_is_mistyped_in_silence)
