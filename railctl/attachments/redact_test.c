/* SPDX-License-Identifier: Apache-2.0 */
/* redact_test.c: which values are shown, in a configuration and in text. */
#include "railctl/attachments/redact.h"

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

START_TEST(only_values_of_known_keys_are_shown)
{
	becomes("{\"user\":\"u\",\"password\":\"p\"}",
		"{\"user\":\"u\",\"password\":\"(left out)\"}");
	becomes("[{\"apiToken\":[1,\"t\"]},{\"private_key\":{\"name\":\"b\"}}]",
		"[{\"apiToken\":\"(left out)\"},{\"private_key\":\"(left out)\"}]");
	becomes("{\"ipam\":{\"psk\":7,\"pwd\":null,\"bearer\":true,\"zzz\":\"x\",\"Name\":\"n\"}}",
		"{\"ipam\":{\"psk\":\"(left out)\",\"pwd\":null,\"bearer\":true,"
		"\"zzz\":\"(left out)\",\"Name\":\"(left out)\"}}");
}
END_TEST

/* What is under them is a name that a person chose, and again a key below. */
START_TEST(keys_that_a_person_chose_are_shown)
{
	becomes("{\"sysctl\":{\"net.ipv4.x\":\"1\"},\"tiers\":{\"gold\":{\"tier\":1,\"zzz\":2}},"
		"\"labels\":{\"psk\":\"x\"}}",
		"{\"sysctl\":{\"net.ipv4.x\":\"1\"},\"tiers\":{\"gold\":{\"tier\":1,"
		"\"zzz\":\"(left out)\"}},\"labels\":{\"psk\":\"(left out)\"}}");
}
END_TEST

START_TEST(the_rest_stays)
{
	static const char *const same[] = {
		"{\"passwordFile\":\"/etc/railhead/p\",\"tokenFile\":\"t\",\"key\":\"/etc/k\"}",
		"{\"pkey\":\"0x8001\",\"ips\":[true,null,1.5,\"x\",{},[]]}",
		"\"only text\"",
		"{\"name\":\"mail@host\",\"url\":\"http://host/a@b\",\"mode\":\"x://\"}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(same); i++)
		becomes(same[i], same[i]);
	becomes("{\"key\":\"MIIE\",\"cert\":[\"MIIE\",\"/c\"]}",
		"{\"key\":\"(left out)\",\"cert\":\"(left out)\"}");
}
END_TEST

START_TEST(user_and_query_of_a_url_are_left_out)
{
	becomes("[\"https://u:p@host:2379/a@b\",\"x http://u@h y\",\"http://h/p?sig=1#f y\"]",
		"[\"https://(left out)@host:2379/a@b\",\"x http://(left out)@h y\","
		"\"http://h/p?(left out) y\"]");
}
END_TEST

static void reads(enum redact_words words, const char *from, const char *want)
{
	auto_text struct text out = { 0 };

	redact_text(from, strlen(from), words, &out);
	ck_assert(!out.failed);
	ck_assert_msg(strcmp(out.s, want) == 0, "%s\nbecomes %s\nand not %s", from, out.s, want);
}

START_TEST(a_line_ends_after_the_name_of_a_secret)
{
	static const char *const lines[][2] = {
		{ "GET / Authorization: Bearer abc.def", "GET / Authorization: (left out)" },
		{ "curl -H 'X-Auth: abc def' x", "curl -H 'X-Auth: (left out)" },
		{ "login with password hunter2 failed\nnext",
		  "login with password (left out)\nnext" },
		{ "{\"psk\":\"a b\",\"x\":1}", "{\"psk\":\"(left out)" },
		{ "--privateKey=abc", "--privateKey=(left out)" },
		{ "wifi_psk  abc", "wifi_psk  (left out)" },
		{ "snmp community public", "snmp community (left out)" },
		{ "passphrase(x y)", "passphrase(left out)" },
		{ "no password", "no password" },
		{ "/var/run/secrets/x is empty", "/var/run/secrets/x is empty" },
		{ "author compass pinned", "author compass pinned" },
		{ "preshared_key: abc d", "preshared_key: (left out)" },
		{ "signing-key: abc", "signing-key: (left out)" },
		{ "signingKey: abc", "signingKey: (left out)" },
		{ "tls.key: /etc/k", "tls.key: /etc/k" },
		{ "monkey: abc", "monkey: abc" },
		{ "pkey: 0x8001", "pkey: 0x8001" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		reads(REDACT_LOG, lines[i][0], lines[i][1]);
}
END_TEST

START_TEST(values_of_known_fields_of_a_log_are_shown)
{
	static const char *const lines[][2] = {
		{ "level=info program=macvlan ifname=net1 msg=\"moved \\\"eth1\\\"\"",
		  "level=info program=macvlan ifname=net1 msg=\"moved \\\"eth1\\\"\"" },
		{ "zzz=a,b zzy=\"c \\\" d\" err=\"zz=1\" x", "zzz=(left out),b zzy=\"(left out)\" "
							     "err=\"zz=(left out)\" x" },
		{ "zzz={a b} c", "zzz=(left out)" },
		{ "zzz=[a b] c", "zzz=(left out)" },
		{ "zzz= ", "zzz= " },
		{ "id eyJhbGciOiJIUzI1NiJ9.e30.x y", "id (left out) y" },
		{ "basic dXNlcjpw y", "basic (left out) y" },
		{ "NCCL_IB_TC=106 net.ipv4.tcp_mem=1", "NCCL_IB_TC=106 net.ipv4.tcp_mem=1" },
		{ "a: b: 0000:3b:00.0 fd00::1 12:34", "a: b: 0000:3b:00.0 fd00::1 12:34" },
		{ "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		reads(REDACT_LOG, lines[i][0], lines[i][1]);
}
END_TEST

/* JSON of railctl stays JSON. */
START_TEST(our_own_words_lose_only_what_follows_the_name_of_a_secret)
{
	static const char *const lines[][2] = {
		{ "{\"pod\":\"auth-proxy\",\"zzz\":\"a=b\"}",
		  "{\"pod\":\"auth-proxy\",\"zzz\":\"a=b\"}" },
		{ "{\"error\":\"10-x: password: a \\\" b\",\"x\":1}",
		  "{\"error\":\"10-x: password: (left out)\",\"x\":1}" },
		{ "{\"error\":\"Bearer abc\",\"token\":\"a\",\"x\":1}",
		  "{\"error\":\"Bearer (left out)\",\"token\":\"(left out)\",\"x\":1}" },
		{ "https://u:p@h/ x", "https://(left out)@h/ x" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(lines); i++)
		reads(REDACT_OURS, lines[i][0], lines[i][1]);
}
END_TEST

START_TEST(a_private_key_is_left_out)
{
	reads(REDACT_OURS,
	      "a\n-----BEGIN EC PRIVATE KEY-----\nMIIE\n-----END EC PRIVATE KEY-----\nb",
	      "a\n(left out)\n(left out)\n(left out)\nb");
	reads(REDACT_LOG, "MIIE\n-----END RSA PRIVATE KEY-----\nb", "(left out)\n(left out)\nb");
	reads(REDACT_LOG, "-----BEGIN CERTIFICATE-----\nMIIE\n",
	      "-----BEGIN CERTIFICATE-----\nMIIE\n");
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
	static const char text[] = "{\"ips\":[\"http://u@h\",{\"token\":1}],\"b\":2}";
	auto_json struct json *conf = NULL;
	struct err e;

	ck_assert_int_eq(json_parse(text, sizeof(text) - 1, "conf", &conf, &e), 0);
	ck_assert_str_eq(alloc_fail_each(copy, conf), "ok");
}
END_TEST

TEST_PROGRAM("redact", only_values_of_known_keys_are_shown, keys_that_a_person_chose_are_shown,
	     the_rest_stays, user_and_query_of_a_url_are_left_out,
	     a_line_ends_after_the_name_of_a_secret, values_of_known_fields_of_a_log_are_shown,
	     our_own_words_lose_only_what_follows_the_name_of_a_secret, a_private_key_is_left_out,
	     without_memory_there_is_no_copy)
