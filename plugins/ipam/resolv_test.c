/* SPDX-License-Identifier: Apache-2.0 */
/* resolv_test.c: lines of resolv.conf that are used, skipped and refused. */
#include "plugins/ipam/resolv.h"

#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

static const struct {
	const char *text, *want;
} samples[] = {
	{ "", "{}" },
	{ "\n\n  \n# nameserver 1.1.1.1\n; x\nnameserver\nfoo bar\n", "{}" },
	{ "nameserver 10.0.0.1\nnameserver\t fd00::1 # rest\n",
	  "{\"nameservers\":[\"10.0.0.1\",\"fd00::1\"]}" },
	{ "nameserver 10.0.0.1\r\noptions ndots:2  edns0\noptions rotate",
	  "{\"nameservers\":[\"10.0.0.1\"],\"options\":[\"ndots:2\",\"edns0\",\"rotate\"]}" },
	{ "search a b\ndomain x\nsearch c\ndomain y\ndomain\n",
	  "{\"domain\":\"y\",\"search\":[\"c\"]}" },
	{ "search a\nsearch\n", "{}" },
	{ "options o\nsearch s\ndomain d\nnameserver n",
	  "{\"nameservers\":[\"n\"],\"domain\":\"d\",\"search\":[\"s\"],\"options\":[\"o\"]}" },
};

START_TEST(resolv_conf_is_parsed)
{
	for (size_t i = 0; i < ARRAY_SIZE(samples); i++) {
		auto_json struct json *dns = NULL;
		struct err e;

		ck_assert_int_eq(resolv_parse(samples[i].text, strlen(samples[i].text), &dns, &e),
				 0);
		auto_free char *text = json_print(dns, false);
		ck_assert_str_eq(text, samples[i].want);
	}
}
END_TEST

START_TEST(bad_text_is_refused)
{
	char long_line[2000] = "nameserver ";
	struct json *dns = NULL;
	struct err e = { 0 };

	ck_assert_int_eq(resolv_parse("domain \xff", 8, &dns, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_int_eq(resolv_parse("domain\0x", 8, &dns, &e), -1);
	/* a word that is too long is not a server */
	memset(long_line + 11, 'x', sizeof(long_line) - 12);
	ck_assert_int_eq(resolv_parse(long_line, strlen(long_line), &dns, &e), 0);
	ck_assert_uint_eq(json_len(dns), 0);
	json_free(dns);
}
END_TEST

static int parse(void *arg, struct err *e)
{
	auto_json struct json *dns = NULL;

	return resolv_parse(arg, strlen(arg), &dns, e);
}

START_TEST(out_of_memory)
{
	char text[] = "nameserver 1\ndomain d\nsearch a b\nsearch c\noptions x y\n";

	ck_assert_str_eq(alloc_fail_each(parse, text), "ok");
}
END_TEST

TEST_PROGRAM("resolv", resolv_conf_is_parsed, bad_text_is_refused, out_of_memory)
