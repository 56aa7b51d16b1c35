/* SPDX-License-Identifier: Apache-2.0 */
/* tier_test.c: which files of tiers are read and refused, and that a record keeps a tier's values.
 */
/* tier_test.c: which files of tiers are read and refused, and that a record keeps a tier's values.
 */
#include "sriov/claim/tier.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/typos.h"
#include "lib/testing/alloc.h"
#include "lib/testing/dir.h"

#define THREE                                                                                      \
	"{\"tiers\":{\"critical\":{\"min_tx_rate\":5000,\"max_tx_rate\":10000,\"vlanQoS\":5,"      \
	"\"trafficClass\":106},\"normal\":{\"max_tx_rate\":5000},"                                 \
	"\"background\":{\"max_tx_rate\":0,\"vlanQoS\":0,\"trafficClass\":0}}}"

static struct tier find(const char *text, const char *name)
{
	struct tier t;
	struct err e = { .msg = "" };

	ck_assert_msg(tier_decode(text, strlen(text), name, &t, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(e.msg, "");
	ck_assert_str_eq(t.name, name);
	return t;
}

START_TEST(a_tier_is_decoded)
{
	struct tier t = find(THREE, "critical");

	ck_assert_int_eq(t.min_rate, 5000);
	ck_assert_int_eq(t.max_rate, 10000);
	ck_assert_int_eq(t.qos, 5);
	ck_assert_int_eq(t.traffic_class, 106);
	t = find(THREE, "normal");
	ck_assert_int_eq(t.min_rate, TIER_NOT_SET);
	ck_assert_int_eq(t.max_rate, 5000);
	ck_assert_int_eq(t.qos, TIER_NOT_SET);
	ck_assert_int_eq(t.traffic_class, TIER_NOT_SET);
	t = find(THREE, "background");
	ck_assert_int_eq(t.min_rate, TIER_NOT_SET);
	ck_assert_int_eq(t.max_rate, 0);
	ck_assert_int_eq(t.qos, 0);
	ck_assert_int_eq(t.traffic_class, 0);
}
END_TEST

/* Also in a tier that nobody asked for. */
START_TEST(bad_files_are_refused)
{
	static const struct {
		const char *text, *says;
	} bad[] = {
		{ "", "the file" },
		{ "[]", "must be an object" },
		{ "{}", "tiers: is required" },
		{ "{\"tiers\":[]}", "tiers: must be an object" },
		{ "{\"tiers\":{}}", "tiers: has 0 tiers" },
		{ "{\"tiers\":{\"a\":{\"vlanQoS\":1}},\"more\":1}", "more: there is no such key" },
		{ "{\"tiers\":{\"a\":{}}}", "tiers.a: is empty" },
		{ "{\"tiers\":{\"a\":5}}", "tiers.a: must be an object, got 5" },
		{ "{\"tiers\":{\"\":{\"vlanQoS\":1}}}", "tiers: \"\" is not a valid name" },
		{ "{\"tiers\":{\"a b\":{\"vlanQoS\":1}}}", "tiers: \"a b\" is not a valid name" },
		{ "{\"tiers\":{\"a\":{\"vlanQoS\":8}}}", "tiers.a.vlanQoS" },
		{ "{\"tiers\":{\"a\":{\"vlanQoS\":\"5\"}}}", "tiers.a.vlanQoS" },
		{ "{\"tiers\":{\"a\":{\"trafficClass\":256}}}", "256" },
		{ "{\"tiers\":{\"a\":{\"max_tx_rate\":-1}}}", "-1" },
		{ "{\"tiers\":{\"a\":{\"max_tx_rate\":1.5}}}", "1.5" },
		{ "{\"tiers\":{\"a\":{\"maxTxRate\":1}}}", "tiers.a.maxTxRate: there is no such" },
		{ "{\"tiers\":{\"a\":{\"min_tx_rate\":11,\"max_tx_rate\":10}}}",
		  "tiers.a.min_tx_rate: 11 Mbit/s is more than the max_tx_rate of 10" },
		{ "{\"tiers\":{\"a\":{\"vlanQoS\":1},\"b\":{\"vlanQoS\":9}}}", "tiers.b.vlanQoS" },
		{ "{\"tiers\":{\"b\":{\"vlanQoS\":1},\"A\":{\"vlanQoS\":1}}}",
		  "there is no such tier; its tiers are b, A" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct tier t = { .qos = 77 };
		struct err e = { .msg = "" };

		ck_assert_msg(tier_decode(bad[i].text, strlen(bad[i].text), "a", &t, &e) == -1,
			      "%s", bad[i].text);
		ck_assert_int_eq(t.qos, 77);
		ck_assert_msg(strstr(e.msg, bad[i].says), "%s: %s", bad[i].text, e.msg);
	}
}
END_TEST

/* n tiers with names of that length, a comma between. */
static size_t many(char *text, size_t n, int width)
{
	size_t len = (size_t)sprintf(text, "{\"tiers\":{");

	for (size_t i = 0; i < n; i++)
		len += (size_t)sprintf(text + len, "%s\"t%0*zu\":{\"vlanQoS\":%zu}", i ? "," : "",
				       width - 1, i, i % 8);
	return len + (size_t)sprintf(text + len, "}}");
}

START_TEST(tiers_and_names_are_bounded)
{
	static char text[16384], name[TIER_NAME_LEN];
	struct tier t = { .qos = 77 };
	struct err e = { .msg = "" };

	(void)snprintf(name, sizeof(name), "t%0*d", TIER_NAME_LEN - 2, 63);
	(void)many(text, TIER_MAX, TIER_NAME_LEN - 1);
	t = find(text, name);
	ck_assert_int_eq(t.qos, 7);
	ck_assert_int_eq(tier_decode(text, strlen(text), "x", &t, &e), -1);
	ck_assert_str_eq(e.msg + strlen(e.msg) - 3, "...");
	(void)many(text, TIER_MAX + 1, 5);
	ck_assert_int_eq(tier_decode(text, strlen(text), name, &t, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "has 65 tiers"));
	(void)many(text, 1, TIER_NAME_LEN);
	ck_assert_int_eq(tier_decode(text, strlen(text), name, &t, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "is not a valid name"));
}
END_TEST

/* ---- the file ---- */

static void cannot_load(enum err_code code, const char *says)
{
	struct tier t = { .qos = 77 };
	struct err e = { .msg = "" };

	ck_assert_int_eq(tier_load("/mnt/tiers.json", "gold", &t, &e), -1);
	ck_assert_int_eq(t.qos, 77);
	ck_assert_msg(e.code == code && strstr(e.msg, says) && strstr(e.msg, "/mnt/tiers.json"),
		      "%d %s", (int)e.code, e.msg);
}

START_TEST(a_tier_is_read_from_its_file)
{
	struct tier t;
	struct err e = { .msg = "" };

	(void)testing_dir();
	cannot_load(ERR_CONFIG, "No such file");
	testing_file("/mnt/tiers.json", 0644, THREE);
	ck_assert_msg(tier_load("/mnt/tiers.json", "normal", &t, &e) == 0, "%s", e.msg);
	ck_assert_int_eq(t.max_rate, 5000);
	cannot_load(ERR_CONFIG, "its tiers are critical, normal, background");
	testing_file("/mnt/tiers.json", 0644, "{");
	cannot_load(ERR_DECODE, "/mnt/tiers.json: the file");
	testing_file("/mnt/tiers.json", 0666, THREE);
	cannot_load(ERR_FORBIDDEN, "others than root may write it");
}
END_TEST

/* ---- in a record ---- */

START_TEST(a_tier_survives_a_record)
{
	static const char *const names[] = { "critical", "normal", "background" };
	struct err e = { .msg = "" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct tier t = find(THREE, names[i]);
		auto_json struct json *n = tier_to_json(&t);
		struct tier again;

		ck_assert_msg(tier_from_json(n, &again, &e) == 0, "%s", e.msg);
		ck_assert_str_eq(again.name, t.name);
		ck_assert_int_eq(again.min_rate, t.min_rate);
		ck_assert_int_eq(again.max_rate, t.max_rate);
		ck_assert_int_eq(again.qos, t.qos);
		ck_assert_int_eq(again.traffic_class, t.traffic_class);
	}
}
END_TEST

START_TEST(a_record_without_a_tier_has_none)
{
	static const struct {
		const char *text;
		enum err_code code;
	} bad[] = {
		{ "null", ERR_NOTFOUND },
		{ "{}", ERR_NOTFOUND },
		{ "{\"name\":\"\"}", ERR_NOTFOUND },
		{ "{\"name\":\"../x\"}", ERR_NOTFOUND },
		{ "[]", ERR_NOTFOUND },
		{ "{\"name\":\"a\",\"vlanQoS\":9}", ERR_CONFIG },
	};
	struct tier t = { .qos = 77 };
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_json struct json *n = NULL;

		ck_assert_int_eq(json_parse(bad[i].text, strlen(bad[i].text), "t", &n, &e), 0);
		ck_assert_int_eq(tier_from_json(n, &t, &e), -1);
		ck_assert_int_eq(e.code, bad[i].code);
	}
	ck_assert_int_eq(tier_from_json(NULL, &t, &e), -1);
	ck_assert_int_eq(t.qos, 77);
}
END_TEST

/* ---- memory ---- */

static int there_and_back(void *arg, struct err *e)
{
	struct tier t;

	if (tier_decode(arg, strlen(arg), "critical", &t, e))
		return -1;

	auto_json struct json *n = tier_to_json(&t);

	return n ? 0 : err_nomem(e);
}

START_TEST(survives_each_failing_allocation)
{
	char text[] = THREE;

	ck_assert_str_eq(alloc_fail_each(there_and_back, text), "ok");
}
END_TEST

static bool refuses(const char *text, void *arg)
{
	struct tier t;
	struct err e;

	(void)arg;
	return tier_decode(text, strlen(text), "critical", &t, &e) != 0;
}

START_TEST(no_key_is_mistyped_in_silence)
{
	static const char *const also[] = { "normal", "background", NULL }; /* names */

	ck_assert_uint_gt(typos_all_told(THREE, also, refuses, NULL), 9);
}
END_TEST

TEST_PROGRAM("sriov/claim/tier", a_tier_is_decoded, bad_files_are_refused,
	     tiers_and_names_are_bounded, a_tier_is_read_from_its_file, a_tier_survives_a_record,
	     a_record_without_a_tier_has_none, survives_each_failing_allocation,
	     no_key_is_mistyped_in_silence)
