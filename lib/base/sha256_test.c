/* SPDX-License-Identifier: Apache-2.0 */
/* sha256_test.c: the digests of the standard's examples, and of each length around a block. */
#include "lib/base/sha256.h"

#include <string.h>

#include "lib/base/base.h"
#include "lib/base/parse.h"
#include "lib/testing/testing.h"

static const char *digest(const void *data, size_t len)
{
	static char text[2 * SHA256_LEN + 1];
	uint8_t out[SHA256_LEN];
	char *p = text;

	sha256(data, len, out);
	for (size_t i = 0; i < sizeof(out); i++)
		p = hex_octet_put(p, out[i]);
	return text;
}

START_TEST(examples_of_the_standard)
{
	static const struct {
		const char *text, *want;
	} c[] = {
		{ "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" },
		{ "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" },
		{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
		  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(c); i++)
		ck_assert_str_eq(digest(c[i].text, strlen(c[i].text)), c[i].want);
}
END_TEST

/* The digest of the digests of 0 to 200 times "a", as sha256sum(1) gives it. */
START_TEST(each_length_around_a_block)
{
	uint8_t data[200], all[201 * SHA256_LEN];

	memset(data, 'a', sizeof(data));
	for (size_t n = 0; n <= sizeof(data); n++)
		sha256(data, n, all + n * SHA256_LEN);
	ck_assert_str_eq(digest(all, sizeof(all)),
			 "1be2d7d291484baf4c78d463a65b40a26c255b1946e5205eac8edad606a76fdd");
}
END_TEST

/* RFC 4231, test case 2; its key is shorter than a digest, and padded with zeros. */
START_TEST(hmac_of_the_standard)
{
	static const char text[] = "what do ya want for nothing?";
	uint8_t key[SHA256_LEN] = "Jefe", out[SHA256_LEN], again[SHA256_LEN];
	struct sha256_hmac m;

	sha256_hmac_begin(&m, key);
	sha256_add(&m.inner, text, 10);
	sha256_add(&m.inner, text + 10, strlen(text) - 10);
	sha256_hmac_end(&m, out);
	static const uint8_t want[] = { 0x5b, 0xdc, 0xc1, 0x46, 0xbf, 0x60, 0x75, 0x4e,
					0x6a, 0x04, 0x24, 0x26, 0x08, 0x95, 0x75, 0xc7,
					0x5a, 0x00, 0x3f, 0x08, 0x9d, 0x27, 0x39, 0x83,
					0x9d, 0xec, 0x58, 0xb9, 0x64, 0xec, 0x38, 0x43 };
	ck_assert_mem_eq(out, want, sizeof(want));
	key[0]++;
	sha256_hmac_begin(&m, key);
	sha256_add(&m.inner, text, strlen(text));
	sha256_hmac_end(&m, again);
	ck_assert_mem_ne(out, again, sizeof(again));
}
END_TEST

TEST_PROGRAM("sha256", examples_of_the_standard, each_length_around_a_block, hmac_of_the_standard)
