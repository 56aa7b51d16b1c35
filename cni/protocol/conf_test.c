/* SPDX-License-Identifier: Apache-2.0 */
/* conf_test.c: shows which network configurations are accepted, and how errors read. */
#include "cni/protocol/conf.h"

#include <stdio.h>
#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

static void conf_clear(struct cni_conf *c)
{
	cni_conf_clear(c);
}
#define auto_conf auto_clean(conf_clear)

static int parse(const char *text, enum cni_command cmd, struct cni_conf *c, struct err *e)
{
	char *copy = strdup(text);

	if (copy)
		return cni_conf_parse(copy, strlen(copy), cmd, c, e);
	*c = (struct cni_conf){ 0 };
	return err_nomem(e);
}

static void accepts(const char *text, enum cni_command cmd, struct cni_conf *c)
{
	struct err e = { .msg = "" };

	ck_assert_msg(parse(text, cmd, c, &e) == 0, "%s %s: %s", cni_command_name(cmd), text,
		      e.msg);
}

static struct err refuses(const char *text, enum cni_command cmd, int code)
{
	auto_conf struct cni_conf c;
	struct err e;

	ck_assert_msg(parse(text, cmd, &c, &e) == -1, "%s accepted: %s", cni_command_name(cmd),
		      text);
	ck_assert_msg((int)e.code == code, "%s: code %d, not %d: %s", text, (int)e.code, code,
		      e.msg);
	ck_assert(e.msg[0]);
	return e;
}

static const enum cni_command verbs[] = { CNI_ADD, CNI_DEL, CNI_CHECK, CNI_GC, CNI_STATUS };

#define HEAD "{\"cniVersion\":\"1.1.0\",\"name\":\"n\""

static const char full[] =
	HEAD ",\"type\":\"macvlan\",\"master\":\"eth0\",\"capabilities\":{\"mac\":true},"
	     "\"ipam\":{\"type\":\"host-local\",\"subnet\":\"10.0.0.0/24\"},"
	     "\"dns\":{\"nameservers\":[\"10.0.0.1\"]},\"ipMasq\":true,\"x.y/z\":[{}],"
	     "\"runtimeConfig\":{\"mac\":\"02:00:00:00:00:01\"},"
	     "\"args\":{\"cni\":{\"ips\":[\"10.0.0.9\"]},\"other\":1},"
	     "\"prevResult\":{\"cniVersion\":\"1.1.0\",\"ips\":[]}}";

/* CNI-017, CNI-079, CNI-164: keys of others are no obstacle. */
START_TEST(all_keys_of_the_envelope_are_read)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		auto_conf struct cni_conf c;

		accepts(full, verbs[i], &c);
		ck_assert_str_eq(c.name, "n");
		ck_assert_str_eq(c.type, "macvlan");
		ck_assert_int_eq((int)c.version, CNI_110);
		ck_assert_str_eq(c.ipam_type, "host-local");
		ck_assert_str_eq(json_str(json_get(c.ipam, "subnet")), "10.0.0.0/24");
		ck_assert_uint_eq(json_len(json_get(c.dns, "nameservers")), 1);
		ck_assert_str_eq(json_str(json_get(c.runtime, "mac")), "02:00:00:00:00:01");
		ck_assert_uint_eq(json_len(json_get(c.args_cni, "ips")), 1);
		ck_assert_ptr_nonnull(json_get(c.prev_result, "ips"));
		ck_assert_str_eq(json_str(json_get(c.tree, "master")), "eth0");
		ck_assert_ptr_null(c.valid);
	}
}
END_TEST

/* CNI-110: a delegate gets what we got, byte for byte. */
START_TEST(cni_110_the_text_is_kept)
{
	const char text[] = " \n{ \"name\" : \"n\" ,\t\"cniVersion\":\"1.0.0\", \"n\": 1.50 }\n";
	auto_conf struct cni_conf c;

	accepts(text, CNI_ADD, &c);
	ck_assert_str_eq(c.text, text);
	ck_assert_uint_eq(c.len, strlen(text));
}
END_TEST

START_TEST(absent_keys_have_defaults)
{
	static const char nulls[] = /* CNI-146 */
		"{\"name\":\"n\",\"type\":null,\"ipam\":null,\"prevResult\":null,\"dns\":null,"
		"\"runtimeConfig\":null,\"args\":null,\"cniVersion\":null}";
	static const char *const texts[] = {
		"{\"name\":\"n\"}",
		nulls,
		"{\"name\":\"n\",\"args\":{}}",
		"{\"name\":\"n\",\"args\":{\"cni\":null},\"cniVersion\":\"\"}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_conf struct cni_conf c;

		accepts(texts[i], CNI_ADD, &c);
		ck_assert_int_eq((int)c.version, CNI_010); /* CNI-026 */
		ck_assert_str_eq(c.type, "");
		ck_assert_str_eq(c.ipam_type, "");
		ck_assert_ptr_null(c.ipam);
		ck_assert_ptr_null(c.prev_result);
		ck_assert_ptr_null(c.runtime);
		ck_assert_ptr_null(c.dns);
		ck_assert_ptr_null(c.args_cni);
		ck_assert_ptr_null(c.valid);
	}
	auto_conf struct cni_conf c;
	accepts("{\"name\":\"n\",\"ipam\":{}}", CNI_ADD, &c); /* CNI-146 */
	ck_assert_ptr_nonnull(c.ipam);
	ck_assert_str_eq(c.ipam_type, "");
}
END_TEST

START_TEST(cni_016_the_last_of_equal_keys_wins)
{
	auto_conf struct cni_conf c;

	accepts("{\"name\":\"a\",\"name\":\"b\"}", CNI_ADD, &c);
	ck_assert_str_eq(c.name, "b"); /* the last one wins */
}
END_TEST

/* As Go reads it: the peers' configurations were tested with that. */
START_TEST(keys_in_another_case_are_accepted)
{
	static const char text[] =
		"{\"CNIVersion\":\"1.1.0\",\"Name\":\"n\",\"TYPE\":\"macvlan\","
		"\"IPAM\":{\"Type\":\"host-local\"},\"DNS\":{},\"PrevResult\":{},"
		"\"RuntimeConfig\":{},\"Args\":{\"CNI\":{\"IPs\":[]}},"
		"\"CNI.dev/Valid-Attachments\":[{\"ContainerId\":\"c1\",\"IfName\":\"net1\"}]}";

	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		auto_conf struct cni_conf c;

		accepts(text, verbs[i], &c);
		ck_assert_int_eq((int)c.version, CNI_110);
		ck_assert_str_eq(c.name, "n");
		ck_assert_str_eq(c.type, "macvlan");
		ck_assert_str_eq(c.ipam_type, "host-local");
		ck_assert(c.dns && c.prev_result && c.runtime && c.args_cni);
		if (verbs[i] == CNI_GC)
			ck_assert(cni_conf_is_valid(&c, "c1", "net1"));
	}
}
END_TEST

/* Nobody could say which one is meant, but a deletion must go on: it takes the exact one. */
START_TEST(a_key_in_two_cases_is_refused)
{
	static const char *const texts[] = {
		"{\"name\":\"n\",\"Name\":\"m\"}",
		"{\"name\":\"n\",\"type\":\"x\",\"Type\":\"y\"}",
		"{\"name\":\"n\",\"ipam\":{\"type\":\"x\",\"TYPE\":\"y\"}}",
		"{\"name\":\"n\",\"Ipam\":{\"type\":\"x\"},\"IPAM\":{\"type\":\"y\"}}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_conf struct cni_conf c;
		struct err e = refuses(texts[i], CNI_ADD, 7);

		ck_assert_msg(strstr(e.msg, "given twice, in different case"), "%s", e.msg);
		accepts(texts[i], CNI_DEL, &c);
		ck_assert_str_eq(c.name, "n");
	}
	auto_conf struct cni_conf c; /* what nobody reads may be anything */
	accepts("{\"name\":\"n\",\"args\":{\"labels\":{\"App\":1,\"app\":2}}}", CNI_ADD, &c);
}
END_TEST

/* ---- versions ---- */

START_TEST(cni_027_unknown_versions_are_refused)
{
	static const char *const wrong[] = { "1.0", "9.9.9", " ", "1.1.0 " };
	char text[100];

	for (size_t i = 0; i < ARRAY_SIZE(wrong) * ARRAY_SIZE(verbs); i++) {
		(void)snprintf(text, sizeof(text), "{\"cniVersion\":\"%s\",\"name\":\"n\"}",
			       wrong[i / ARRAY_SIZE(verbs)]);
		struct err e = refuses(text, verbs[i % ARRAY_SIZE(verbs)], 1);
		ck_assert_str_eq(e.msg, "incompatible CNI versions");
		(void)snprintf(text, sizeof(text), "config is \"%s\"",
			       wrong[i / ARRAY_SIZE(verbs)]);
		ck_assert_ptr_nonnull(strstr(e.detail, text));
	}
	struct err e = refuses("{\"cniVersion\":1.1,\"name\":\"n\"}", CNI_ADD, 6);
	ck_assert_ptr_nonnull(strstr(e.msg, "cniVersion"));
}
END_TEST

START_TEST(cni_029_commands_of_later_versions_are_refused)
{
	static const struct {
		enum cni_command cmd;
		int since;
	} from[] = { { CNI_ADD, CNI_010 },
		     { CNI_DEL, CNI_010 },
		     { CNI_CHECK, CNI_040 },
		     { CNI_GC, CNI_110 },
		     { CNI_STATUS, CNI_110 } };
	char text[100], want[100];

	for (size_t i = 0; i < ARRAY_SIZE(from) * CNI_VERSIONS; i++) {
		int v = (int)(i % CNI_VERSIONS);
		enum cni_command cmd = from[i / CNI_VERSIONS].cmd;
		auto_conf struct cni_conf c;
		struct err e;

		(void)snprintf(text, sizeof(text), "{\"cniVersion\":\"%s\",\"name\":\"n\"}",
			       cni_version_name((enum cni_version)v));
		bool allowed = v >= from[i / CNI_VERSIONS].since;
		ck_assert_int_eq(parse(text, cmd, &c, &e), allowed ? 0 : -1);
		ck_assert_int_eq((int)c.version, v); /* for the error object as well */
		if (allowed)
			continue;
		(void)snprintf(want, sizeof(want), "config version does not allow %s",
			       cni_command_name(cmd));
		ck_assert_str_eq(e.msg, want);
		ck_assert_int_eq((int)e.code, 1);
	}
}
END_TEST

START_TEST(an_error_has_the_version_of_the_configuration)
{
	auto_conf struct cni_conf c = { 0 }, unknown = { 0 };
	struct err e;

	ck_assert_int_eq(parse("{\"cniVersion\":\"0.4.0\"}", CNI_ADD, &c, &e), -1);
	ck_assert_int_eq((int)c.version, CNI_040);
	ck_assert_int_eq(parse("{\"cniVersion\":\"7\"}", CNI_ADD, &unknown, &e), -1);
	ck_assert_int_eq((int)unknown.version, CNI_CURRENT);
}
END_TEST

/* ---- names ---- */

START_TEST(cni_011_bad_network_names_are_refused)
{
	static const char *const missing[] = { "{}", "{\"name\":\"\"}", "{\"name\":null}" };
	static const char *const bad[] = {
		"-a", ".a", "_a", "a b", "a/b", "..", "n\\n", "\xc3\xa9"
	};
	char text[100];

	for (size_t v = 0; v < ARRAY_SIZE(verbs); v++) {
		for (size_t i = 0; i < ARRAY_SIZE(missing); i++) {
			(void)snprintf(text, sizeof(text), "{\"cniVersion\":\"1.1.0\",%s",
				       i ? missing[i] + 1 : "\"x\":1}");
			struct err e = refuses(text, verbs[v], 7);
			ck_assert_str_eq(e.msg, "missing network name"); /* CNI-015 */
		}
		for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
			(void)snprintf(text, sizeof(text),
				       "{\"cniVersion\":\"1.1.0\",\"name\":\"%s\"}", bad[i]);
			struct err e = refuses(text, verbs[v], 7);
			ck_assert_str_eq(e.msg, "invalid characters found in network name");
			if (!strchr(bad[i], '\\'))
				ck_assert_ptr_nonnull(strstr(e.detail, bad[i]));
		}
	}
	struct err e = refuses("{\"name\":5}", CNI_DEL, 6);
	ck_assert_ptr_nonnull(strstr(e.msg, "name"));
}
END_TEST

START_TEST(long_network_names_are_refused)
{
	char text[CNI_ID_MAX + 100], name[CNI_ID_MAX + 2];
	auto_conf struct cni_conf c = { 0 }, d = { 0 };

	memset(name, 'n', sizeof(name));
	name[CNI_ID_MAX] = '\0';
	(void)snprintf(text, sizeof(text), "{\"name\":\"%s\"}", name);
	accepts(text, CNI_ADD, &c);
	ck_assert_str_eq(c.name, name);
	(void)snprintf(text, sizeof(text), "{\"name\":\"%sn\"}", name);
	struct err e = refuses(text, CNI_ADD, 7);
	ck_assert_ptr_nonnull(strstr(e.msg, "201"));
	accepts(text, CNI_DEL, &d); /* nothing was added under it */
}
END_TEST

/* ---- bad input ---- */

START_TEST(cni_015_what_is_not_json_is_refused)
{
	static const char *const texts[] = {
		"",
		" ",
		"{",
		"nul",
		"garbage",
		HEAD,
		HEAD "} x",
		HEAD "}{}",
		"{'name':'n'}",
		HEAD ",}",
		HEAD ",\"x\":01}",
		HEAD ",\"x\":\"\\u0000\"}",
		HEAD ",\"x\":\"\xff\"}",
		"\xef\xbb\xbf" HEAD "}", /* a byte order mark */
		"[]",
		"null",
		"5",
		"\"text\"",
		"[" HEAD "}]",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts) * ARRAY_SIZE(verbs); i++)
		(void)refuses(texts[i / ARRAY_SIZE(verbs)], verbs[i % ARRAY_SIZE(verbs)], 6);
}
END_TEST

START_TEST(a_nul_byte_ends_nothing)
{
	const char text[] = HEAD "}\0garbage";
	char *copy = malloc(sizeof(text));
	auto_conf struct cni_conf c;
	struct err e;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, text, sizeof(text));
	ck_assert_int_eq(cni_conf_parse(copy, sizeof(text), CNI_ADD, &c, &e), -1);
	ck_assert_int_eq((int)e.code, 6);
}
END_TEST

/* A configuration that was cut off anywhere is refused, whatever the verb. */
START_TEST(a_truncated_text_is_refused)
{
	for (size_t len = 0; len < sizeof(full) - 1; len++) {
		for (size_t v = 0; v < ARRAY_SIZE(verbs); v++) {
			auto_conf struct cni_conf c;
			struct err e;
			char *copy = strndup(full, len);

			ck_assert_ptr_nonnull(copy);
			ck_assert_int_eq(cni_conf_parse(copy, len, verbs[v], &c, &e), -1);
			ck_assert_int_eq((int)e.code, 6);
		}
	}
}
END_TEST

/* CNI-146, CNI-168: the key is named. CNI-089: a deletion does without. */
START_TEST(wrong_types_are_refused)
{
	static const char *const keys[] = { "type", "ipam",     "prevResult", "runtimeConfig",
					    "dns",  "args.cni", "args",       "ipam.type" };
	static const char *const texts[] = {
		HEAD ",\"type\":5}",           HEAD ",\"ipam\":\"host-local\"}",
		HEAD ",\"prevResult\":[]}",    HEAD ",\"runtimeConfig\":true}",
		HEAD ",\"dns\":\"10.0.0.1\"}", HEAD ",\"args\":{\"cni\":[1]}}",
		HEAD ",\"args\":[\"x\"]}",     HEAD ",\"ipam\":{\"type\":{}}}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		for (size_t v = 0; v < ARRAY_SIZE(verbs); v++) {
			if (verbs[v] == CNI_DEL)
				continue;
			struct err e = refuses(texts[i], verbs[v], 6);
			ck_assert_msg(strstr(e.msg, keys[i]), "%s: %s", keys[i], e.msg);
		}
		auto_conf struct cni_conf c;
		accepts(texts[i], CNI_DEL, &c);
		ck_assert_str_eq(c.type, "");
		ck_assert_str_eq(c.ipam_type, "");
		ck_assert_ptr_null(c.prev_result);
		ck_assert_ptr_null(c.runtime);
		ck_assert_ptr_null(c.dns);
		ck_assert_ptr_null(c.args_cni);
	}
}
END_TEST

/* One bad key does not take the good ones with it. */
START_TEST(cni_089_a_deletion_takes_what_it_can_get)
{
	auto_conf struct cni_conf c;

	accepts(HEAD ",\"type\":5,\"dns\":1,\"prevResult\":7,\"runtimeConfig\":{\"a\":1},"
		     "\"args\":{\"cni\":{\"b\":2}},\"ipam\":{\"type\":\"host-local\"}}",
		CNI_DEL, &c);
	ck_assert_str_eq(c.ipam_type, "host-local");
	ck_assert_ptr_nonnull(json_get(c.runtime, "a"));
	ck_assert_ptr_nonnull(json_get(c.args_cni, "b"));
	ck_assert_ptr_null(c.prev_result);
}
END_TEST

START_TEST(cni_090_types_are_no_paths)
{
	static const char *const bad[] = {
		"/bin/sh", "../host-local", "a/b", "./a", ".", "..", "/"
	};
	char text[200];

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		(void)snprintf(text, sizeof(text), HEAD ",\"ipam\":{\"type\":\"%s\"}}", bad[i]);
		struct err e = refuses(text, CNI_ADD, 7);
		ck_assert_ptr_nonnull(strstr(e.msg, "ipam.type"));
		ck_assert_ptr_nonnull(strstr(e.msg, bad[i]));
		(void)refuses(text, CNI_STATUS, 7);
		auto_conf struct cni_conf c;
		accepts(text, CNI_DEL, &c);
		ck_assert_str_eq(c.ipam_type, ""); /* never run */

		(void)snprintf(text, sizeof(text), HEAD ",\"type\":\"%s\"}", bad[i]);
		e = refuses(text, CNI_ADD, 7);
		ck_assert_ptr_nonnull(strstr(e.msg, "type"));
		ck_assert_ptr_nonnull(strstr(e.msg, bad[i]));
	}
}
END_TEST

/* ---- GC ---- */

#define ITEM(c, i) "{\"containerID\":\"" c "\",\"ifname\":\"" i "\"}"

START_TEST(cni_070_valid_attachments_are_read)
{
	static const char *const texts[] = {
		HEAD
		",\"cni.dev/valid-attachments\":[" ITEM("c1", "net1") "," ITEM("c2", "net2") "]}",
		HEAD ",\"cni.dev/attachments\":[" ITEM("c1", "net1") "," ITEM("c2", "net2") "]}",
		HEAD
		",\"cni.dev/attachments\":[],"
		"\"cni.dev/valid-attachments\":[" ITEM("c1", "net1") "," ITEM("c2", "net2") "]}",
	};

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		auto_conf struct cni_conf c;

		accepts(texts[i], CNI_GC, &c);
		ck_assert_uint_eq(json_len(c.valid), 2);
		ck_assert(cni_conf_is_valid(&c, "c1", "net1"));
		ck_assert(cni_conf_is_valid(&c, "c2", "net2"));
		ck_assert(!cni_conf_is_valid(&c, "c1", "net2")); /* the pair counts */
		ck_assert(!cni_conf_is_valid(&c, "c2", "net1"));
		ck_assert(!cni_conf_is_valid(&c, "c", "net1"));
		ck_assert(!cni_conf_is_valid(&c, "", ""));
	}
}
END_TEST

START_TEST(cni_076_absent_is_not_empty)
{
	auto_conf struct cni_conf absent = { 0 }, empty = { 0 }, null = { 0 };

	accepts(HEAD "}", CNI_GC, &absent);
	ck_assert_ptr_null(absent.valid);
	ck_assert(!cni_conf_is_valid(&absent, "c1", "net1"));
	accepts(HEAD ",\"cni.dev/valid-attachments\":[]}", CNI_GC, &empty);
	ck_assert_ptr_nonnull(empty.valid);
	ck_assert_uint_eq(json_len(empty.valid), 0);
	ck_assert(!cni_conf_is_valid(&empty, "c1", "net1"));
	accepts(HEAD ",\"cni.dev/valid-attachments\":null}", CNI_GC, &null);
	ck_assert_ptr_null(null.valid);
}
END_TEST

/* A list that cannot be understood must not make everything stale. */
START_TEST(damaged_lists_are_refused)
{
	static const char *const bad[] = { "{}",
					   "\"c1\"",
					   "true",
					   "[1]",
					   "[\"c1\"]",
					   "[null]",
					   "[{}]",
					   "[{\"containerID\":\"c1\"}]",
					   "[{\"ifname\":\"net1\"}]",
					   "[{\"containerID\":1,\"ifname\":\"net1\"}]",
					   "[{\"containerID\":\"c1\",\"ifname\":null}]",
					   "[" ITEM("c1", "net1") ",[]]" };
	static const char *const keys[] = { "cni.dev/valid-attachments", "cni.dev/attachments" };
	char text[300];

	for (size_t i = 0; i < ARRAY_SIZE(bad) * ARRAY_SIZE(keys); i++) {
		const char *key = keys[i % ARRAY_SIZE(keys)];

		(void)snprintf(text, sizeof(text), HEAD ",\"%s\":%s}", key,
			       bad[i / ARRAY_SIZE(keys)]);
		struct err e = refuses(text, CNI_GC, 6);
		ck_assert_ptr_nonnull(strstr(e.msg, key));
		auto_conf struct cni_conf c;
		accepts(text, CNI_STATUS, &c); /* not its key */
	}
}
END_TEST

/* ---- memory ---- */

START_TEST(an_empty_pool_of_GUIDs_is_none)
{
	static const struct {
		const char *ipam, *pool;
	} cases[] = {
		{ "{\"guidPool\":\"ib0\"}", "ib0" },
		{ "{\"guidPool\":\"\"}", NULL },
		{ "{\"guidPool\":7}", NULL },
		{ "{}", NULL },
	};
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		auto_json struct json *ipam = NULL;

		ck_assert_int_eq(
			json_parse(cases[i].ipam, strlen(cases[i].ipam), "ipam", &ipam, &e), 0);
		ck_assert_pstr_eq(cni_conf_guid_pool(ipam), cases[i].pool);
	}
	ck_assert_ptr_null(cni_conf_guid_pool(NULL));
}
END_TEST

struct parse_arg {
	const char *text;
	enum cni_command cmd;
};

static int parse_and_clear(void *arg, struct err *e)
{
	const struct parse_arg *a = arg;
	auto_conf struct cni_conf c;

	return parse(a->text, a->cmd, &c, e);
}

START_TEST(out_of_memory)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		struct parse_arg a = { full, verbs[i] };

		ck_assert_str_eq(alloc_fail_each(parse_and_clear, &a), "ok");
	}
}
END_TEST

TEST_PROGRAM("cni/protocol/conf", all_keys_of_the_envelope_are_read, cni_110_the_text_is_kept,
	     absent_keys_have_defaults, cni_016_the_last_of_equal_keys_wins,
	     keys_in_another_case_are_accepted, a_key_in_two_cases_is_refused,
	     cni_027_unknown_versions_are_refused, cni_029_commands_of_later_versions_are_refused,
	     an_error_has_the_version_of_the_configuration, cni_011_bad_network_names_are_refused,
	     long_network_names_are_refused, cni_015_what_is_not_json_is_refused,
	     a_nul_byte_ends_nothing, a_truncated_text_is_refused, wrong_types_are_refused,
	     cni_089_a_deletion_takes_what_it_can_get, cni_090_types_are_no_paths,
	     cni_070_valid_attachments_are_read, cni_076_absent_is_not_empty,
	     damaged_lists_are_refused, an_empty_pool_of_GUIDs_is_none, out_of_memory)
