/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_test.c: shows which command a line runs, and the texts and the exit status for lines that
 * are wrong.
 */
#include "lib/cli/cmd.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/testing/alloc.h"
#include "lib/testing/testing.h"

/* ---- two programs ---- */

struct store {
	bool begun;
};

static const struct opt add_options[] = {
	{ "size", "N", "how big", 0 },
	{ "tag", "TEXT", "a tag", OPT_MANY },
	{ NULL, NULL, NULL, 0 },
};
static const struct opt extra_options[] = { { "force", NULL, "even if it exists", 0 },
					    { NULL, NULL, NULL, 0 } };

static int run_add(struct cmd_run *r, struct err *e)
{
	const char *size = opt_get(&r->opts, "size");

	if (size && strcmp(size, "0") == 0)
		return cmd_usage(r, e, "--size 0 is too small");
	if (strcmp(r->opts.words[0], "busy") == 0)
		return err_set(e, ERR_UNAVAILABLE, 0, "pool busy is in use");
	if (strcmp(r->opts.words[0], "part") == 0)
		r->status = CMD_FAILED;
	out_line(&r->out, OUT_PLAIN, "%s: %s %s", r->path, r->opts.words[0], size ? size : "-");
	return 0;
}

static int run_list(struct cmd_run *r, struct err *e)
{
	const struct store *s = r->own;

	(void)e;
	out_line(&r->out, OUT_PLAIN, "%s %s", opt_is_set(&r->opts, "force") ? "all" : "some",
		 s && s->begun ? "begun" : "not begun");
	return 0;
}

static int begin(struct cmd_run *r, struct err *e)
{
	struct store *s = r->own;

	if (opt_get(&r->opts, "dir"))
		return cmd_usage(r, e, "--dir is wrong");
	s->begun = true;
	return 0;
}

static const char *const add_examples[] = { "tool pool add rail0", NULL };
static const struct cmd add_cmd = {
	.name = "add",
	.words = "NAME",
	.summary = "make a pool",
	.about = "It is empty.",
	.examples = add_examples,
	.opts = { add_options, extra_options },
	.min_words = 1,
	.max_words = 1,
	.run = run_add,
};
static const struct cmd *const pool_commands[] = { &add_cmd, NULL };
static const struct cmd pool_cmd = {
	.name = "pool",
	.summary = "pools",
	.sub = pool_commands,
};
static const struct cmd check_cmd = { .name = "check", .summary = "check it", .run = run_list };
static const struct cmd *const list_commands[] = { &check_cmd, NULL };
/* A group that is a command as well. */
static const struct cmd list_cmd = {
	.name = "list",
	.summary = "list them",
	.sub = list_commands,
	.opts = { extra_options },
	.run = run_list,
};
static const struct cmd help_cmd = { .name = "help",
				     .words = "[COMMAND...]",
				     .summary = "help",
				     .max_words = 8,
				     .run = cmd_run_help };
static const struct cmd *const commands[] = { &pool_cmd, &list_cmd, &help_cmd, NULL };
static const struct cmd_alias aliases[] = { { "ls", "list" }, { "make", "pool add" }, { 0 } };
static const struct cmd root = {
	.name = "tool", .summary = "keep pools", .sub = commands, .aliases = aliases
};

static const struct opt globals[] = {
	CMD_OPT_JSON,    { "dir", "DIR", "a folder", 0 }, CMD_OPT_NO_COLOR, CMD_OPT_HELP,
	CMD_OPT_VERSION, { NULL, NULL, NULL, 0 },
};

static const struct cmd_program tool = { .root = &root, .globals = globals, .begin = begin };

static int status_of(const struct err *e)
{
	return e->code == ERR_UNAVAILABLE ? 4 : CMD_FAILED;
}

static const struct cmd *const flat_commands[] = { &add_cmd, NULL };
static const struct cmd flat_root = { .name = "probe", .summary = "probe", .sub = flat_commands };
static const struct cmd_program probe = {
	.root = &flat_root, .globals = globals, .status = status_of, .flat = true
};

/* ---- one run ---- */

#define ARGS_MAX 12
struct result {
	int status;
	char out[4096], err[1024];
};

/* Standard output or error goes to a file in memory; returns the descriptor to restore. */
static int redirect(FILE *stream, int *file)
{
	int old = dup(fileno(stream));

	(void)fflush(stream);
	*file = memfd_create("text", MFD_CLOEXEC);
	ck_assert_int_ge(*file, 0);
	ck_assert_int_ge(dup2(*file, fileno(stream)), 0);
	return old;
}

static void restore(FILE *stream, int old, int file, char *text, size_t size)
{
	(void)fflush(stream);
	ck_assert_int_ge(dup2(old, fileno(stream)), 0);
	ssize_t n = pread(file, text, size - 1, 0);
	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	(void)close(old);
	(void)close(file);
}

/* Run the program with a line of words, of which the first is its name. */
static struct result run(const struct cmd_program *program, const char *line, void *own)
{
	char copy[256], *argv[ARGS_MAX + 1] = { NULL }, *rest = NULL;
	struct result got;
	int file[2], old[2];
	size_t n = 0;

	(void)snprintf(copy, sizeof(copy), "%s", line);
	for (char *w = strtok_r(copy, " ", &rest); w && n < ARGS_MAX;
	     w = strtok_r(NULL, " ", &rest))
		argv[n++] = w;
	alloc_fail_pause(true); /* Check allocates too */
	old[0] = redirect(stdout, &file[0]);
	old[1] = redirect(stderr, &file[1]);
	alloc_fail_pause(false);
	got.status = cmd_main(program, argv, own);
	alloc_fail_pause(true);
	restore(stdout, old[0], file[0], got.out, sizeof(got.out));
	restore(stderr, old[1], file[1], got.err, sizeof(got.err));
	alloc_fail_pause(false);
	return got;
}

static void check_ok(const char *line, const char *out)
{
	struct store s = { false };
	struct result got = run(&tool, line, &s);

	ck_assert_str_eq(got.err, "");
	ck_assert_str_eq(got.out, out);
	ck_assert_int_eq(got.status, CMD_OK);
}

static void check_wrong(const struct cmd_program *program, const char *line, int status,
			const char *err)
{
	struct store s = { false };
	struct result got = run(program, line, &s);

	ck_assert_str_eq(got.out, "");
	ck_assert_str_eq(got.err, err);
	ck_assert_int_eq(got.status, status);
}

/* ---- tests ---- */

START_TEST(runs_the_command_that_the_words_name)
{
	check_ok("tool pool add rail0", "tool pool add: rail0 -\n");
	check_ok("tool --no-color pool --json add rail0 --size 3", "tool pool add: rail0 3\n");
	check_ok("tool pool add -- --x", "tool pool add: --x -\n");
	check_ok("tool list", "some begun\n");
	check_ok("tool list --force", "all begun\n");
	check_ok("tool list check", "some begun\n");
}
END_TEST

START_TEST(unknown_command_suggests_the_nearest)
{
	check_wrong(&tool, "tool pol", CMD_USAGE,
		    "tool: \"pol\" is not a command of \"tool\"; did you mean \"tool pool\"?\n");
	check_wrong(&tool, "tool xyz", CMD_USAGE,
		    "tool: \"xyz\" is not a command of \"tool\"; \"tool --help\" lists them\n");
	check_wrong(&tool, "tool pool ad", CMD_USAGE,
		    "tool: \"ad\" is not a command of \"tool pool\"; did you mean \"tool pool "
		    "add\"?\n");
	check_wrong(&tool, "tool help pool xyz", CMD_USAGE,
		    "tool: \"xyz\" is not a command of \"tool pool\"; \"tool pool --help\" lists "
		    "them\n");
}
END_TEST

START_TEST(unknown_command_suggests_those_of_other_groups)
{
	check_wrong(&tool, "tool ls", CMD_USAGE,
		    "tool: \"ls\" is not a command of \"tool\"; did you mean \"tool list\"?\n");
	check_wrong(&tool, "tool make x", CMD_USAGE,
		    "tool: \"make\" is not a command of \"tool\"; did you mean \"tool pool "
		    "add\"?\n");
	check_wrong(&tool, "tool chekc", CMD_USAGE,
		    "tool: \"chekc\" is not a command of \"tool\"; did you mean \"tool list "
		    "check\"?\n");
	check_wrong(&tool, "tool pool lists", CMD_USAGE,
		    "tool: \"lists\" is not a command of \"tool pool\"; did you mean \"tool "
		    "list\"?\n");
}
END_TEST

START_TEST(missing_command_and_words_are_usage_errors)
{
	check_wrong(&tool, "tool", CMD_USAGE,
		    "tool: \"tool\" needs a command; \"tool --help\" lists them\n");
	check_wrong(&tool, "tool pool", CMD_USAGE,
		    "tool: \"tool pool\" needs a command; \"tool pool --help\" lists them\n");
	check_wrong(&tool, "tool pool add", CMD_USAGE,
		    "tool: \"tool pool add\" needs NAME; see \"tool pool add --help\"\n");
	check_wrong(&tool, "tool pool add a b", CMD_USAGE,
		    "tool: \"tool pool add\": \"b\" is one word too many; see \"tool pool add "
		    "--help\"\n");
}
END_TEST

START_TEST(wrong_options_are_usage_errors)
{
	check_wrong(&tool, "tool pool add a --siz 3", CMD_USAGE,
		    "tool: unknown option --siz; did you mean --size?\n");
	check_wrong(&tool, "tool pool add a --size", CMD_USAGE,
		    "tool: option --size needs a value: --size N; see \"tool pool add --help\"\n");
	check_wrong(&tool, "tool pool add a --json=1", CMD_USAGE,
		    "tool: option --json takes no value; see \"tool pool add --help\"\n");
	check_wrong(&tool, "tool --size 3 pool add a", CMD_USAGE,
		    "tool: unknown option --size; see \"tool --help\"\n");
	check_wrong(&tool, "tool list --force check", CMD_USAGE,
		    "tool: \"tool list check\" has no option --force; see \"tool list check "
		    "--help\"\n");
	check_wrong(&tool, "tool list --dir x", CMD_USAGE, "tool: --dir is wrong\n");
}
END_TEST

START_TEST(help_shows_each_level)
{
	static const char common[] = "\noptions of every command:\n"
				     "  --json                print JSON, for programs\n"
				     "  --dir DIR             a folder\n"
				     "  --no-color            no colours, even on a terminal\n"
				     "  --help                show help for the command\n"
				     "  --version             print the version\n";
	static const struct {
		const char *line, *text, *after;
	} cases[] = {
		{ "tool --help",
		  "usage: tool COMMAND [options]\n\nkeep pools\n\ncommands:\n"
		  "  pool                  pools\n  list                  list them\n"
		  "  help                  help\n",
		  "" },
		{ "tool pool --help",
		  "usage: tool pool COMMAND [options]\n\npools\n\ncommands:\n"
		  "  add                   make a pool\n",
		  "" },
		{ "tool list -h",
		  "usage: tool list [COMMAND] [options]\n\nlist them\n\ncommands:\n"
		  "  check                 check it\n\noptions:\n"
		  "  --force               even if it exists\n",
		  "" },
		{ "tool help pool add",
		  "usage: tool pool add NAME [options]\n\nmake a pool\n\nIt is empty.\n\noptions:\n"
		  "  --size N              how big\n  --tag TEXT            a tag\n"
		  "  --force               even if it exists\n",
		  "\nexamples:\n  tool pool add rail0\n" },
	};
	char want[1024];

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		(void)snprintf(want, sizeof(want), "%s%s%s", cases[i].text, common, cases[i].after);
		check_ok(cases[i].line, want);
	}
}
END_TEST

START_TEST(help_comes_before_missing_words)
{
	struct store s = { false };

	ck_assert_int_eq(run(&tool, "tool pool add --help a b c", &s).status, CMD_OK);
	ck_assert_int_eq(run(&probe, "probe add --help", NULL).status, CMD_OK);
	ck_assert(!s.begun);
}
END_TEST

START_TEST(help_as_json_describes_all_commands_below)
{
	struct store s = { false };
	struct err e;
	struct result got = run(&tool, "tool pool --help --json", &s);
	auto_json struct json *list = NULL;

	ck_assert_int_eq(json_parse(got.out, strlen(got.out), "help", &list, &e), 0);
	ck_assert_uint_eq(json_len(list), 2);
	const struct json *add = json_at_mut(list, 1);
	ck_assert_str_eq(json_str(json_get(add, "command")), "tool pool add");
	ck_assert_str_eq(json_str(json_get(add, "words")), "NAME");
	ck_assert_uint_eq(json_len(json_get(add, "options")), 3);
	json_each (option, json_get(add, "options"))
		ck_assert_int_eq(json_true(json_get(option, "repeatable")),
				 strcmp(json_str(json_get(option, "name")), "tag") == 0);
	ck_assert_ptr_null(json_get(json_first(list), "globalOptions"));

	got = run(&tool, "tool --help --json", &s);
	auto_json struct json *all = NULL;
	ck_assert_int_eq(json_parse(got.out, strlen(got.out), "help", &all, &e), 0);
	ck_assert_uint_eq(json_len(all), 6);
	ck_assert_uint_eq(json_len(json_get(json_first(all), "globalOptions")), 5);
}
END_TEST

START_TEST(version_names_the_program)
{
	struct result got = run(&probe, "probe --version", NULL);

	ck_assert_int_eq(got.status, CMD_OK);
	ck_assert_int_eq(strncmp(got.out, "probe ", 6), 0);
	got = run(&tool, "tool pool --version --json", NULL);
	ck_assert_ptr_nonnull(strstr(got.out, "\"name\": \"tool\""));
}
END_TEST

START_TEST(exit_status_follows_from_the_error)
{
	struct store s = { false };

	check_wrong(&tool, "tool pool add busy", CMD_FAILED, "tool: pool busy is in use\n");
	check_wrong(&probe, "probe add busy", 4, "probe: pool busy is in use\n");
	check_wrong(&tool, "tool pool add a --size 0", CMD_USAGE, "tool: --size 0 is too small\n");
	ck_assert_int_eq(run(&tool, "tool pool add part", &s).status, CMD_FAILED);
}
END_TEST

START_TEST(flat_program_hints_to_its_help)
{
	check_wrong(&probe, "probe", CMD_USAGE,
		    "probe: probe needs a command; see \"probe --help\"\n");
	check_wrong(&probe, "probe ad", CMD_USAGE,
		    "probe: \"ad\" is not a command of probe; see \"probe --help\"; "
		    "did you mean \"probe add\"?\n");
	check_wrong(&probe, "probe add a b", CMD_USAGE,
		    "probe: \"b\" is one word too many; see \"probe add --help\"\n");
	check_wrong(&probe, "probe add a --size 0", CMD_USAGE,
		    "probe: --size 0 is too small; see \"probe add --help\"\n");
	ck_assert_int_eq(strncmp(run(&probe, "probe --help --json", NULL).out, "usage: probe", 12),
			 0);
}
END_TEST

START_TEST(output_that_cannot_be_written_is_a_failure)
{
	char *argv[] = { strdup("tool"), strdup("list"), NULL };
	struct store s = { false };
	int old = dup(STDOUT_FILENO), full;

	(void)fflush(stdout);
	ck_assert_ptr_nonnull(freopen("/dev/full", "w", stdout));
	full = cmd_main(&tool, argv, &s);
	(void)dup2(old, STDOUT_FILENO);
	(void)close(old);
	clearerr(stdout);
	ck_assert_int_eq(full, CMD_FAILED);
	free(argv[0]);
	free(argv[1]);
}
END_TEST

static int run_status(void *arg, struct err *e)
{
	struct store s = { false };

	(void)e;
	return run(&tool, arg, &s).status;
}

START_TEST(missing_memory_is_a_failure_without_leaks)
{
	char json[] = "tool help --json", line[] = "tool list";

	ck_assert_str_eq(alloc_fail_each(run_status, json), "ok");
	ck_assert_str_eq(alloc_fail_each(run_status, line), "ok");
}
END_TEST

TEST_PROGRAM("cmd", runs_the_command_that_the_words_name, unknown_command_suggests_the_nearest,
	     unknown_command_suggests_those_of_other_groups,
	     missing_command_and_words_are_usage_errors, wrong_options_are_usage_errors,
	     help_shows_each_level, help_comes_before_missing_words,
	     help_as_json_describes_all_commands_below, version_names_the_program,
	     exit_status_follows_from_the_error, flat_program_hints_to_its_help,
	     output_that_cannot_be_written_is_a_failure, missing_memory_is_a_failure_without_leaks)
