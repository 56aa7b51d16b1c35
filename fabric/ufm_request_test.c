/* SPDX-License-Identifier: Apache-2.0 */
/* ufm_request_test.c: requests for UFM, and what its answers mean. */
#include "fabric/ufm_request.h"

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

static const struct ufm_conf with_password = { .url = "https://ufm.example:8443/",
					       .user = "admin",
					       .password_file = "/p",
					       .index0 = true,
					       .ip_over_ib = true };
static const struct ufm_conf with_token = { .url = "https://ufm", .token_file = "/t" };

static const struct sm_message add = {
	.action = SM_ADD,
	.pkey = 0x8001,
	.guid = { { { 2, 0, 0, 0, 0, 0, 0x0a, 1 } }, { { 2, 0, 0, 0, 0, 0, 0x0a, 2 } } },
	.n = 2,
};

START_TEST(the_requests_are_those_of_UFM)
{
	struct sm_message remove = add;
	auto_free char *a = ufm_url(&with_password, SM_ADD);
	auto_free char *b = ufm_url(&with_token, SM_REMOVE);
	auto_free char *c = ufm_list_url(&with_token);
	auto_free char *d = ufm_body(&with_password, &add);

	remove.action = SM_REMOVE;
	auto_free char *e = ufm_body(&with_password, &remove);
	remove.action = SM_ADD;
	remove.pkey = 0x0012;
	remove.n = 1;
	auto_free char *f = ufm_body(&with_token, &remove);
	ck_assert_str_eq(a, "https://ufm.example:8443/ufmRest/resources/pkeys");
	ck_assert_str_eq(b, "https://ufm/ufmRestV3/actions/remove_guids_from_pkey");
	ck_assert_str_eq(c, "https://ufm/ufmRestV3/resources/pkeys");
	ck_assert_str_eq(d, "{\"pkey\":\"0x0001\",\"index0\":true,\"ip_over_ib\":true,"
			    "\"membership\":\"full\",\"guids\":[\"0200000000000a01\","
			    "\"0200000000000a02\"]}");
	ck_assert_str_eq(e, "{\"pkey\":\"0x0001\",\"guids\":[\"0200000000000a01\","
			    "\"0200000000000a02\"]}");
	ck_assert_str_eq(f, "{\"pkey\":\"0x0012\",\"index0\":false,\"ip_over_ib\":false,"
			    "\"membership\":\"limited\",\"guids\":[\"0200000000000a01\"]}");
}
END_TEST

START_TEST(a_password_is_encoded_and_a_token_is_not)
{
	auto_free char *a = ufm_authorization(&with_password, "s3cret");
	auto_free char *b = ufm_authorization(&with_token, "dG9rZW4");

	ck_assert_str_eq(a, "Authorization: Basic YWRtaW46czNjcmV0");
	ck_assert_str_eq(b, "Authorization: Basic dG9rZW4");
}
END_TEST

static int judge(enum sm_action action, int status, const char *body, struct err *e)
{
	*e = (struct err){ .msg = "" };
	return ufm_judge(action, status, body, e);
}

START_TEST(an_answer_is_judged_by_its_status)
{
	struct err e;

	ck_assert_int_eq(judge(SM_ADD, 200, "{}", &e), 0);
	ck_assert_int_eq(judge(SM_REMOVE, 204, "", &e), 0);
	ck_assert_int_eq(judge(SM_REMOVE, 404, "", &e), 1);
	ck_assert_int_eq(judge(SM_ADD, 404, " no\n\tsuch   \001pkey \n", &e), -1);
	ck_assert_str_eq(e.msg, "UFM answered with status 404: no such pkey ");
	ck_assert_int_eq(e.code, ERR_UNAVAILABLE);
	ck_assert_int_eq(judge(SM_ADD, 302, "", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "an empty text"));
	ck_assert_int_eq(judge(SM_REMOVE, 401, "who?", &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	ck_assert_ptr_nonnull(strstr(e.detail, "passwordFile"));
	ck_assert_int_eq(judge(SM_REMOVE, 403, "", &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
}
END_TEST

START_TEST(a_long_answer_is_quoted_in_part)
{
	char body[4096];
	struct err e;

	memset(body, 'x', sizeof(body) - 1);
	body[sizeof(body) - 1] = '\0';
	ck_assert_int_eq(judge(SM_ADD, 500, body, &e), -1);
	ck_assert_uint_lt(strlen(e.msg), 300);
	/* and never in the middle of a character, or with bytes that are no text */
	for (size_t i = 0; i + 1 < sizeof(body); i++)
		body[i] = "\xc3\xa4"[i % 2];
	ck_assert_int_eq(judge(SM_ADD, 500, body, &e), -1);
	ck_assert(utf8_valid(e.msg, strlen(e.msg)));
	ck_assert_int_eq(judge(SM_ADD, 500, "ab\xff", &e), -1);
	ck_assert_str_eq(e.msg, "UFM answered with status 500: ab");
}
END_TEST

static int judge_list(int status, const char *body, struct err *e)
{
	*e = (struct err){ .msg = "" };
	return ufm_list_judge(status, body, 0x8001, e);
}

START_TEST(a_removal_is_done_if_the_list_lacks_the_partition)
{
	struct err e;

	ck_assert_int_eq(judge_list(200, "[\"0x7fff\",\"0x12\", 1]", &e), 0);
	ck_assert_int_eq(judge_list(200, "{\"0x7fff\":{},\"management\":{}}", &e), 0);
	ck_assert_int_eq(judge_list(200, "[\"0x7fff\",\"0x1\"]", &e), -1);
	ck_assert_int_eq(judge_list(200, "{\"0x0001\":{}}", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "a partition that it has"));
	ck_assert_int_eq(judge_list(404, "", &e), -1);
	ck_assert_int_eq(judge_list(200, "<html>", &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "not a list: <html>"));
	ck_assert_int_eq(judge_list(200, "1", &e), -1);
}
END_TEST

static void refused(struct ufm_conf c, const char *words)
{
	struct err e = { .msg = "" };

	ck_assert_int_eq(ufm_conf_check(&c, &e), -1);
	ck_assert_msg(strstr(e.msg, words) != NULL, "%s", e.msg);
}

START_TEST(a_configuration_has_one_kind_of_secret_and_TLS)
{
	struct err e = { .msg = "" };

	ck_assert_int_eq(ufm_conf_check(&with_password, &e), 0);
	ck_assert_int_eq(ufm_conf_check(&with_token, &e), 0);
	refused((struct ufm_conf){ .url = "http://ufm", .token_file = "/t" }, "https://");
	refused((struct ufm_conf){ .url = "https://", .token_file = "/t" }, "https://");
	refused((struct ufm_conf){ .url = "https://u:p@ufm", .token_file = "/t" }, "scheme");
	refused((struct ufm_conf){ .url = "https://ufm?x", .token_file = "/t" }, "scheme");
	refused((struct ufm_conf){ .url = "https://ufm" }, "either");
	refused((struct ufm_conf){ .url = "https://ufm", .user = "a" }, "both or none");
	refused((struct ufm_conf){ .url = "https://ufm", .password_file = "/p" }, "both or none");
	refused((struct ufm_conf){ .url = "https://ufm",
				   .user = "a",
				   .password_file = "/p",
				   .token_file = "/t" },
		"either");
	refused((struct ufm_conf){ .url = "https://ufm", .user = "a:b", .password_file = "/p" },
		"colon");
}
END_TEST

static int make_all(void *arg, struct err *e)
{
	auto_free char *url = ufm_url(arg, SM_ADD), *body = url ? ufm_body(arg, &add) : NULL;
	auto_free char *header = body ? ufm_authorization(arg, "s3cret") : NULL;

	(void)e;
	return header ? 0 : -1;
}

START_TEST(allocations_may_fail)
{
	struct ufm_conf c = with_password;

	ck_assert_str_eq(alloc_fail_each(make_all, &c), "ok");
}
END_TEST

TEST_PROGRAM("ufm_request", the_requests_are_those_of_UFM, a_password_is_encoded_and_a_token_is_not,
	     an_answer_is_judged_by_its_status, a_long_answer_is_quoted_in_part,
	     a_removal_is_done_if_the_list_lacks_the_partition,
	     a_configuration_has_one_kind_of_secret_and_TLS, allocations_may_fail)
