/* SPDX-License-Identifier: Apache-2.0 */
/* Which MAC address the pod's interface gets. */
#include <stdio.h>
#include <string.h>

#include "cni/engine/attach.h"
#include "lib/testing/testing.h"

#define A "02:00:00:00:00:0a"
#define B "02:00:00:00:00:0b"
#define C "02:00:00:00:00:0c"

struct given {
	const char *configured, *args, *runtime; /* the last: runtimeConfig, as JSON */
};

static int choose(struct given g, uint8_t out[MAC_LEN], struct err *e)
{
	auto_json struct json *runtime = NULL;
	struct cni_call call = { .env = { .args = g.args ? g.args : "" } };
	const struct attach a = { .call = &call };

	if (g.runtime)
		ck_assert_int_eq(json_parse(g.runtime, strlen(g.runtime), "t", &runtime, e), 0);
	call.conf.runtime = runtime;
	return attach_choose_mac(&a, g.configured, out, e);
}

START_TEST(the_last_source_of_a_mac_wins)
{
	static const struct {
		struct given given;
		uint8_t last;
	} cases[] = {
		{ { A, NULL, NULL }, 0x0a },
		{ { A, "MAC=" B, NULL }, 0x0b },
		{ { A, "MAC=" B, "{\"mac\":\"" C "\"}" }, 0x0c },
		{ { NULL, "MAC=" B ";X=1", NULL }, 0x0b },
		{ { NULL, NULL, "{\"mac\":\"" C "\"}" }, 0x0c },
		/* an empty one is none */
		{ { A, "MAC=", "{\"mac\":\"\"}" }, 0x0a },
		{ { "", "MAC=" B, "{}" }, 0x0b },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		const uint8_t want[MAC_LEN] = { 2, 0, 0, 0, 0, cases[i].last };
		uint8_t mac[MAC_LEN] = { 0 };
		struct err e = { .msg = "" };

		ck_assert_msg(choose(cases[i].given, mac, &e) == 1, "%zu: %s", i, e.msg);
		ck_assert_mem_eq(mac, want, MAC_LEN);
		ck_assert_str_eq(e.msg, "");
	}
}
END_TEST

START_TEST(without_any_mac_none_is_chosen)
{
	static const struct given cases[] = {
		{ NULL, NULL, NULL },
		{ "", "MAC=", "{\"mac\":\"\"}" },
		{ NULL, "K8S_POD_NAME=p", "{\"mac\":null}" },
	};
	uint8_t mac[MAC_LEN] = { 1 };
	struct err e = { .msg = "" };

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
		ck_assert_int_eq(choose(cases[i], mac, &e), 0);
	ck_assert_uint_eq(mac[0], 1);
	ck_assert_str_eq(e.msg, "");
}
END_TEST

/* Also where a later one would win: whoever wrote it is to know. */
START_TEST(addresses_that_are_not_unicast_are_refused)
{
	static const struct {
		struct given given;
		enum err_code code;
		const char *where, *value;
	} cases[] = {
		{ { "xx", NULL, NULL }, ERR_CONFIG, "mac", "\"xx\"" },
		{ { "xx", "MAC=" B, NULL }, ERR_CONFIG, "mac", "\"xx\"" },
		{ { "01:00:00:00:00:00", NULL, NULL }, ERR_CONFIG, "mac", "01:00:00:00:00:00" },
		{ { "00:00:00:00:00:00", NULL, NULL }, ERR_CONFIG, "mac", "unicast" },
		{ { A, "MAC=ff:ff:ff:ff:ff:ff", NULL }, ERR_ENV, "CNI_ARGS: MAC", "ff:ff" },
		{ { A, "MAC=1", NULL }, ERR_ENV, "CNI_ARGS: MAC", "\"1\"" },
		{ { A, "MAC=1", "{\"mac\":\"" C "\"}" }, ERR_ENV, "CNI_ARGS: MAC", "\"1\"" },
		{ { A, NULL, "{\"mac\":\"zz\"}" }, ERR_CONFIG, "runtimeConfig.mac", "\"zz\"" },
		{ { A, NULL, "{\"mac\":7}" }, ERR_DECODE, "runtimeConfig.mac", "number" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint8_t mac[MAC_LEN] = { 1 };
		struct err e;

		ck_assert_int_eq(choose(cases[i].given, mac, &e), -1);
		ck_assert_msg(e.code == cases[i].code, "%zu: %s", i, e.msg);
		ck_assert_ptr_nonnull(strstr(e.msg, cases[i].where));
		ck_assert_ptr_nonnull(strstr(e.msg, cases[i].value));
		ck_assert_uint_eq(mac[0], 1);
	}
}
END_TEST

START_TEST(a_mac_that_is_too_long_is_refused)
{
	char args[128];
	uint8_t mac[MAC_LEN];
	struct err e;

	(void)snprintf(args, sizeof(args), "MAC=%0100d", 1);
	ck_assert_int_eq(choose((struct given){ NULL, args, NULL }, mac, &e), -1);
	ck_assert_int_eq((int)e.code, ERR_ENV);
	ck_assert_ptr_nonnull(strstr(e.msg, "MAC"));
}
END_TEST

TEST_PROGRAM("cni/engine/attach_mac", the_last_source_of_a_mac_wins, without_any_mac_none_is_chosen,
	     addresses_that_are_not_unicast_are_refused, a_mac_that_is_too_long_is_refused)
