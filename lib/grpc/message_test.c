// SPDX-License-Identifier: Apache-2.0
/* A message in pieces, and frames that are refused. */
#include "lib/grpc/message.h"

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

#define FRAME "\0\0\0\0\5hello"

static struct grpc_message in_pieces(const char *bytes, size_t len, size_t piece)
{
	struct grpc_message m = { .max = 16 };
	struct err e = { 0 };

	for (size_t at = 0; at < len; at += piece) {
		size_t n = len - at < piece ? len - at : piece;
		ck_assert(!grpc_message_is_whole(&m));
		ck_assert_msg(!grpc_message_add(&m, (const uint8_t *)bytes + at, n, &e), "%s",
			      e.msg);
	}
	return m;
}

START_TEST(a_message_arrives_in_pieces_of_any_size)
{
	for (size_t piece = 1; piece <= 10; piece++) {
		auto_grpc_message struct grpc_message m = in_pieces(FRAME, 10, piece);
		ck_assert(grpc_message_is_whole(&m));
		ck_assert_uint_eq(m.n, 5);
		ck_assert_mem_eq(m.data, "hello", 5);
	}
}
END_TEST

START_TEST(an_empty_message_is_whole)
{
	auto_grpc_message struct grpc_message m = in_pieces("\0\0\0\0\0", 5, 2);

	ck_assert(grpc_message_is_whole(&m));
	ck_assert_ptr_null(m.data);
}
END_TEST

static const char *refused(const char *bytes, size_t len)
{
	static struct err e;
	auto_grpc_message struct grpc_message m = { .max = 16 };

	ck_assert_int_eq(grpc_message_add(&m, (const uint8_t *)bytes, len, &e), -1);
	ck_assert_int_eq(e.code, ERR_IO);
	return e.msg;
}

START_TEST(bad_frames_are_refused)
{
	ck_assert_ptr_nonnull(strstr(refused("\1\0\0\0\5", 5), "compressed"));
	ck_assert_str_eq(refused("\0\0\0\0\x11", 5), "the message has 17 bytes, allowed are 16");
	ck_assert_ptr_nonnull(strstr(refused("\0\xff\xff\xff\xff", 5), "4294967295 bytes"));
	ck_assert_str_eq(refused(FRAME "\0", 11), "a second message follows the one of 5 bytes");
	ck_assert_ptr_nonnull(strstr(refused("\0\0\0\0\0x", 6), "a second message"));
}
END_TEST

START_TEST(a_prefix_is_what_is_read_again)
{
	uint8_t prefix[GRPC_PREFIX_LEN];
	auto_grpc_message struct grpc_message m = { .max = UINT32_MAX };
	struct err e;

	grpc_message_prefix(0x01020304, prefix);
	ck_assert_mem_eq(prefix, "\0\1\2\3\4", 5);
	ck_assert_int_eq(grpc_message_add(&m, prefix, sizeof(prefix), &e), 0);
	ck_assert_uint_eq(m.len, 0x01020304);
	ck_assert(!grpc_message_is_whole(&m));
}
END_TEST

static int add(void *arg, struct err *e)
{
	auto_grpc_message struct grpc_message m = { .max = 16 };

	(void)arg;
	return grpc_message_add(&m, (const uint8_t *)FRAME, 7, e) ||
			       grpc_message_add(&m, (const uint8_t *)FRAME + 7, 3, e)
		       ? -1
		       : 0;
}

START_TEST(no_memory_is_an_error)
{
	ck_assert_str_eq(alloc_fail_each(add, NULL), "ok");
}
END_TEST

TEST_PROGRAM("lib/grpc/message", a_message_arrives_in_pieces_of_any_size, an_empty_message_is_whole,
	     bad_frames_are_refused, a_prefix_is_what_is_read_again, no_memory_is_an_error)
