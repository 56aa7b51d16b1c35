// SPDX-License-Identifier: Apache-2.0
/* Which GPUs a VF shall be near to. */
#include <stdio.h>

#include "lib/testing/testing.h"
#include "sriov/choose/near.h"

/* "source: addr addr", or the error. */
static const char *gpus(const char *near, const char *args, const char *in_conf)
{
	static char out[1024];
	struct cni_call call = { .env.args = args };
	struct err e = { .msg = "" };
	struct near_gpus g;
	auto_json struct json *n = NULL, *a = NULL;

	ck_assert_int_eq(json_parse(near, strlen(near), "near", &n, &e), 0);
	if (in_conf)
		ck_assert_int_eq(json_parse(in_conf, strlen(in_conf), "args", &a, &e), 0);
	call.conf.args_cni = a;
	if (near_gpus(&call, n, &g, &e)) {
		(void)snprintf(out, sizeof(out), "error %d: %.700s", (int)e.code, e.msg);
		return out;
	}
	(void)snprintf(out, sizeof(out), "%s:", g.source);
	for (size_t i = 0; i < g.n; i++) {
		testing_append(out, sizeof(out), " ");
		testing_append(out, sizeof(out), g.gpu[i]);
	}
	return out;
}

START_TEST(gpus_are_named_by_the_key)
{
	ck_assert_str_eq(gpus("\"0000:0f:00.0\"", "", NULL), "near: 0000:0f:00.0");
	/* as nvidia-smi writes it */
	ck_assert_str_eq(gpus("\"00000000:0F:00.0\"", "", NULL), "near: 0000:0f:00.0");
	ck_assert_str_eq(gpus("[\"0000:0f:00.0\",\"10000:01:00.0\",\"0000:0F:00.0\"]",
			      "GPUS=0000:99:00.0", NULL),
			 "near: 0000:0f:00.0 10000:01:00.0");
}
END_TEST

START_TEST(gpus_are_named_by_args)
{
	ck_assert_str_eq(gpus("\"gpu\"", "K8S_POD_NAME=a;GPUS=0000:0F:00.0,,0000:47:00.0,",
			      "{\"gpus\":[\"0000:4e:00.0\"]}"),
			 "CNI_ARGS: GPUS: 0000:0f:00.0 0000:47:00.0");
	ck_assert_str_eq(gpus("\"gpu\"", "", "{\"gpus\":[\"0000:4e:00.0\"]}"),
			 "args.cni.gpus: 0000:4e:00.0");
	ck_assert_str_eq(gpus("\"gpu\"", "GPUS=", "{\"gpus\":\"0000:4e:00.0,0000:87:00.0\"}"),
			 "args.cni.gpus: 0000:4e:00.0 0000:87:00.0");
}
END_TEST

START_TEST(without_a_source_none_is_named)
{
	ck_assert_str_eq(gpus("\"gpu\"", "", "{\"gpus\":[]}"), "near:");
	ck_assert_str_eq(gpus("\"gpu\"", "K8S_POD_NAME=a;GPUS=,", NULL), "near:");
}
END_TEST

START_TEST(malformed_addresses_are_refused)
{
	static const struct {
		const char *near, *args, *conf, *want;
	} bad[] = {
		{ "\"gpus\"", "", NULL, "error 7: near: \"gpus\" is not a PCI address" },
		{ "\"GPU-8932f937\"", "", NULL, "error 7: near: \"GPU-8932f937\" is not a PCI" },
		{ "7", "", NULL, "error 7: near: 7 is neither" },
		{ "{}", "", NULL, "error 7: near: an object is neither" },
		{ "[]", "", NULL, "error 7: near: an array is neither" },
		{ "[1]", "", NULL, "error 7: near: 1 is not a PCI address" },
		{ "[\"gpu\"]", "", NULL, "error 7: near: \"gpu\" is not a PCI address" },
		{ "\"gpu\"", "GPUS=0", NULL, "error 7: CNI_ARGS: GPUS: \"0\" is not a PCI" },
		{ "\"gpu\"", "", "{\"gpus\":3}", "error 7: args.cni.gpus: 3 is neither" },
		{ "\"gpu\"", "", "{\"gpus\":[\"x\"]}", "error 7: args.cni.gpus: \"x\" is not" },
		{ "\"gpu\"", "", "{\"gpus\":\"x\"}", "error 7: args.cni.gpus: \"x\" is not" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		const char *is = gpus(bad[i].near, bad[i].args, bad[i].conf);
		ck_assert_msg(!strncmp(is, bad[i].want, strlen(bad[i].want)), "%s\n%s", is,
			      bad[i].want);
	}
}
END_TEST

START_TEST(the_number_of_gpus_is_bounded)
{
	char list[1024] = "GPUS=", one[32];

	for (unsigned i = 0; i <= NEAR_GPUS_MAX; i++) {
		ck_assert_ptr_null(
			strstr(gpus("\"gpu\"", i ? list : "GPUS=0000:01:00.0", NULL), "error"));
		(void)snprintf(one, sizeof(one), "%s0000:%02x:00.0", i ? "," : "", i);
		testing_append(list, sizeof(list), one);
	}
	ck_assert_ptr_nonnull(strstr(gpus("\"gpu\"", list, NULL), "one GPU too many: at most 16"));
	for (unsigned i = 0; i < 20; i++)
		testing_append(list, sizeof(list), ",0000:01:00.0");
	ck_assert_ptr_nonnull(strstr(gpus("\"gpu\"", list, NULL), "error 4"));
}
END_TEST

TEST_PROGRAM("sriov/choose/near_gpus", gpus_are_named_by_the_key, gpus_are_named_by_args,
	     without_a_source_none_is_named, malformed_addresses_are_refused,
	     the_number_of_gpus_is_bounded)
