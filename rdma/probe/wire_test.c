/* SPDX-License-Identifier: Apache-2.0 */
/* wire_test.c: each message encoded and decoded, and frames that must be refused. */
#include "rdma/probe/wire.h"

#include "lib/testing/testing.h"

/* Every field differs, so that two that change places are noticed. */
static const struct wire_msg examples[] = {
	{ .type = WIRE_HELLO,
	  .hello = { .cm = 1, .size = 65536, .iterations = 1000, .seed = 0x0102030405060708 } },
	{ .type = WIRE_PATH,
	  .path = { .device = "mlx5_0",
		    .device_port = 1,
		    .mtu = 5,
		    .gid = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 },
		    .gid_index = 7,
		    .card = 0x1122334455667788,
		    .lid = 8,
		    .qpn = 0xffffff,
		    .psn = 0x123456,
		    .cm_port = 9,
		    .depth = 10,
		    .address = 0xfedcba9876543210,
		    .rkey = 0xdeadbeef,
		    .length = 11 } },
	{ .type = WIRE_READY, .ready = { 77 } },
	{ .type = WIRE_RESULT,
	  .result = { .lat_count = 1,
		      .lat_min = 2,
		      .lat_p50 = 3,
		      .lat_p99 = 4,
		      .lat_max = 5,
		      .out = { { 6, 7 }, { 8, 9 } },
		      .checked = 14,
		      .messages = 15 } },
	{ .type = WIRE_FAULT,
	  .fault = { .code = ERR_STATE, .text = "message 3: a byte is wrong" } },
	{ .type = WIRE_HELLO,
	  .hello = { .size = 1,
		     .iterations = 2,
		     .seed = 3,
		     .pkey = 0x8001,
		     .sl = 5,
		     .has_tc = 1,
		     .tc = 106 } },
};

START_TEST(every_message_comes_back)
{
	uint8_t frame[WIRE_FRAME], again[WIRE_FRAME];
	struct wire_msg m;
	struct err e = { 0 };
	size_t body;

	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		size_t len = wire_encode(&examples[i], frame);
		ck_assert_int_eq(wire_length(frame, &body, &e), 0);
		ck_assert_uint_eq(body + WIRE_HEADER, len);
		ck_assert_int_eq(wire_decode(frame, len, &m, &e), 0);
		ck_assert_int_eq(m.type, examples[i].type);
		ck_assert_uint_eq(wire_encode(&m, again), len);
		ck_assert_mem_eq(frame, again, len);
	}
}
END_TEST

START_TEST(fields_keep_their_values)
{
	uint8_t frame[WIRE_FRAME];
	struct wire_msg m;
	struct err e = { 0 };

	ck_assert_int_eq(wire_decode(frame, wire_encode(&examples[0], frame), &m, &e), 0);
	ck_assert_uint_eq(m.hello.size, 65536);
	ck_assert_uint_eq(m.hello.seed, 0x0102030405060708);
	ck_assert_int_eq(wire_decode(frame, wire_encode(&examples[5], frame), &m, &e), 0);
	ck_assert(m.hello.has_tc && m.hello.tc == 106 && m.hello.pkey == 0x8001 && m.hello.sl == 5);
	ck_assert_int_eq(wire_decode(frame, wire_encode(&examples[1], frame), &m, &e), 0);
	ck_assert_mem_eq(m.path.gid, examples[1].path.gid, 16);
	ck_assert_uint_eq(m.path.address, 0xfedcba9876543210);
	ck_assert_uint_eq(m.path.rkey, 0xdeadbeef);
	ck_assert_uint_eq(m.path.qpn, 0xffffff);
	ck_assert_int_eq(wire_decode(frame, wire_encode(&examples[3], frame), &m, &e), 0);
	ck_assert_uint_eq(m.result.out[WAY_WRITE].ns, 9);
	ck_assert_uint_eq(m.result.messages, 15);
}
END_TEST

START_TEST(every_other_length_is_refused)
{
	uint8_t frame[WIRE_FRAME + 1];
	struct wire_msg m;
	struct err e = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(examples); i++) {
		size_t len = wire_encode(&examples[i], frame);
		for (size_t cut = 0; cut < len; cut++) {
			ck_assert_int_eq(wire_decode(frame, cut, &m, &e), -1);
			if (cut < WIRE_HEADER)
				continue;
			/* A header that fits: then the body is too short. */
			frame[10] = (uint8_t)((cut - WIRE_HEADER) >> 8);
			frame[11] = (uint8_t)(cut - WIRE_HEADER);
			ck_assert_int_eq(wire_decode(frame, cut, &m, &e), -1);
			(void)wire_encode(&examples[i], frame);
		}
		frame[len] = 0;
		frame[10] = (uint8_t)((len + 1 - WIRE_HEADER) >> 8);
		frame[11] = (uint8_t)(len + 1 - WIRE_HEADER);
		ck_assert_int_eq(wire_decode(frame, len + 1, &m, &e), -1);
		ck_assert_ptr_nonnull(strstr(e.msg, "too long"));
	}
}
END_TEST

/* Byte at of the example's frame is value: refused, with these words. */
static void refuse(size_t example, size_t at, uint8_t value, const char *words)
{
	uint8_t frame[WIRE_FRAME];
	struct wire_msg m = { 0 };
	struct err e = { 0 };
	size_t len = wire_encode(&examples[example], frame);

	frame[at] = value;
	ck_assert_int_eq(wire_decode(frame, len, &m, &e), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
	if (!strstr(e.msg, words))
		ck_abort_msg("\"%s\" does not say \"%s\"", e.msg, words);
	ck_assert_int_eq(m.type, 0);
}

START_TEST(what_makes_no_sense_is_refused)
{
	const size_t b = WIRE_HEADER;

	refuse(0, 0, 'X', "not an rdma-probe");
	refuse(0, 4, 1, "another version");
	refuse(0, 5, 99, "type is unknown");
	refuse(0, 5, 0, "type is unknown");
	refuse(0, 6, 1, "header is wrong");
	refuse(0, 8, 1, "header is wrong");
	refuse(0, b, 2, "choice is unknown");
	refuse(0, b + 1, 0xff, "size is out of range");
	refuse(0, b + 5, 0xff, "iterations are out of range");
	refuse(4, b + 2, 0xff, "text is too long");
	refuse(4, b + 4, 0x1b, "not printable");
	refuse(1, b + 9, 0, "MTU");
	refuse(1, b + 9, 6, "MTU");
	refuse(1, b + 40, 1, "queue pair");
	refuse(1, b + 44, 1, "queue pair");
	refuse(1, b + 53, 0, "depth");
	/* pkey, sl, whether a class is asked for, and the class are the last five bytes. */
	refuse(5, b + 19, 16, "service level");
	refuse(5, b + 20, 2, "choice is unknown");
	refuse(5, 4, 2, "another version");
	refuse(1, 4, 4, "another version");
}
END_TEST

START_TEST(a_header_is_judged_alone)
{
	uint8_t frame[WIRE_FRAME];
	struct err e = { 0 };
	size_t body = 5;

	(void)wire_encode(&examples[0], frame);
	frame[8] = 0xff;
	ck_assert_int_eq(wire_length(frame, &body, &e), -1);
	ck_assert_uint_eq(body, 5);
}
END_TEST

START_TEST(text_is_cut_and_made_printable)
{
	struct wire_msg m = { .type = WIRE_FAULT }, out;
	uint8_t frame[WIRE_FRAME];
	struct err e = { 0 };

	memset(m.fault.text, 'x', sizeof(m.fault.text));
	m.fault.text[0] = '\033';
	m.fault.text[1] = '\n';
	ck_assert_int_eq(wire_decode(frame, wire_encode(&m, frame), &out, &e), 0);
	ck_assert_uint_eq(strlen(out.fault.text), WIRE_TEXT - 1);
	ck_assert_int_eq(strncmp(out.fault.text, "??xx", 4), 0);
}
END_TEST

START_TEST(types_have_names)
{
	ck_assert_str_eq(wire_type_name(WIRE_READY), "READY");
	ck_assert_str_eq(wire_type_name((enum wire_type)200), "nothing");
}
END_TEST

TEST_PROGRAM("rdma/probe/wire", every_message_comes_back, fields_keep_their_values,
	     every_other_length_is_refused, what_makes_no_sense_is_refused,
	     a_header_is_judged_alone, text_is_cut_and_made_printable, types_have_names)
