/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decode_test.c: shows which values a table of fields accepts, and that errors name key and value.
 */
#include "lib/json/json.h"

#include <string.h>

#include "lib/base/hw_addr.h"
#include "lib/testing/testing.h"

struct conf {
	const char *name, *word;
	bool on;
	uint32_t mtu, count;
	int64_t wide, bounded, least, negative;
	int mode;
	uint8_t mac[6];
	struct hw_addr hw;
	uint16_t pkey;
	const struct json *object, *array, *any;
};

static const struct json_enum modes[] = {
	{ "bridge", 4 }, { "private", 1 }, { "", 4 }, { "vepa", 2 }, { NULL, 0 }
};

#define AT(field) offsetof(struct conf, field)

static const struct json_field fields[] = {
	{ "name", J_STRING, .offset = AT(name) },
	{ "word", J_STRING, .offset = AT(word), .min = 1, .max = 5 },
	{ "on", J_BOOL, .offset = AT(on) },
	{ "mtu", J_U32, .offset = AT(mtu), .min = 68, .max = 65535 },
	{ "count", J_U32, .offset = AT(count) },
	{ "wide", J_I64, .offset = AT(wide) },
	{ "bounded", J_I64, .offset = AT(bounded), .min = -5, .max = 5 },
	{ "least", J_I64, .offset = AT(least), .min = 3 },
	{ "negative", J_I64, .offset = AT(negative), .min = INT64_MIN, .max = -1 },
	{ "mode", J_ENUM, .offset = AT(mode), .names = modes },
	{ "mac", J_MAC, .offset = AT(mac) },
	{ "hw", J_HW_ADDR, .offset = AT(hw) },
	{ "pkey", J_PKEY, .offset = AT(pkey) },
	{ "object", J_OBJECT, .offset = AT(object) },
	{ "array", J_ARRAY, .offset = AT(array) },
	{ "any", J_ANY, .offset = AT(any) },
	{ 0 },
};

static struct json *parse(const char *text)
{
	struct json *j = NULL;
	struct err e = { 0 };

	if (json_parse(text, strlen(text), "test", &j, &e))
		ck_abort_msg("%s", e.msg);
	return j;
}

/* Decode for its error; the struct must come out as it went in. */
static enum err_code refusal(const char *text, const char *where, const char *msg)
{
	auto_json struct json *j = parse(text);
	struct conf conf, before;
	struct err e = { 0 };

	memset(&conf, 'x', sizeof(conf));
	memset(&before, 'x', sizeof(before));
	ck_assert_msg(json_decode(j, where, fields, &conf, &e) == -1, "%s", text);
	ck_assert_str_eq(e.msg, msg);
	ck_assert_mem_eq(&conf, &before, sizeof(conf));
	return e.code;
}

#define DECODE(text, msg) ck_assert_int_eq(refusal(text, "ipam", "ipam." msg), ERR_DECODE)
#define CONFIG(text, msg) ck_assert_int_eq(refusal(text, "ipam", "ipam." msg), ERR_CONFIG)
#define FIELD(text, msg)  ck_assert_int_eq(refusal(text, "ipam", "ipam." msg), ERR_FIELD)

START_TEST(hardware_addresses)
{
	auto_json struct json *mac = parse("{\"hw\":\"02-00-5E-10-00-01\"}");
	auto_json struct json *ipoib =
		parse("{\"hw\":\"80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:12:34:57\"}");
	struct conf c = { 0 };
	struct err e = { 0 };

	ck_assert_int_eq(json_decode(mac, "", fields, &c, &e), 0);
	ck_assert_uint_eq(c.hw.len, 6);
	ck_assert_mem_eq(c.hw.byte, "\x02\x00\x5e\x10\x00\x01", 6);
	ck_assert_int_eq(json_decode(ipoib, "", fields, &c, &e), 0);
	ck_assert_uint_eq(c.hw.len, 20);
	ck_assert_uint_eq(c.hw.byte[0], 0x80);
	ck_assert_uint_eq(c.hw.byte[19], 0x57);
}
END_TEST

START_TEST(partition_keys)
{
	static const struct {
		const char *text;
		uint16_t pkey;
	} good[] = {
		{ "{\"pkey\":\"0x8001\"}", 0x8001 }, { "{\"pkey\":\"0x1\"}", 1 },
		{ "{\"pkey\":32769}", 0x8001 },      { "{\"pkey\":1}", 1 },
		{ "{\"pkey\":65535.0}", 0xffff },    { "{\"pkey\":\"\"}", 7 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		auto_json struct json *j = parse(good[i].text);
		struct conf c = { .pkey = 7 };
		struct err e = { 0 };

		ck_assert_msg(json_decode(j, "", fields, &c, &e) == 0, "%s", e.msg);
		ck_assert_uint_eq(c.pkey, good[i].pkey);
	}
	DECODE("{\"pkey\":true}", "pkey: must be a partition key, a string or a number, got true");
#define RANGE "pkey: must be a partition key: 0x0001 to 0x7fff, or that with 0x8000, got "
	CONFIG("{\"pkey\":\"0x8000\"}", RANGE "\"0x8000\"");
	CONFIG("{\"pkey\":\"x\"}", RANGE "\"x\"");
	CONFIG("{\"pkey\":0}", RANGE "0");
	CONFIG("{\"pkey\":-1}", RANGE "-1");
	CONFIG("{\"pkey\":65536}", RANGE "65536");
	CONFIG("{\"pkey\":1.5}", RANGE "1.5");
}
END_TEST

START_TEST(good_objects_are_decoded)
{
	auto_json struct json *j = parse(
		"{\"name\":\"n1\",\"word\":\"12345\",\"on\":true,\"mtu\":9000,\"count\":4294967295,"
		"\"wide\":-9007199254740991,\"bounded\":-5,\"least\":9007199254740991,"
		"\"negative\":-7,\"mode\":\"vepa\",\"mac\":\"02-00-5E-10-00-01\",\"object\":{},"
		"\"array\":[],\"any\":\"x\",\"unknown\":{\"mtu\":1}}");
	struct conf c = { 0 };
	struct err e = { .code = ERR_BUSY };

	ck_assert_int_eq(json_decode(j, "test", fields, &c, &e), 0);
	ck_assert_int_eq(e.code, ERR_BUSY);
	ck_assert_str_eq(c.name, "n1");
	ck_assert_str_eq(c.word, "12345");
	ck_assert(c.on);
	ck_assert_uint_eq(c.mtu, 9000);
	ck_assert_uint_eq(c.count, UINT32_MAX);
	ck_assert_int_eq(c.wide, -9007199254740991);
	ck_assert_int_eq(c.bounded, -5);
	ck_assert_int_eq(c.least, 9007199254740991);
	ck_assert_int_eq(c.negative, -7);
	ck_assert_int_eq(c.mode, 2);
	ck_assert_mem_eq(c.mac, "\x02\x00\x5e\x10\x00\x01", 6);
	ck_assert_ptr_eq(c.object, json_get(j, "object"));
	ck_assert_ptr_eq(c.array, json_get(j, "array"));
	ck_assert_ptr_eq(c.any, json_get(j, "any"));
}
END_TEST

START_TEST(limits_are_included)
{
	auto_json struct json *low = parse("{\"word\":\"1\",\"mtu\":68,\"count\":0,\"bounded\":5,"
					   "\"least\":3,\"on\":false,\"mode\":\"\",\"mtu\":68.0}");
	struct conf c = { .on = true };
	struct err e = { 0 };

	ck_assert_int_eq(json_decode(low, "test", fields, &c, &e), 0);
	ck_assert_str_eq(c.word, "1");
	ck_assert_uint_eq(c.mtu, 68);
	ck_assert_int_eq(c.bounded, 5);
	ck_assert_int_eq(c.least, 3);
	ck_assert_int_eq(c.mode, 4);
	ck_assert(!c.on);
}
END_TEST

START_TEST(absent_leaves_alone)
{
	static const char all_null[] = "{\"name\":null,\"word\":null,\"on\":null,\"mtu\":null,"
				       "\"mode\":null,\"mac\":null,\"object\":null}";
	static const char *const texts[] = { "{}", all_null, "{\"mac\":\"\"}", "{\"hw\":\"\"}" };
	struct conf conf, before;
	struct err e = { 0 };

	memset(&conf, 'x', sizeof(conf));
	memset(&before, 'x', sizeof(before));
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_json struct json *j = parse(texts[i]);

		ck_assert_int_eq(json_decode(j, "test", fields, &conf, &e), 0);
		ck_assert_mem_eq(&conf, &before, sizeof(conf));
	}
	ck_assert_int_eq(json_decode(NULL, "test", fields, &conf, &e), 0);
	ck_assert_mem_eq(&conf, &before, sizeof(conf));
}
END_TEST

START_TEST(wrong_types_are_refused)
{
	DECODE("{\"name\":1}", "name: must be a string, got 1");
	DECODE("{\"name\":[]}", "name: must be a string, got an array");
	DECODE("{\"on\":1}", "on: must be true or false, got 1");
	DECODE("{\"on\":\"true\"}", "on: must be true or false, got \"true\"");
	DECODE("{\"mtu\":\"1500\"}", "mtu: must be a whole number from 68 to 65535, got \"1500\"");
	DECODE("{\"mtu\":1500.5}", "mtu: must be a whole number from 68 to 65535, got 1500.5");
	DECODE("{\"mtu\":true}", "mtu: must be a whole number from 68 to 65535, got true");
	DECODE("{\"wide\":{}}", "wide: must be a whole number from -9007199254740991 to "
				"9007199254740991, got an object");
	DECODE("{\"mode\":4}", "mode: must be a string, got 4");
	DECODE("{\"mac\":5}", "mac: must be a string, got 5");
	DECODE("{\"object\":[]}", "object: must be an object, got an array");
	DECODE("{\"array\":\"x\"}", "array: must be an array, got \"x\"");
	DECODE("{\"name\":\"good\",\"array\":\"a\\n\\u0007\"}",
	       "array: must be an array, got \"a\\n\\u0007\"");
}
END_TEST

START_TEST(numbers_out_of_range_are_refused)
{
	CONFIG("{\"word\":\"\"}", "word: must be a string of 1 to 5 bytes, got \"\"");
	CONFIG("{\"word\":\"123456\"}", "word: must be a string of 1 to 5 bytes, got \"123456\"");
	CONFIG("{\"mtu\":67}", "mtu: must be a whole number from 68 to 65535, got 67");
	CONFIG("{\"mtu\":65536}", "mtu: must be a whole number from 68 to 65535, got 65536");
	CONFIG("{\"mtu\":1e99}", "mtu: must be a whole number from 68 to 65535, got 1e+99");
	CONFIG("{\"mtu\":-1e99}", "mtu: must be a whole number from 68 to 65535, got -1e+99");
	CONFIG("{\"count\":4294967296}",
	       "count: must be a whole number from 0 to 4294967295, got 4294967296");
	CONFIG("{\"count\":-1}", "count: must be a whole number from 0 to 4294967295, got -1");
	CONFIG("{\"wide\":9007199254740992}",
	       "wide: must be a whole number from -9007199254740991 to 9007199254740991, got "
	       "9007199254740992");
	CONFIG("{\"bounded\":6}", "bounded: must be a whole number from -5 to 5, got 6");
	CONFIG("{\"bounded\":-6}", "bounded: must be a whole number from -5 to 5, got -6");
	CONFIG("{\"least\":2}", "least: must be a whole number from 3 to 9007199254740991, got 2");
	CONFIG("{\"negative\":0}",
	       "negative: must be a whole number from -9007199254740991 to -1, got 0");
	CONFIG("{\"hw\":\"02:00\"}",
	       "hw: must be a hardware address of 6 or 20 bytes, got \"02:00\"");
	CONFIG("{\"mac\":\"80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:12:34:57\"}",
	       "mac: must be a MAC address like 02:00:5e:10:00:01, got "
	       "\"80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:12:34:57\"");
	CONFIG("{\"mac\":\"02:00\"}",
	       "mac: must be a MAC address like 02:00:5e:10:00:01, got \"02:00\"");
}
END_TEST

START_TEST(unknown_words_are_refused)
{
	FIELD("{\"mode\":\"Bridge\"}",
	      "mode: must be one of bridge, private, vepa, got \"Bridge\"");
}
END_TEST

START_TEST(long_lists_of_words)
{
	static const char word[] = "a-word-of-some-length-to-fill-the-list-of-words-quickly";
	static const struct json_enum many[] = {
		{ word, 0 }, { word, 0 }, { word, 0 }, { word, 0 }, { word, 0 }, { word, 0 },
		{ word, 0 }, { word, 0 }, { word, 0 }, { word, 0 }, { word, 0 }, { NULL, 0 },
	};
	static const struct json_field table[] = { { "w", J_ENUM, .names = many }, { 0 } };
	auto_json struct json *j = parse("{\"w\":\"x\"}");
	struct err e = { 0 };
	int out = 7;

	ck_assert_int_eq(json_decode(j, "", table, &out, &e), -1);
	ck_assert_int_eq(e.code, ERR_FIELD);
	ck_assert_ptr_eq(strstr(e.msg, "w: must be one of a-word-of"), e.msg);
	ck_assert_ptr_nonnull(strstr(e.msg, ", got \"x\""));
	ck_assert_int_eq(out, 7);
}
END_TEST

START_TEST(missing_required_keys_are_named)
{
	static const struct json_field table[] = {
		{ "name", J_STRING, .offset = AT(name), .flags = J_REQUIRED },
		{ 0 },
	};
	static const char *const missing[] = { "{}", "{\"name\":null}", "{\"Name\":\"x\"}" };
	struct conf c = { 0 };
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
		auto_json struct json *j = parse(missing[i]);

		ck_assert_int_eq(json_decode(j, "net", table, &c, &e), -1);
		ck_assert_int_eq(e.code, ERR_CONFIG);
		ck_assert_str_eq(e.msg, "net.name: is required, but missing");
	}
	ck_assert_int_eq(json_decode(NULL, "", table, &c, &e), -1);
	ck_assert_str_eq(e.msg, "name: is required, but missing");
	auto_json struct json *j = parse("{\"name\":\"\"}");
	ck_assert_int_eq(json_decode(j, "", table, &c, &e), 0);
	ck_assert_str_eq(c.name, "");
}
END_TEST

START_TEST(a_missing_word_names_the_words)
{
	static const struct json_enum words[] = { { "", 0 }, { "a", 1 }, { "b", 2 }, { NULL, 0 } };
	static const struct json_field table[] = {
		{ "w", J_ENUM, .flags = J_REQUIRED, .names = words }, { 0 }
	};
	auto_json struct json *j = parse("{}");
	struct err e = { 0 };
	int out;

	ck_assert_int_eq(json_decode(j, "net", table, &out, &e), -1);
	ck_assert_str_eq(e.msg, "net.w: is required, but missing");
	ck_assert_ptr_nonnull(strstr(e.detail, "it must be one of a, b"));
}
END_TEST

START_TEST(what_is_not_an_object_is_refused)
{
	ck_assert_int_eq(refusal("[1]", "ipam", "ipam: must be an object, got an array"),
			 ERR_DECODE);
	ck_assert_int_eq(refusal("\"x\"", "", "must be an object, got \"x\""), ERR_DECODE);
	ck_assert_int_eq(
		refusal("{\"mtu\":1}", "", "mtu: must be a whole number from 68 to 65535, got 1"),
		ERR_CONFIG);
}
END_TEST

START_TEST(keys_that_the_table_does_not_have)
{
	auto_json struct json *fine = parse("{\"mtu\":\"x\",\"name\":null}");
	auto_json struct json *bad = parse("{\"mtu\":1,\"MTU\":2,\"other\":3}");
	struct err e = { 0 };

	ck_assert_int_eq(json_refuse_unknown(fine, "net", fields, &e), 0);
	ck_assert_int_eq(json_refuse_unknown(NULL, "net", fields, &e), 0);
	ck_assert_int_eq(json_refuse_unknown(bad, "net", fields, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_str_eq(e.msg, "net.MTU: there is no such key");
	ck_assert_str_eq(e.detail, "did you mean \"mtu\"?");
	auto_json struct json *other = parse("{\"other\":3}");
	ck_assert_int_eq(json_refuse_unknown(other, "net", fields, &e), -1);
	ck_assert_msg(strstr(e.detail, "the keys here are ") == e.detail, "%s", e.detail);
	ck_assert_ptr_nonnull(strstr(e.detail, fields[0].key));
	ck_assert_int_eq(json_refuse_unknown(bad, "", fields, &e), -1);
	ck_assert_str_eq(e.msg, "MTU: there is no such key");
}
END_TEST

TEST_PROGRAM("json_decode", hardware_addresses, partition_keys, good_objects_are_decoded,
	     limits_are_included, absent_leaves_alone, wrong_types_are_refused,
	     numbers_out_of_range_are_refused, unknown_words_are_refused, long_lists_of_words,
	     missing_required_keys_are_named, a_missing_word_names_the_words,
	     what_is_not_an_object_is_refused, keys_that_the_table_does_not_have)
