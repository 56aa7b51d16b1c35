/* SPDX-License-Identifier: Apache-2.0 */
/* opt_test.c: shows which command lines are accepted, and what the errors suggest. */
#include "lib/cli/opt.h"

#include <string.h>

#include "lib/testing/testing.h"
#include "lib/testing/alloc.h"

static const struct opt own[] = {
	{ "pool", "NAME", "", 0 },
	{ "range", "A-B", "", OPT_MANY },
	{ "force", NULL, "", 0 },
	{ NULL, NULL, NULL, 0 },
};
static const struct opt global[] = {
	{ "json", NULL, "", 0 },
	{ "help", NULL, "", 0 },
	{ "matrix", NULL, "", OPT_SHORT },
	{ NULL, NULL, NULL, 0 },
};
static const struct opt *const tables[] = { own, global, NULL };

#define PARSE(stop, o, e, ...)                                                                     \
	({                                                                                         \
		char *argv_[] = { __VA_ARGS__, NULL };                                             \
		opt_parse(argv_, tables, stop, o, e);                                              \
	})

START_TEST(takes_options_and_words_mixed)
{
	struct err e;
	auto_opts struct opts o = { 0 };
	size_t i = 0;

	ck_assert_int_eq(PARSE(false, &o, &e, "one", "--range", "a", "--json", "--range=b", "two"),
			 6);
	ck_assert_uint_eq(o.n_words, 2);
	ck_assert_str_eq(o.words[0], "one");
	ck_assert_str_eq(o.words[1], "two");
	ck_assert_str_eq(opt_next(&o, "range", &i), "a");
	ck_assert_str_eq(opt_next(&o, "range", &i), "b");
	ck_assert_ptr_null(opt_next(&o, "range", &i));
	ck_assert_str_eq(opt_get(&o, "json"), "");
	ck_assert(opt_is_set(&o, "json"));
	ck_assert(!opt_is_set(&o, "force"));
	ck_assert_ptr_null(opt_get(&o, "pool"));
}
END_TEST

START_TEST(stops_at_the_first_word)
{
	struct err e;
	auto_opts struct opts o = { 0 };

	ck_assert_int_eq(PARSE(true, &o, &e, "--json", "ipam", "--nonsense"), 1);
	ck_assert_uint_eq(o.n_words, 0);
	ck_assert(opt_is_set(&o, "json"));
}
END_TEST

START_TEST(two_dashes_end_the_options)
{
	struct err e;
	auto_opts struct opts o = { 0 };

	ck_assert_int_eq(PARSE(false, &o, &e, "-", "--", "--json", "-x"), 4);
	ck_assert_uint_eq(o.n_words, 3);
	ck_assert_str_eq(o.words[0], "-");
	ck_assert_str_eq(o.words[1], "--json");
	ck_assert(!opt_is_set(&o, "json"));
}
END_TEST

START_TEST(values_may_begin_with_a_dash_and_be_empty)
{
	struct err e;
	auto_opts struct opts o = { 0 };

	ck_assert_int_eq(PARSE(false, &o, &e, "--pool", "-", "--range=--x", "--range="), 4);
	ck_assert_str_eq(opt_get(&o, "pool"), "-");
	size_t i = 0;
	ck_assert_str_eq(opt_next(&o, "range", &i), "--x");
	ck_assert_str_eq(opt_next(&o, "range", &i), "");
}
END_TEST

START_TEST(h_is_help)
{
	struct err e;
	auto_opts struct opts o = { 0 };

	ck_assert_int_eq(PARSE(false, &o, &e, "-h"), 1);
	ck_assert(opt_is_set(&o, "help"));
}
END_TEST

static void refused(const char *first, const char *second, enum err_code code, const char *part)
{
	struct err e = { 0 };
	auto_opts struct opts o = { 0 };
	const char *argv[] = { first, second, NULL };

	ck_assert_int_eq(opt_parse((char *const *)(uintptr_t)argv, tables, false, &o, &e), -1);
	ck_assert_int_eq(e.code, code);
	ck_assert_msg(strstr(e.msg, part) || strstr(e.detail, part), "\"%s\" in \"%s\" \"%s\"",
		      part, e.msg, e.detail);
}

START_TEST(some_flags_have_a_letter)
{
	auto_opts struct opts o = { 0 };
	struct err e;

	ck_assert_int_eq(PARSE(false, &o, &e, "-m"), 1);
	ck_assert(opt_is_set(&o, "matrix"));
	ck_assert_int_eq(PARSE(false, &o, &e, "-j"), -1);
	ck_assert_int_eq(PARSE(false, &o, &e, "-mm"), -1);
	ck_assert_int_eq(PARSE(false, &o, &e, "--m"), -1);
}
END_TEST

START_TEST(refuses_what_it_does_not_know)
{
	refused("--jsno", NULL, ERR_FIELD, "did you mean --json?");
	refused("--jsno", NULL, ERR_FIELD, "unknown option --jsno");
	refused("--rang=5", NULL, ERR_FIELD, "did you mean --range?");
	refused("--po", "x", ERR_FIELD, "unknown option --po");
	refused("-j", NULL, ERR_FIELD, "unknown option -j");
	refused("-json", NULL, ERR_FIELD, "unknown option -json");
	refused("-json", NULL, ERR_FIELD, "did you mean --json?");
	refused("-o", "json", ERR_FIELD, "did you mean --json?");
	refused("--output=json", NULL, ERR_FIELD, "did you mean --json?");
}
END_TEST

START_TEST(refuses_wrong_values)
{
	refused("--pool", NULL, ERR_CONFIG, "--pool NAME");
	refused("--pool", "--json", ERR_CONFIG, "needs a value");
	refused("--json=1", NULL, ERR_CONFIG, "takes no value");
	refused("--pool=a", "--pool=b", ERR_CONFIG, "given twice");
}
END_TEST

START_TEST(flags_may_be_repeated)
{
	struct err e;
	auto_opts struct opts o = { 0 };

	ck_assert_int_eq(PARSE(false, &o, &e, "--json", "--json"), 2);
}
END_TEST

static int parse_some(void *arg, struct err *e)
{
	auto_opts struct opts o = { 0 };

	(void)arg;
	return PARSE(false, &o, e, "one", "--range", "a", "--json", "two") < 0 ? -1 : 0;
}

START_TEST(survives_failing_allocations)
{
	ck_assert_str_eq(alloc_fail_each(parse_some, NULL), "ok");
}
END_TEST

TEST_PROGRAM("lib/cli/opt", takes_options_and_words_mixed, stops_at_the_first_word,
	     two_dashes_end_the_options, values_may_begin_with_a_dash_and_be_empty, h_is_help,
	     some_flags_have_a_letter, refuses_what_it_does_not_know, refuses_wrong_values,
	     flags_may_be_repeated, survives_failing_allocations)
