/* SPDX-License-Identifier: Apache-2.0 */
/* msg_test.c: messages keep what they say; frames with a wrong key, order or length are refused. */
#include "rdma/job/msg.h"

#include "lib/testing/testing.h"

static struct job_msg join = {
	.type = JOB_JOIN,
	.rank = 1023,
	.ranks = 1024,
	.node = "node7",
	.host = "a \"host\"",
	.rails = { { .interface = "rail0", .hca = "mlx5_0:1", .mtu = 4096, .tclass = 104 },
		   { .interface = "rail1", .problem = "no GID", .rate_mbps = 400000 } },
	.n_rails = 2,
};

START_TEST(a_message_keeps_what_it_says)
{
	static struct job_msg got;
	auto_free char *text = job_msg_print(&join);
	struct err e = { 0 };

	ck_assert_ptr_nonnull(text);
	ck_assert_int_eq(job_msg_parse(text, strlen(text), &got, &e), 0);
	ck_assert_mem_eq(&got, &join, sizeof(got));
	ck_assert_str_eq(text, "{\"type\":\"join\",\"rank\":1023,\"ranks\":1024,\"node\":\"node7\","
			       "\"host\":\"a \\\"host\\\"\",\"rails\":[{\"interface\":\"rail0\","
			       "\"hca\":\"mlx5_0:1\",\"mtu\":4096,\"class\":104},{\"interface\":"
			       "\"rail1\",\"problem\":\"no GID\",\"rateMbps\":400000}],"
			       "\"kind\":\"reach\",\"outcome\":\"done\"}");
}
END_TEST

START_TEST(a_full_message_fits)
{
	static struct job_msg most;

	most = join;
	most.n_rails = JOB_RAILS;
	for (size_t i = 0; i < JOB_RAILS; i++) {
		struct job_rail *r = &most.rails[i];
		memset(r->interface, 'i', JOB_NAME - 1);
		memset(r->leaf, 'l', JOB_NAME - 1);
		memset(r->problem, '"', JOB_TEXT - 1);
	}
	auto_free char *text = job_msg_print(&most);
	ck_assert_ptr_nonnull(text);
	ck_assert_uint_lt(strlen(text), JOB_MSG_MAX);
}
END_TEST

START_TEST(what_is_not_a_message)
{
	static const char *const texts[] = { "", "{}", "{\"type\":\"joins\"}",
					     "{\"type\":\"join\",\"rank\":1024}",
					     "{\"type\":\"join\",\"rails\":[{}]}" };
	static struct job_msg got;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		struct err e = { 0 };
		ck_assert_int_eq(job_msg_parse(texts[i], strlen(texts[i]), &got, &e), -1);
		ck_assert_ptr_nonnull(strstr(e.msg, "message"));
	}
}
END_TEST

START_TEST(frames_have_a_key_a_number_and_a_direction)
{
	const uint8_t secret[SHA256_LEN] = "secret", nonces[2 * JOB_NONCE] = "both";
	struct job_way out = { .n = 0 }, in = { .n = 0 }, other;
	uint8_t first[JOB_HEAD], second[JOB_HEAD], huge[JOB_HEAD] = { 0x10 };
	struct err e = { 0 };
	size_t len;

	job_key(secret, nonces, out.key);
	in = out;
	job_seal(&out, "abc", 3, first);
	job_seal(&out, "abc", 3, second);
	ck_assert_mem_ne(first, second, JOB_HEAD);
	ck_assert_int_eq(job_length(first, &len, &e), 0);
	ck_assert_uint_eq(len, 3);
	ck_assert_int_eq(job_check(&in, second, "abc", 3, &e), -1); /* out of turn */
	ck_assert_int_eq(job_check(&in, first, "abd", 3, &e), -1);
	other = in;
	other.from_root = true;
	ck_assert_int_eq(job_check(&other, first, "abc", 3, &e), -1); /* sent back */
	ck_assert_int_eq(job_check(&in, first, "abc", 3, &e), 0);
	ck_assert_int_eq(job_check(&in, first, "abc", 3, &e), -1); /* again */
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	ck_assert_int_eq(job_check(&in, second, "abc", 3, &e), 0);
	ck_assert_int_eq(job_length(huge, &len, &e), -1);
}
END_TEST

TEST_PROGRAM("rdma/job/msg", a_message_keeps_what_it_says, a_full_message_fits,
	     what_is_not_a_message, frames_have_a_key_a_number_and_a_direction)
