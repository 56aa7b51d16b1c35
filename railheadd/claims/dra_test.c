/* SPDX-License-Identifier: Apache-2.0 */
/* dra_test.c: messages as the kubelet writes and reads them, byte for byte. */
#include "railheadd/claims/dra.h"

#include <stdio.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define REQUEST "\x0a\x0d\x0a\2ns\x12\2u1\x1a\3one\x0a\x0d\x0a\2ns\x12\2u2\x1a\3two"

static struct err e;

static void is_bytes(struct proto_bytes b, const char *want, size_t len)
{
	ck_assert_ptr_nonnull(b.data);
	ck_assert_uint_eq(b.len, len);
	ck_assert_mem_eq(b.data, want, len);
	free(b.data);
}
#define IS(b, text) is_bytes((b), (text), sizeof(text) - 1)

static int request(const char *bytes, size_t len, struct dra_request *out)
{
	return dra_request_decode((const uint8_t *)bytes, len, out, &e);
}

START_TEST(what_the_driver_says_of_itself)
{
	IS(dra_info("/a.sock"), "\x0a\x09"
				"DRAPlugin\x12\x0brailhead.io\x1a\7/a.sock\x22\x0cv1.DRAPlugin\x22"
				"\x14v1.DRAResourceHealth\x22"
				"\x1av1alpha1.DRAResourceHealth");
}
END_TEST

START_TEST(the_kubelet_has_registered_it)
{
	struct dra_status s;

	ck_assert_int_eq(dra_status_decode((const uint8_t *)"\x08\1", 2, &s, &e), 0);
	ck_assert(s.registered && !*s.error);
	ck_assert_int_eq(dra_status_decode((const uint8_t *)"\x12\3why", 5, &s, &e), 0);
	ck_assert(!s.registered);
	ck_assert_str_eq(s.error, "why");
	ck_assert_int_eq(dra_status_decode((const uint8_t *)"\x12\3wh", 4, &s, &e), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
}
END_TEST

START_TEST(a_request_with_two_claims)
{
	auto_dra_request struct dra_request r = { .n = 0 };

	ck_assert_int_eq(request(REQUEST, sizeof(REQUEST) - 1, &r), 0);
	ck_assert_uint_eq(r.n, 2);
	ck_assert_str_eq(r.of[1].ns, "ns");
	ck_assert_str_eq(r.of[1].uid, "u2");
	ck_assert_str_eq(r.of[1].name, "two");
}
END_TEST

/* They become parts of addresses and of names of files. */
START_TEST(names_that_are_none)
{
	static const char path[] = "\x0a\x0e\x0a\2ns\x12\2u1\x1a\4a/..", none[] = "\x0a\2\x0a\0";
	struct dra_request r;

	ck_assert_int_eq(request(path, sizeof(path) - 1, &r), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
	ck_assert_int_eq(request(none, sizeof(none) - 1, &r), -1);
	ck_assert_int_eq(request("\x0a\x09", 2, &r), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
}
END_TEST

START_TEST(more_claims_than_a_pod_has)
{
	static char bytes[15 * (DRA_CLAIMS_MAX + 1)];
	struct dra_request r;

	for (size_t i = 0; i <= DRA_CLAIMS_MAX; i++)
		memcpy(bytes + 15 * i, REQUEST, 15);
	ck_assert_int_eq(request(bytes, sizeof(bytes), &r), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "more than 64 claims"));
	ck_assert_int_eq(request(bytes, sizeof(bytes) - 15, &r), 0);
	dra_request_clear(&r);
}
END_TEST

START_TEST(one_prepared_and_one_refused)
{
	auto_dra_request struct dra_request r = { .n = 0 };
	struct dra_outcome of[2] = {
		{ .claim = { .n = 2,
			     .prepared.claim.uid = "u1",
			     .device = { { "q", "rails", "s", .part = { UINT64_MAX, -1 } },
					 { "q", "rail3", "", .part = { 8, -1 } } } } },
		{ .error = "no" },
	};

	ck_assert_int_eq(request(REQUEST, sizeof(REQUEST) - 1, &r), 0);
	IS(dra_prepared(&r, of, "n1"),
	   "\x0a\x57\x0a\2u1\x12\x51\x0a\x27\x0a\1q\x12\2n1\x1a\5rails\x22\x14railhead.io/"
	   "claim=u1*\1s\x0a\x26\x0a\1q\x12\2n1\x1a\5rail3\x22\x16railhead.io/claim=u1-3"
	   "\x0a\x0a\x0a\2u2\x12\4\x12\2no");
	IS(dra_unprepared(&r, of), "\x0a\6\x0a\2u1\x12\0\x0a\x0a\x0a\2u2\x12\4\x0a\2no");
}
END_TEST

/* A device without a taint, and one with it. */
START_TEST(health_of_two_devices)
{
	static const char text[] = "[{\"name\": \"rail0\"}, {\"name\": \"rail1\", \"taints\":"
				   " [{\"key\": \"k\", \"value\": \"no-carrier\"}]}]";
	auto_json struct json *list = NULL;

	ck_assert_int_eq(json_parse(text, sizeof(text) - 1, "devices", &list, &e), 0);
	IS(dra_health(list, "n1", 7),
	   "\x0a\x13\x0a\x0b\x0a\2n1\x12\5rail0\x10\1\x18\7 \x78"
	   "\x0a\x1f\x0a\x0b\x0a\2n1\x12\5rail1\x10\2\x18\7 \x78*\x0ano-carrier");
}
END_TEST

static int decode_once(void *arg, struct err *why)
{
	struct dra_request r;

	(void)arg;
	if (dra_request_decode((const uint8_t *)REQUEST, sizeof(REQUEST) - 1, &r, why))
		return -1;
	dra_request_clear(&r);
	return 0;
}

START_TEST(without_memory)
{
	ck_assert_str_eq(alloc_fail_each(decode_once, NULL), "ok");
}
END_TEST

TEST_PROGRAM("dra", what_the_driver_says_of_itself, the_kubelet_has_registered_it,
	     a_request_with_two_claims, names_that_are_none, more_claims_than_a_pod_has,
	     one_prepared_and_one_refused, health_of_two_devices, without_memory)
