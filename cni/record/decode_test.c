/* SPDX-License-Identifier: Apache-2.0 */
/* decode_test.c: shows which texts are records; record_test.c has the files themselves. */
#include <stdio.h>
#include <string.h>

#include "cni/record/part.h"
#include "cni/record/record.h"
#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

#define BOOT "01234567-89ab-cdef-0123-456789abcdef"

static const char good[] =
	"{\"version\":1,\"network\":\"n\",\"container\":\"c\",\"ifname\":\"i\","
	"\"plugin\":\"p\",\"kind\":\"k\",\"netns\":\"/n\",\"boot\":\"" BOOT "\"}";

START_TEST(a_record_without_a_required_key_is_refused)
{
	static const char *const keys[] = { "version", "network", "container", "ifname",
					    "plugin",  "kind",    "netns",     "boot" };
	auto_record struct record r = { 0 };
	struct err e;

	ck_assert_int_eq(record_decode(good, strlen(good), &r, &e), 0);
	ck_assert_str_eq(r.master, ""); /* never NULL */
	ck_assert_str_eq(r.cni_path, "");
	ck_assert_str_eq(r.args, "");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		struct record bad = { .created = 7 };
		char text[sizeof(good)], quoted[20];

		strcpy(text, good);
		(void)snprintf(quoted, sizeof(quoted), "\"%s\"", keys[i]);
		strstr(text, quoted)[1] = '_';
		ck_assert_int_eq(record_decode(text, strlen(text), &bad, &e), -1);
		ck_assert_int_eq((int)e.code, ERR_DECODE);
		ck_assert_ptr_nonnull(strstr(e.msg, keys[i])); /* CNI-168 */
		ck_assert_int_eq(bad.created, 7);
	}
}
END_TEST

START_TEST(the_text_stays_the_same)
{
	static const char all[] =
		"{\"version\":2,\"network\":\"n\",\"container\":\"c\",\"ifname\":\"i\","
		"\"plugin\":\"p\",\"kind\":\"k\",\"netns\":\"/n\",\"netnsDev\":4,"
		"\"netnsInode\":4026531840,\"netnsCookie\":77,\"pidNs\":1,\"mntNs\":2,"
		"\"ifindex\":3,\"lowerIfindex\":5,\"boot\":\"" BOOT "\",\"created\":6,"
		"\"adding\":true,\"deleting\":true,\"master\":\"m\",\"cniPath\":\"/c\","
		"\"args\":\"a\",\"config\":{\"x\":1},\"device\":{},\"routing\":{},"
		"\"parts\":[{}],\"host\":{}}";
	static const char least[] =
		"{\"version\":1,\"network\":\"n\",\"container\":\"c\",\"ifname\":\"i\","
		"\"plugin\":\"p\",\"kind\":\"k\",\"netns\":\"/n\",\"netnsDev\":0,"
		"\"netnsInode\":0,\"boot\":\"" BOOT "\",\"created\":0,\"master\":\"\","
		"\"cniPath\":\"\",\"args\":\"\"}";
	auto_record struct record r = { 0 }, few = { 0 };
	auto_json struct json *list = json_new_array();
	struct err e;

	ck_assert_int_eq(record_decode(all, strlen(all), &r, &e), 0);
	auto_free char *text = record_print(&r);
	ck_assert_str_eq(text, all);
	ck_assert_int_eq(record_decode(good, strlen(good), &few, &e), 0);
	auto_free char *again = record_print(&few);
	ck_assert_str_eq(again, least);
	ck_assert_int_eq(record_add_part(list, &r) | record_add_part(list, &few), 0);
	auto_free char *parts = json_print(list, false);
	ck_assert_str_eq(parts,
			 "[{\"ifname\":\"i\",\"plugin\":\"p\",\"master\":\"m\",\"ifindex\":3,"
			 "\"lowerIfindex\":5,\"routing\":{},\"device\":{}},"
			 "{\"ifname\":\"i\",\"plugin\":\"p\",\"master\":\"\"}]");
}
END_TEST

START_TEST(other_texts_are_refused)
{
	static const char *const texts[] = {
		"",
		"{}",
		"[]",
		"null",
		"5",
		"garbage",
		"{\"version\":2}",
		"{\"version\":\"1\"}",
		"{\"version\":1}",
	};
	struct record r;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		ck_assert_int_eq(record_decode(texts[i], strlen(texts[i]), &r, &e), -1);
		ck_assert_int_eq((int)e.code, ERR_DECODE);
	}
	for (size_t len = 0; len < strlen(good); len++) {
		ck_assert_int_eq(record_decode(good, len, &r, &e), -1);
		ck_assert_int_eq((int)e.code, ERR_DECODE);
	}
}
END_TEST

/* Found by fuzzing: such a time overflowed on its way from milliseconds. */
START_TEST(impossible_numbers_are_refused)
{
	static const char *const keys[] = { "created", "netnsDev", "netnsInode" };
	static const char *const values[] = { "9007199254740991", "-1" };
	struct record r;
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(keys) + 1; i++) {
		char text[sizeof(good) + 64];

		(void)snprintf(text, sizeof(text), "{\"%s\":%s,%s", keys[i ? i - 1 : 0],
			       values[i > 0], good + 1);
		ck_assert_int_eq(record_decode(text, strlen(text), &r, &e), -1);
		ck_assert_int_eq((int)e.code, ERR_DECODE);
		ck_assert_ptr_nonnull(strstr(e.msg, keys[i ? i - 1 : 0]));
	}
}
END_TEST

/* Repair calls the IPAM that the configuration names, in whatever case. */
START_TEST(keys_of_a_configuration_are_folded)
{
	char whole[2048];
	auto_record struct record r = { 0 };
	struct err e = { 0 };

	(void)snprintf(whole, sizeof(whole), "{\"config\":{\"IPAM\":{\"Type\":\"x\"}},%s",
		       good + 1);
	ck_assert_msg(record_decode(whole, strlen(whole), &r, &e) == 0, "%s", e.msg);
	ck_assert_str_eq(json_str(json_get(json_get(r.config, "ipam"), "type")), "x");
	ck_assert_ptr_null(json_get(r.tree, "CONFIG"));
}
END_TEST

static int decode_and_clear(void *arg, struct err *e)
{
	auto_record struct record r = { 0 };

	return record_decode(arg, strlen(arg), &r, e);
}

START_TEST(out_of_memory)
{
	char text[] = "{\"config\":{\"a\":[1,\"x\"]},\"device\":{},";
	char whole[sizeof(text) + sizeof(good)];

	(void)snprintf(whole, sizeof(whole), "%s%s", text, good + 1);
	ck_assert_str_eq(alloc_fail_each(decode_and_clear, whole), "ok");
}
END_TEST

TEST_PROGRAM("cni/record_decode", the_text_stays_the_same,
	     a_record_without_a_required_key_is_refused, other_texts_are_refused,
	     impossible_numbers_are_refused, keys_of_a_configuration_are_folded, out_of_memory)
