/* SPDX-License-Identifier: Apache-2.0 */
/* pool_def_test.c: what each option changes in a definition, and the texts for wrong values. */
#include "railctl/ipam/pool_def.h"

#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

#define WORDS_MAX 16

/* Apply a line of options, split at spaces, to a definition; the result, or "error: message". */
static char *applied(const char *definition, const char *line, struct err *e)
{
	const struct opt *const tables[] = { pool_set_opts, NULL };
	auto_free char *text = strdup(line);
	auto_opts struct opts o = { 0 };
	auto_json struct json *def = NULL;
	char *argv[WORDS_MAX + 1], *rest = text, *word;
	int n = 0;

	ck_assert_ptr_nonnull(text);
	while ((word = strsep(&rest, " ")) && n < WORDS_MAX)
		argv[n++] = word;
	argv[n] = NULL;
	ck_assert_int_eq(opt_parse(argv, tables, false, &o, e), n);
	ck_assert_int_eq(json_parse(definition, strlen(definition), "test", &def, e), 0);
	ck_assert(pool_def_given(&o));
	if (pool_def_apply(&o, def, e))
		return NULL;
	return json_print(def, false);
}

static void becomes(const char *definition, const char *line, const char *want)
{
	struct err e = { 0 };
	auto_free char *got = applied(definition, line, &e);

	ck_assert_msg(got, "%s: %s", line, e.msg);
	ck_assert_str_eq(got, want);
}

#define GUID_1 "02:00:00:00:00:00:00:01"
#define GUID_2 "02:00:00:00:00:00:00:02"

START_TEST(a_range_of_guids_is_a_network_of_gids)
{
	static const char *const bad[] = { "--guids " GUID_1, "--guids 2-1", "--guids -",
					   "--guids " GUID_2 "-" GUID_1 };
	struct err e = { 0 };

	becomes("{}", "--guids 02:00:00:00:00:00:00:01-02:00:00:00:00:00:0f:ff",
		"{\"ranges\":[\"fe80::200:0:0:1-fe80::200:0:0:fff\"],"
		"\"subnet\":\"fe80::200:0:0:0/116\"}");
	becomes("{\"subnet\":\"fe80::1/128\",\"ranges\":[\"fe80::1\"]}",
		"--guids 0200:0000:0000:0001-0200:0000:0000:0001",
		"{\"ranges\":[\"fe80::200:0:0:1-fe80::200:0:0:1\"],"
		"\"subnet\":\"fe80::200:0:0:1/128\"}");
	becomes("{}", "--guids 02:00:00:00:00:00:00:00-ff:00:00:00:00:00:00:00",
		"{\"ranges\":[\"fe80::200:0:0:0-fe80::ff00:0:0:0\"],\"subnet\":\"fe80::/64\"}");
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_msg(!applied("{}", bad[i], &e), "%s", bad[i]);
		ck_assert_ptr_nonnull(strstr(e.msg, "FIRST-LAST"));
	}
	ck_assert_ptr_null(applied("{}", "--subnet fe80::/64 --guids " GUID_1 "-" GUID_2, &e));
	ck_assert_ptr_nonnull(strstr(e.msg, "neither --subnet nor --range"));
}
END_TEST

START_TEST(makes_a_definition)
{
	becomes("{}",
		"--subnet 10.0.0.0/8 --gateway 10.0.0.1 --sticky --cooldown 0 --strict-cooldown",
		"{\"subnet\":\"10.0.0.0/"
		"8\",\"gateway\":\"10.0.0.1\",\"sticky\":true,\"cooldown\":0,"
		"\"strictCooldown\":true}");
	becomes("{}", "--range 10.0.0.1-10.0.0.9 --exclude 10.0.0.5 --range 10.1.0.0/24",
		"{\"ranges\":[\"10.0.0.1-10.0.0.9\",\"10.1.0.0/24\"],\"excludes\":[\"10.0.0.5\"]}");
	becomes("{}", "--route 0.0.0.0/0 --route 10.0.0.0/8,10.1.0.1",
		"{\"routes\":[{\"dst\":\"0.0.0.0/0\"},{\"dst\":\"10.0.0.0/"
		"8\",\"gw\":\"10.1.0.1\"}]}");
	becomes("{}", "--subnet 10.0.0.0/8 --this-node-only",
		"{\"subnet\":\"10.0.0.0/8\",\"thisNodeOnly\":true}");
	becomes("{\"thisNodeOnly\":true}", "--range 10.0.0.1 --no-this-node-only",
		"{\"ranges\":[\"10.0.0.1\"]}");
	becomes("{}", "--namespace a --namespace b", "{\"namespaces\":[\"a\",\"b\"]}");
	becomes("{\"namespaces\":[\"a\"]}", "--fixed-namespace a --no-namespace",
		"{\"fixedNamespaces\":[\"a\"]}");
	becomes("{\"fixedNamespaces\":[\"a\"],\"quota\":2}", "--no-fixed-namespace",
		"{\"quota\":2}");
}
END_TEST

START_TEST(changes_only_what_is_given)
{
	const char *def = "{\"subnet\":\"10.0.0.0/8\",\"ranges\":[\"10.0.0.1\"],\"sticky\":true}";

	becomes(def, "--range 10.0.0.2",
		"{\"subnet\":\"10.0.0.0/8\",\"sticky\":true,\"ranges\":[\"10.0.0.2\"]}");
	becomes(def, "--no-sticky", "{\"subnet\":\"10.0.0.0/8\",\"ranges\":[\"10.0.0.1\"]}");
	becomes(def, "--no-range --no-quota", "{\"subnet\":\"10.0.0.0/8\",\"sticky\":true}");
}
END_TEST

START_TEST(makes_quotas)
{
	becomes("{}", "--quota 5", "{\"quota\":5}");
	becomes("{}", "--quota a=1 --quota b=2", "{\"quota\":{\"a\":1,\"b\":2}}");
	becomes("{}", "--quota 3 --quota b=2", "{\"quota\":{\"*\":3,\"b\":2}}");
	becomes("{\"quota\":9}", "--quota a=0", "{\"quota\":{\"a\":0}}");
}
END_TEST

START_TEST(makes_a_slice)
{
	becomes("{}", "--slice /28", "{\"slice\":{\"prefix\":28}}");
	becomes("{\"slice\":{\"prefix\":28}}", "--slice 16", "{\"slice\":{\"size\":16}}");
}
END_TEST

static void refused(const char *line, const char *part)
{
	struct err e = { 0 };
	auto_free char *got = applied("{\"sticky\":true}", line, &e);

	ck_assert_msg(!got, "%s gave %s", line, got);
	ck_assert_int_eq(e.code, ERR_CONFIG);
	ck_assert_msg(strstr(e.msg, part), "\"%s\" in \"%s\"", part, e.msg);
}

START_TEST(refuses_what_makes_no_sense)
{
	refused("--cooldown soon", "--cooldown: \"soon\" is not a number");
	refused("--cooldown -1", "not a number");
	refused("--quota many", "--quota: \"many\"");
	refused("--quota a=", "--quota: \"\"");
	refused("--quota =5", "NS=N");
	refused("--quota 1 --quota 2", "twice");
	refused("--quota a=1 --quota a=2", "twice for a");
	refused("--route ,10.0.0.1", "DST,GW");
	refused("--route 10.0.0.0/8,", "DST,GW");
	refused("--sticky --no-sticky", "exclude each other");
	refused("--slice many", "--slice: \"many\" is neither a length like /28");
}
END_TEST

static int apply_all(void *arg, struct err *e)
{
	static const struct opt *const tables[] = { pool_set_opts, NULL };
	char *argv[] = { "--subnet=10.0.0.0/8",
			 "--range=10.0.0.1",
			 "--route=0.0.0.0/0,10.0.0.1",
			 "--namespace=a",
			 "--quota=a=1",
			 "--quota=2",
			 "--cooldown=5",
			 "--sticky",
			 "--slice=/28",
			 NULL };
	auto_opts struct opts o = { 0 };
	auto_json struct json *def = json_new_object();

	(void)arg;
	if (!def)
		return err_nomem(e);
	if (opt_parse(argv, tables, false, &o, e) < 0)
		return -1;
	return pool_def_apply(&o, def, e);
}

START_TEST(survives_failing_allocations)
{
	ck_assert_str_eq(alloc_fail_each(apply_all, NULL), "ok");
}
END_TEST

TEST_PROGRAM("railctl/ipam/pool_def", a_range_of_guids_is_a_network_of_gids, makes_a_definition,
	     changes_only_what_is_given, makes_quotas, makes_a_slice, refuses_what_makes_no_sense,
	     survives_failing_allocations)
