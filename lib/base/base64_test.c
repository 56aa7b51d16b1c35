/* SPDX-License-Identifier: Apache-2.0 */
/* base64_test.c: the examples of RFC 4648, and texts that are not base64. */
#include "lib/base/base64.h"
#include "lib/testing/testing.h"

static const char *const words[][2] = {
	{ "", "" },
	{ "f", "Zg==" },
	{ "fo", "Zm8=" },
	{ "foo", "Zm9v" },
	{ "foob", "Zm9vYg==" },
	{ "fooba", "Zm9vYmE=" },
	{ "foobar", "Zm9vYmFy" },
	{ "\xff\xfe\xfd", "//79" },
	{ "\xfb\xf0", "+/A=" },
};

START_TEST(encodes_and_decodes)
{
	for (size_t i = 0; i < ARRAY_SIZE(words); i++) {
		char text[16], back[16] = "";

		ck_assert_str_eq(base64_encode(words[i][0], strlen(words[i][0]), text),
				 words[i][1]);
		ck_assert_uint_eq(strlen(text), BASE64_CHARS(strlen(words[i][0])));
		ck_assert_int_eq(base64_decode(text, strlen(text), back), (int)strlen(words[i][0]));
		ck_assert_str_eq(back, words[i][0]);
	}
}
END_TEST

START_TEST(refuses_other_text)
{
	static const char *const bad[] = { "Z",        "Zg",   "Zg=",  "Zm9",  "Zm9v=",
					   "Zg==Zg==", "=g==", "Z===", "===",  "====",
					   "Zm9 ",     "Zm-v", "Zm_v", "Zh==", "Zm9=" };
	char out[16];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_msg(base64_decode(bad[i], strlen(bad[i]), out) == -1, "%s", bad[i]);
}
END_TEST

TEST_PROGRAM("base64", encodes_and_decodes, refuses_other_text)
