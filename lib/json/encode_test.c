/* SPDX-License-Identifier: Apache-2.0 */
/*
 * encode_test.c: shows what a table of fields writes of a struct, that the same table reads it
 * back, and what each flag leaves out.
 */
#include "lib/json/json.h"

#include <string.h>

#include "lib/base/guid.h"
#include "lib/base/hw_addr.h"
#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

struct item {
	char name[8];
	uint8_t small;
};

struct all {
	const char *string;
	char chars[8];
	bool on;
	uint32_t u32;
	int64_t i64;
	uint8_t u8;
	uint16_t u16;
	int number;
	uint64_t u64;
	uint64_t hex, digits;
	int word;
	uint8_t mac[MAC_LEN];
	struct hw_addr hw;
	struct guid guid;
	uint16_t pkey;
	const struct json *any;
	bool has_nested;
	struct item nested;
	struct item list[2];
	size_t n;
	const struct item *far;
	size_t n_far;
	unsigned bits;
};

#define AT(member) J_AT(struct all, member)

static const struct json_enum words[] = { { "one", 1 }, { "two", 2 }, { "also two", 2 }, { 0 } };

static const struct json_field item_fields[] = {
	{ "name", J_CHARS, J_AT(struct item, name), .flags = J_REQUIRED, .min = 1 },
	{ "small", J_UINT, J_AT(struct item, small), .flags = J_OMIT },
	{ 0 },
};

static const struct json_field fields[] = {
	{ "version", J_CONST, .flags = J_REQUIRED, .min = 3, .max = 3 },
	{ "string", J_STRING, AT(string) },
	{ "chars", J_CHARS, AT(chars) },
	{ "on", J_BOOL, AT(on) },
	{ "u32", J_U32, AT(u32) },
	{ "i64", J_I64, AT(i64) },
	{ "u8", J_UINT, AT(u8) },
	{ "u16", J_UINT, AT(u16) },
	{ "number", J_UINT, AT(number), .max = 100 },
	{ "u64", J_UINT, AT(u64) },
	{ "hex", J_HEX64, AT(hex) },
	{ "digits", J_DIGITS, AT(digits) },
	{ "word", J_ENUM, AT(word), .names = words },
	{ "mac", J_MAC, AT(mac) },
	{ "hw", J_HW_ADDR, AT(hw) },
	{ "guid", J_GUID, AT(guid) },
	{ "pkey", J_PKEY, AT(pkey) },
	{ "any", J_ANY, AT(any) },
	{ "nested", J_NESTED, AT(nested), .flags = J_IF, .has = offsetof(struct all, has_nested),
	  .of = item_fields },
	{ "list", J_LIST, AT(list), .item = sizeof(struct item), .has = offsetof(struct all, n),
	  .of = item_fields },
	{ 0 },
};

static const char full[] =
	"{\"version\":3,\"string\":\"s\",\"chars\":\"seven77\",\"on\":true,\"u32\":4294967295,"
	"\"i64\":-5,\"u8\":255,\"u16\":65535,\"number\":100,\"u64\":9007199254740991,"
	"\"hex\":\"ffffffffffffffff\",\"digits\":\"18446744073709551615\",\"word\":\"two\","
	"\"mac\":\"02:00:00:00:00:01\",\"hw\":\"02:00:00:00:00:02\","
	"\"guid\":\"02:00:00:00:00:00:0a:01\",\"pkey\":\"0x8001\",\"any\":[1],"
	"\"nested\":{\"name\":\"n\",\"small\":7},\"list\":[{\"name\":\"a\"},{\"name\":\"b\"}]}";

static int decode(const char *text, struct json **tree, struct all *out, struct err *e)
{
	return json_parse(text, strlen(text), "test", tree, e) ||
			       json_decode(*tree, "", fields, out, e)
		       ? -1
		       : 0;
}

START_TEST(a_table_reads_what_it_writes)
{
	auto_json struct json *tree = NULL;
	struct all x = { .n = 0 };
	struct err e = { .msg = "" };

	ck_assert_msg(decode(full, &tree, &x, &e) == 0, "%s", e.msg);
	auto_free char *text = json_print_fields(fields, &x, false);
	ck_assert_str_eq(text, full);
	ck_assert(x.has_nested && x.nested.small == 7 && x.n == 2 && x.u64 == (1ULL << 53) - 1);
	ck_assert(x.hex == UINT64_MAX && x.digits == UINT64_MAX && x.word == 2 && x.number == 100);
}
END_TEST

/* Without flags only what has no text is left out. */
START_TEST(an_empty_struct)
{
	const struct all x = { .word = 1 };
	auto_free char *text = json_print_fields(fields, &x, false);

	ck_assert_str_eq(text,
			 "{\"version\":3,\"chars\":\"\",\"on\":false,\"u32\":0,\"i64\":0,\"u8\":0,"
			 "\"u16\":0,\"number\":0,\"u64\":0,\"hex\":\"0000000000000000\","
			 "\"digits\":\"0\",\"word\":\"one\",\"mac\":\"00:00:00:00:00:00\","
			 "\"guid\":\"00:00:00:00:00:00:00:00\",\"pkey\":\"0x0000\",\"list\":[]}");
}
END_TEST

static const struct json_field omitted[] = {
	{ "string", J_STRING, AT(string), .flags = J_OMIT },
	{ "chars", J_CHARS, AT(chars), .flags = J_OMIT },
	{ "on", J_BOOL, AT(on), .flags = J_OMIT },
	{ "u64", J_UINT, AT(u64), .flags = J_OMIT },
	{ "hex", J_HEX64, AT(hex), .flags = J_OMIT },
	{ "digits", J_DIGITS, AT(digits), .flags = J_OMIT },
	{ "guid", J_GUID, AT(guid), .flags = J_OMIT },
	{ "pkey", J_PKEY, AT(pkey), .flags = J_OMIT },
	{ "list", J_LIST, AT(list), .flags = J_OMIT, .item = sizeof(struct item),
	  .has = offsetof(struct all, n), .of = item_fields },
	{ "u32", J_U32, AT(u32), .flags = J_READ },
	{ "text", J_UINT, AT(u8), .flags = J_IF_TEXT, .has = offsetof(struct all, chars) },
	{ "bit", J_UINT, AT(u8), .flags = J_IF_BIT, .has = offsetof(struct all, bits), .bit = 4 },
	{ "far", J_LIST, AT(far), .flags = J_POINTER | J_OMIT, .item = sizeof(struct item),
	  .has = offsetof(struct all, n_far), .of = item_fields },
	{ 0 },
};

START_TEST(flags_leave_out)
{
	static const struct item far[] = { { "a", 1 }, { "b", 0 } };
	struct all x = { .string = "", .u32 = 7, .bits = 3 };
	auto_free char *none = json_print_fields(omitted, &x, false);

	ck_assert_str_eq(none, "{}");
	x.bits = 4;
	x.chars[0] = 'c';
	x.far = far;
	x.n_far = 2;
	auto_free char *some = json_print_fields(omitted, &x, false);
	ck_assert_str_eq(some, "{\"chars\":\"c\",\"text\":0,\"bit\":0,"
			       "\"far\":[{\"name\":\"a\",\"small\":1},{\"name\":\"b\"}]}");
}
END_TEST

START_TEST(a_value_without_a_name_is_refused)
{
	static const struct json_field named[] = { { "word", J_ENUM, AT(word), .names = words },
						   { 0 } };
	const struct all x = { .word = 9 };

	ck_assert_ptr_null(json_print_fields(named, &x, false));
}
END_TEST

START_TEST(values_that_do_not_fit_are_refused)
{
	static const char *const bad[][2] = {
		{ "{\"version\":4}", "version: must be a whole number from 3 to 3, got 4" },
		{ "{\"version\":3,\"chars\":\"eightlet\"}",
		  "chars: must be a string of 0 to 7 bytes, got \"eightlet\"" },
		{ "{\"version\":3,\"u8\":256}",
		  "u8: must be a whole number from 0 to 255, got 256" },
		{ "{\"version\":3,\"u16\":-1}",
		  "u16: must be a whole number from 0 to 65535, got -1" },
		{ "{\"version\":3,\"number\":101}",
		  "number: must be a whole number from 0 to 100, got 101" },
		{ "{\"version\":3,\"u64\":9007199254740992}",
		  "u64: must be a whole number from 0 to 9007199254740991, got 9007199254740992" },
		{ "{\"version\":3,\"hex\":\"12\"}", "hex: \"12\" is not 16 hexadecimal digits" },
		{ "{\"version\":3,\"hex\":12}", "hex: 12 is not 16 hexadecimal digits" },
		{ "{\"version\":3,\"digits\":\"-1\"}", "digits: \"-1\" is not a number" },
		{ "{\"version\":3,\"guid\":\"x\"}", "guid: \"x\" is not a GUID" },
		{ "{\"version\":3,\"nested\":[]}", "nested: must be an object, got an array" },
		{ "{\"version\":3,\"nested\":{}}", "nested.name: is required, but missing" },
		{ "{\"version\":3,\"list\":{}}",
		  "list: must be an array of at most 2, got an object" },
		{ "{\"version\":3,\"list\":[{\"name\":\"a\"},1]}",
		  "list: must be an object, got 1" },
		{ "{\"version\":3,\"list\":[{},{},{}]}",
		  "list: must be an array of at most 2, got an array" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_json struct json *tree = NULL;
		struct all x = { .n = 9 }, same = x;
		struct err e = { .msg = "" };

		ck_assert_msg(decode(bad[i][0], &tree, &x, &e) == -1, "%s", bad[i][0]);
		ck_assert_str_eq(e.msg, bad[i][1]);
		ck_assert_mem_eq(&x, &same, sizeof(x));
		if (strstr(bad[i][0], "\"hex\":12}"))
			ck_assert_int_eq((int)e.code, ERR_DECODE);
	}
}
END_TEST

/* The bound of a table that is wider than the member is that of the member. */
START_TEST(a_text_never_leaves_its_member)
{
	static const struct json_field wide[] = { { "chars", J_CHARS, AT(chars), .max = 1000 },
						  { 0 } };
	static const char text[] = "{\"chars\":\"eightlet\"}";
	auto_json struct json *tree = NULL;
	struct all x = { .n = 9 }, same = x;
	struct err e = { .msg = "" };

	ck_assert_int_eq(json_parse(text, strlen(text), "text", &tree, &e), 0);
	ck_assert_int_eq(json_decode(tree, "", wide, &x, &e), -1);
	ck_assert_str_eq(e.msg, "chars: must be a string of 0 to 7 bytes, got \"eightlet\"");
	ck_assert_mem_eq(&x, &same, sizeof(x));
}
END_TEST

static int there_and_back(void *arg, struct err *e)
{
	auto_json struct json *tree = NULL;
	struct all x = { .n = 0 };

	if (decode(arg, &tree, &x, e))
		return -1;
	auto_free char *text = json_print_fields(fields, &x, true);
	return text ? 0 : err_nomem(e);
}

START_TEST(survives_each_failing_allocation)
{
	char text[sizeof(full)];

	memcpy(text, full, sizeof(full));
	ck_assert_str_eq(alloc_fail_each(there_and_back, text), "ok");
	ck_assert_int_eq(json_encode(NULL, fields + 20, text), -1);
}
END_TEST

TEST_PROGRAM("json_encode", a_table_reads_what_it_writes, an_empty_struct, flags_leave_out,
	     a_value_without_a_name_is_refused, values_that_do_not_fit_are_refused,
	     a_text_never_leaves_its_member, survives_each_failing_allocation)
