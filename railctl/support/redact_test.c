/* SPDX-License-Identifier: Apache-2.0 */
/* redact_test.c: which values of a configuration are secrets, and what stays as it is. */
#include "railctl/support/redact.h"

#include <string.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static void becomes(const char *from, const char *want)
{
	auto_json struct json *conf = NULL, *copy = NULL;
	auto_free char *text = NULL;
	struct err e;

	ck_assert_msg(json_parse(from, strlen(from), "conf", &conf, &e) == 0, "%s", e.msg);
	copy = redact(conf);
	text = json_print(copy, false);
	ck_assert_str_eq(text, want);
}

START_TEST(values_of_secret_keys_are_left_out)
{
	becomes("{\"user\":\"u\",\"password\":\"p\"}",
		"{\"user\":\"u\",\"password\":\"(left out)\"}");
	becomes("[{\"apiToken\":[1,\"t\"]},{\"Client_Secret\":{\"a\":\"b\"}}]",
		"[{\"apiToken\":\"(left out)\"},{\"Client_Secret\":\"(left out)\"}]");
	becomes("{\"a\":{\"PassPhrase\":7,\"tlsPrivateKey\":null}}",
		"{\"a\":{\"PassPhrase\":\"(left out)\",\"tlsPrivateKey\":\"(left out)\"}}");
}
END_TEST

START_TEST(the_rest_stays)
{
	static const char *const same[] = {
		"{\"passwordFile\":\"/etc/railhead/p\",\"tokenFile\":\"t\",\"key\":\"/etc/k\"}",
		"{\"pkey\":\"0x8001\",\"keys\":[true,null,1.5,\"x\",{},[]]}",
		"\"only text\"",
		"{\"a\":\"mail@host\",\"b\":\"http://host/a@b\",\"c\":\"x://\"}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		becomes(same[i], same[i]);
}
END_TEST

START_TEST(a_user_in_a_url_is_left_out)
{
	becomes("[\"https://u:p@host:2379/a@b\",\"x http://u@h y\"]",
		"[\"https://(left out)@host:2379/a@b\",\"x http://(left out)@h y\"]");
}
END_TEST

static int copy(void *arg, struct err *e)
{
	auto_json struct json *out = redact(arg);

	return out ? 0 : err_nomem(e);
}

/* Never a part of the copy, which might look like the whole. */
START_TEST(without_memory_there_is_no_copy)
{
	static const char text[] = "{\"a\":[\"http://u@h\",{\"token\":1}],\"b\":2}";
	auto_json struct json *conf = NULL;
	struct err e;

	ck_assert_int_eq(json_parse(text, sizeof(text) - 1, "conf", &conf, &e), 0);
	ck_assert_str_eq(alloc_fail_each(copy, conf), "ok");
}
END_TEST

TEST_PROGRAM("redact", values_of_secret_keys_are_left_out, the_rest_stays,
	     a_user_in_a_url_is_left_out, without_memory_there_is_no_copy)
