/* SPDX-License-Identifier: Apache-2.0 */
/* pool_test.c: definitions of pools, their ranges and policies, and each that is refused. */
#include "ipam/conf/pool.h"

#include "lib/testing/testing.h"
#include "lib/testing/typos.h"
#include "lib/testing/alloc.h"

static struct json *parse(const char *text)
{
	struct json *j = NULL;
	struct err e;

	ck_assert_msg(json_parse(text, strlen(text), "test", &j, &e) == 0, "%s", text);
	return j;
}

static void ranges_are(const struct ranges *s, const char *want)
{
	char have[512] = "", a[IP_STR_LEN];

	for (size_t i = 0; i < s->n; i++) {
		if (i)
			testing_append(have, sizeof(have), " ");
		testing_append(have, sizeof(have), ip_format(s->items[i].first, a));
		testing_append(have, sizeof(have), "-");
		testing_append(have, sizeof(have), ip_format(s->items[i].last, a));
	}
	ck_assert_str_eq(have, want);
}

static void gives(const char *def, const char *want)
{
	auto_json struct json *j = parse(def);
	struct source s;
	struct err e = { 0 };

	ck_assert_msg(pool_decode("p", j, &s, &e) == 0, "%s: %s", def, e.msg);
	ranges_are(&s.usable, want);
	source_clear(&s);
}

START_TEST(given_keys_are_decoded)
{
	gives("{\"subnet\":\"10.0.0.0/29\"}", "10.0.0.1-10.0.0.6");
	gives("{\"subnet\":\"10.0.0.0/31\"}", "10.0.0.0-10.0.0.1");
	gives("{\"subnet\":\"10.0.0.7/32\"}", "10.0.0.7-10.0.0.7");
	gives("{\"subnet\":\"fd00::/126\"}", "fd00::1-fd00::3");
	gives("{\"subnet\":\"10.0.0.0/24\",\"gateway\":\"10.0.0.1\"}", "10.0.0.2-10.0.0.254");
	gives("{\"subnet\":\"10.0.0.0/24\",\"ranges\":[\"10.0.0.9\",\"10.0.0.16/"
	      "30\",\"10.0.0.250-10.0.0.255\"]}",
	      "10.0.0.9-10.0.0.9 10.0.0.17-10.0.0.18 10.0.0.250-10.0.0.254");
	/* a network as a range: its first and last address look like no host's */
	gives("{\"subnet\":\"10.0.0.0/16\",\"ranges\":[\"10.0.1.0/24\"]}", "10.0.1.1-10.0.1.254");
	gives("{\"subnet\":\"10.0.0.0/16\",\"ranges\":[\"10.0.1.0-10.0.1.255\"]}",
	      "10.0.1.0-10.0.1.255");
	gives("{\"subnet\":\"10.0.0.0/16\",\"ranges\":[\"10.0.1.0/31\",\"10.0.1.4/32\"]}",
	      "10.0.1.0-10.0.1.1 10.0.1.4-10.0.1.4");
	gives("{\"subnet\":\"fd00::/64\",\"ranges\":[\"fd00::100/120\",\"fd00::8/127\"]}",
	      "fd00::8-fd00::9 fd00::101-fd00::1ff");
	gives("{\"subnet\":\"10.0.0.0/"
	      "24\",\"ranges\":[\"10.0.0.10-10.0.0.19\"],\"excludes\":[\"10.0.0.12-10.0.0.13\","
	      "\"10.0.0.19\"]}",
	      "10.0.0.10-10.0.0.11 10.0.0.14-10.0.0.18");
	/* reserved: what is outside of the subnet has no effect */
	gives("{\"subnet\":\"10.0.0.0/24\",\"ranges\":[\"10.0.0.10-10.0.0.19\"],\"reserved\":"
	      "[\"10.0.0.12\",\"10.9.0.0/"
	      "16\",\"fd00::1\",\"9.0.0.0-10.0.0.10\",\"10.0.0.18-10.0.9.0\"]}",
	      "10.0.0.11-10.0.0.11 10.0.0.13-10.0.0.17");
	gives("{\"subnet\":\"10.0.0.0/30\",\"gateway\":null,\"ranges\":null}", "10.0.0.1-10.0.0.2");
}
END_TEST

START_TEST(all_keys_are_decoded)
{
	auto_json struct json *j =
		parse("{\"subnet\":\"10.0.0.0/"
		      "24\",\"gateway\":\"10.0.0.1\",\"routes\":[{\"dst\":\"0.0.0.0/0\"}],"
		      "\"sticky\":true,\"cooldown\":7,\"strictCooldown\":true,\"namespaces\":["
		      "\"a\"],\"quota\":{\"*\":3,\"a\":1}}");
	struct source s;
	struct err e = { 0 };

	ck_assert_int_eq(pool_check_keys(j, &e), 0);
	ck_assert_int_eq(pool_decode("rail0", j, &s, &e), 0);
	ck_assert_str_eq(s.scope, "p/rail0");
	ck_assert_str_eq(s.label, "pool rail0");
	ck_assert_uint_eq(strlen(s.id), KEY_ID_LEN);
	ck_assert(s.policy.sticky && s.policy.strict);
	ck_assert_int_eq(s.policy.cooldown, INT64_C(7000000000));
	ck_assert_uint_eq(json_len(s.routes), 1);
	ck_assert_int_eq(policy_allows(&s.policy, s.label, "a", 0, &e), 0);
	ck_assert_int_eq(policy_allows(&s.policy, s.label, "a", 1, &e), -1);
	ck_assert_int_eq(e.code, ERR_FORBIDDEN);
	ck_assert_ptr_nonnull(strstr(e.msg, "pool rail0: namespace \"a\" holds 1 address and"));
	ck_assert_int_eq(policy_allows(&s.policy, s.label, "b", 0, &e), -1);
	ck_assert_ptr_nonnull(strstr(e.msg, "namespace \"b\" may not use it"));
	s.policy.namespaces = NULL;
	ck_assert_int_eq(policy_allows(&s.policy, s.label, "b", 2, &e), 0);
	ck_assert_int_eq(policy_allows(&s.policy, s.label, "", 3, &e), -1);
	source_clear(&s);
}
END_TEST

START_TEST(absent_keys_have_defaults)
{
	auto_json struct json *j = parse("{\"subnet\":\"10.0.0.0/24\"}");
	struct source s;
	struct err e = { 0 };

	ck_assert_int_eq(pool_decode("p", j, &s, &e), 0);
	ck_assert(!s.policy.sticky && !s.policy.strict && !s.policy.quota && !s.policy.namespaces);
	ck_assert_int_eq(s.policy.cooldown, SOURCE_COOLDOWN_NS);
	ck_assert_int_eq(s.gateway.family, IP_NONE);
	ck_assert_int_eq(policy_allows(&s.policy, s.label, "", 1000000, &e), 0);
	source_clear(&s);
}
END_TEST

START_TEST(the_id_changes_with_the_addresses)
{
	static const char *const defs[] = {
		"{\"subnet\":\"10.0.0.0/24\"}",
		"{\"subnet\":\"10.0.0.0/25\"}",
		"{\"subnet\":\"10.0.0.0/24\",\"gateway\":\"10.0.0.9\"}",
		"{\"subnet\":\"10.0.0.0/24\",\"ranges\":[\"10.0.0.9\"]}",
		"{\"subnet\":\"10.0.0.0/16\",\"ranges\":[\"10.0.0.9\"]}",
	};
	struct source s[ARRAY_SIZE(defs)];
	struct err e;

	for (size_t i = 0; i < ARRAY_SIZE(defs); i++) {
		auto_json struct json *j = parse(defs[i]);
		ck_assert_int_eq(pool_decode("p", j, &s[i], &e), 0);
		for (size_t k = 0; k < i; k++)
			ck_assert_str_ne(s[i].id, s[k].id);
	}
	for (size_t i = 0; i < ARRAY_SIZE(defs); i++)
		source_clear(&s[i]);
}
END_TEST

static const struct {
	const char *def;
	int code;
	const char *says;
} bad[] = {
	{ "[]", ERR_DECODE, "" },
	{ "{}", ERR_CONFIG, "subnet" },
	{ "{\"subnet\":5}", ERR_DECODE, "subnet" },
	{ "{\"subnet\":\"10.0.0.0\"}", ERR_CONFIG, "\"10.0.0.0\" is not a network" },
	{ "{\"subnet\":\"10.0.0.1/24\"}", ERR_CONFIG, "write 10.0.0.0/24" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"gateway\":\"x\"}", ERR_CONFIG, "gateway: \"x\"" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"gateway\":\"10.0.1.1\"}", ERR_CONFIG,
	  "10.0.1.1 is not in subnet" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"gateway\":\"fd00::1\"}", ERR_CONFIG, "not in subnet" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"ranges\":\"10.0.0.1\"}", ERR_DECODE, "ranges" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"ranges\":[5]}", ERR_DECODE, "ranges[0]: a number" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"ranges\":[\"10.0.0.9-10.0.0.1\"]}", ERR_CONFIG,
	  "10.0.0.9-10.0.0.1" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"ranges\":[\"10.0.0.9\",\"10.0.1.0/24\"]}", ERR_CONFIG,
	  "ranges[1]" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"excludes\":[\"10.0.1.0/24\"]}", ERR_CONFIG,
	  "excludes[0]" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"excludes\":[\"10.0.0.0/24\"]}", ERR_CONFIG,
	  "no address is left" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"ranges\":[]}", ERR_CONFIG, "no address is left" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"reserved\":[\"0.0.0.0/0\"]}", ERR_CONFIG,
	  "no address is left after excludes, reserved" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"reserved\":[\"10.0.0.1\",\"x\"]}", ERR_CONFIG,
	  "reserved[1]: x is not" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"reserved\":[7]}", ERR_DECODE, "reserved[0]: a number" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"reserved\":\"10.0.0.1\"}", ERR_DECODE, "reserved" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"cooldown\":-1}", ERR_CONFIG, "cooldown" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"cooldown\":1e9}", ERR_CONFIG, "cooldown" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"cooldown\":\"1m\"}", ERR_DECODE, "cooldown" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"sticky\":\"yes\"}", ERR_DECODE, "sticky" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"namespaces\":[1]}", ERR_DECODE, "namespaces[0]" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"fixedNamespaces\":[\"a\",null]}", ERR_DECODE,
	  "fixedNamespaces[1]" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"quota\":-1}", ERR_CONFIG, "quota" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"quota\":1.5}", ERR_CONFIG, "quota" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"quota\":1e300}", ERR_CONFIG, "quota" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"quota\":\"2\"}", ERR_CONFIG, "quota" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"quota\":{\"a\":true}}", ERR_CONFIG, "quota.a" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"routes\":[{}]}", ERR_CONFIG, "routes[0].dst" },
	{ "{\"subnet\":\"10.0.0.0/24\",\"routes\":[{\"dst\":\"x\"}]}", ERR_CONFIG,
	  "routes[0].dst" },
};

START_TEST(bad_pools_are_refused)
{
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		auto_json struct json *j = parse(bad[i].def);
		struct source s;
		struct err e = { 0 };

		ck_assert_msg(pool_decode("rail0", j, &s, &e) == -1, "%s", bad[i].def);
		ck_assert_msg((int)e.code == bad[i].code, "%s: %d %s", bad[i].def, (int)e.code,
			      e.msg);
		ck_assert_msg(strstr(e.msg, bad[i].says) && strstr(e.msg, "pool rail0"), "%s: %s",
			      bad[i].def, e.msg);
	}
}
END_TEST

START_TEST(bad_names_and_unknown_keys_are_refused)
{
	auto_json struct json *typo = parse("{\"subnet\":\"10.0.0.0/24\",\"stiky\":true}");
	auto_json struct json *route = parse("{\"routes\":[{\"dst\":\"10.1.0.0/"
					     "16\"},{\"dst\":\"10.2.0.0/16\",\"gatway\":\"\"}]}");
	auto_json struct json *list = parse("[]");
	char name[KEY_NAME_MAX + 2];
	struct err e = { 0 };

	memset(name, 'a', sizeof(name));
	name[KEY_NAME_MAX + 1] = '\0';
	ck_assert_int_eq(pool_name_valid("rail0-v4.x_Y", &e), 0);
	ck_assert_int_eq(pool_name_valid(name + 1, &e), 0);
	ck_assert_int_eq(pool_name_valid(name, &e), -1);
	ck_assert_int_eq(pool_name_valid("a/b", &e), -1);
	ck_assert_int_eq(pool_name_valid("", &e), -1);
	ck_assert_int_eq(pool_check_keys(typo, &e), -1);
	ck_assert_str_eq(e.msg, "stiky: there is no such key");
	ck_assert_str_eq(e.detail, "did you mean \"sticky\"?");
	ck_assert_int_eq(pool_check_keys(route, &e), -1);
	ck_assert_str_eq(e.msg, "routes[1].gatway: there is no such key");
	ck_assert_int_eq(pool_check_keys(list, &e), -1);
	ck_assert_int_eq(e.code, ERR_DECODE);
}
END_TEST

static int decode(void *arg, struct err *e)
{
	struct source s;
	auto_json struct json *j = NULL;

	if (json_parse(arg, strlen(arg), "t", &j, e) || pool_decode("p", j, &s, e))
		return -1;
	source_clear(&s);
	return 0;
}

START_TEST(out_of_memory)
{
	char def[] = "{\"subnet\":\"10.0.0.0/"
		     "24\",\"ranges\":[\"10.0.0.9\",\"10.0.0.11\"],\"excludes\":[\"10.0.0.11\"]}";

	ck_assert_str_eq(alloc_fail_each(decode, def), "ok");
}
END_TEST

START_TEST(the_source_of_an_address_is_found_in_a_set)
{
	auto_sources struct source_sets sets = { .n = 0 };
	auto_json struct json *a = parse("{\"subnet\":\"10.0.0.0/24\"}");
	auto_json struct json *b = parse("{\"subnet\":\"10.0.1.0/24\"}");
	struct source s;
	struct err e = { 0 };
	struct ip ip;

	ck_assert_int_eq(pool_decode("a", a, &s, &e), 0);
	ck_assert_int_eq(sources_add(&sets, 0, &s, &e), 0);
	ck_assert_int_eq(pool_decode("b", b, &s, &e), 0);
	ck_assert_int_eq(sources_add(&sets, 0, &s, &e), 0);
	ck_assert_uint_eq(sets.n, 1);
	ck_assert_int_eq(ip_parse("10.0.1.7", &ip), 0);
	ck_assert_str_eq(sources_find(&sets.sets[0], ip)->label, "pool b");
	ck_assert_int_eq(ip_parse("10.0.2.7", &ip), 0);
	ck_assert_ptr_null(sources_find(&sets.sets[0], ip));
	ck_assert_int_eq(pool_decode("b", b, &s, &e), 0);
	ck_assert_int_eq(sources_add(&sets, SOURCE_SETS_MAX, &s, &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
}
END_TEST

/* 0, or -1 with *e set. */
static int whose(const char *text, struct err *e)
{
	auto_json struct json *def = NULL;

	ck_assert_int_eq(json_parse(text, strlen(text), "test", &def, e), 0);
	return pool_is_restricted("rail0", def, e);
}

START_TEST(a_new_pool_says_whose_it_is)
{
	struct err e = { 0 };

	ck_assert_int_eq(whose("{\"subnet\":\"10.0.0.0/24\",\"ranges\":[\"10.0.0.9\"]}", &e), 0);
	ck_assert_int_eq(whose("{\"subnet\":\"10.0.0.0/24\",\"thisNodeOnly\":true}", &e), 0);
	ck_assert_int_eq(whose("{\"subnet\":\"10.0.0.0/24\",\"thisNodeOnly\":false}", &e), -1);
	ck_assert_int_eq(whose("{\"subnet\":\"10.0.0.0/24\"}", &e), -1);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_ptr_nonnull(strstr(e.msg, "pool rail0"));
	ck_assert_ptr_nonnull(strstr(e.detail, "--range"));
	ck_assert_ptr_nonnull(strstr(e.detail, "--this-node-only"));
	ck_assert_ptr_nonnull(strstr(e.detail, "thisNodeOnly"));
	/* The hint is not cut off. */
	ck_assert_ptr_nonnull(strstr(e.detail, "railhead-pool(5), BLOCKS"));
}
END_TEST

START_TEST(a_missing_pool_names_the_node_and_both_ways_to_make_it)
{
	struct err e = { 0 };

	ck_assert_int_eq(pool_missing("rail0", "node-7", &e), -1);
	ck_assert_int_eq(e.code, ERR_NOTFOUND);
	ck_assert_str_eq(e.msg, "pool rail0 does not exist on node node-7");
	ck_assert_ptr_nonnull(strstr(e.detail, "`railctl ipam pool add rail0"));
	ck_assert_ptr_nonnull(strstr(e.detail, "all nodes share"));
	ck_assert_ptr_nonnull(strstr(e.detail, "`railctl cluster pool list`"));
	ck_assert_int_eq(pool_missing("rail0", "", &e), -1);
	ck_assert_str_eq(e.msg, "pool rail0 does not exist on node (without a name)");
}
END_TEST

static bool refuses(const char *text, void *arg)
{
	auto_json struct json *j = parse(text);
	struct source s = { 0 };
	struct err e;
	const bool refused = pool_check_keys(j, &e) || pool_decode("a", j, &s, &e);

	(void)arg;
	source_clear(&s);
	return refused;
}

START_TEST(no_key_is_mistyped_in_silence)
{
	ck_assert_uint_gt(
		typos_all_told("{\"subnet\":\"10.1.0.0/16\",\"ranges\":[\"10.1.0.0/"
			       "24\"],\"excludes\":[\"10.1.0.9\"],"
			       "\"gateway\":\"10.1.0.1\",\"routes\":[{\"dst\":\"10.0.0.0/8\"}],"
			       "\"sticky\":true,\"cooldown\":60,\"strictCooldown\":true,"
			       "\"blockSize\":64,\"warm\":8,\"idle\":60,\"state\":\"open\","
			       "\"fence\":\"strict\"}",
			       NULL, refuses, NULL),
		9);
	ck_assert_uint_gt(typos_all_told("{\"subnet\":\"10.1.0.0/"
					 "16\",\"slice\":{\"prefix\":28,\"start\":\"10.1.1.0\"},"
					 "\"reserved\":[\"10.1.0.4\"]}",
					 NULL, refuses, NULL),
			  9);
}
END_TEST

TEST_PROGRAM("pool", a_new_pool_says_whose_it_is,
	     a_missing_pool_names_the_node_and_both_ways_to_make_it, given_keys_are_decoded,
	     all_keys_are_decoded, absent_keys_have_defaults, the_id_changes_with_the_addresses,
	     bad_pools_are_refused, bad_names_and_unknown_keys_are_refused, out_of_memory,
	     the_source_of_an_address_is_found_in_a_set, no_key_is_mistyped_in_silence)
