/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.h: programs with commands: a tree of tables, from which follow parsing, --help and the exit
 * status.
 *
 * A command is a `const struct cmd`; a group of commands is one with a list of others. The program
 * is a `const struct cmd_program` with the root of the tree, and its main() only calls cmd_main().
 */
#ifndef RAILHEAD_LIB_CLI_CMD_H
#define RAILHEAD_LIB_CLI_CMD_H

#include "lib/base/ctx.h"
#include "lib/cli/opt.h"
#include "lib/cli/out.h"

/* The exit status. A program may have more of its own, from 3. */
enum cmd_status {
	CMD_OK = 0,
	CMD_FAILED = 1, /* or: something is left that needs a person */
	CMD_USAGE = 2,
};

struct cmd_run;

/* A word that people try because other programs have it. */
struct cmd_alias {
	const char *word;  /* NULL ends a table */
	const char *meant; /* the command below the group: "ipam lease list" */
};

#define CMD_TABLES 5
struct cmd {
	const char *name;
	const char *words;           /* what follows the options, for help: "NAME"; NULL: nothing */
	const char *summary;         /* one line, imperative, no full stop */
	const char *about;           /* further paragraphs; may be NULL */
	const char *const *examples; /* whole command lines, NULL-terminated; may be NULL */
	/* A group of commands, NULL-terminated, else NULL. One that has run as well is a command
	 * of its own, without words. */
	const struct cmd *const *sub;
	const struct cmd_alias *aliases;    /* of a group, for "did you mean"; may be NULL */
	const struct opt *opts[CMD_TABLES]; /* beside the global ones; NULL-terminated */
	unsigned min_words, max_words;
	int (*run)(struct cmd_run *r, struct err *e);
};

struct cmd_program {
	const struct cmd *root;    /* its name is the program's */
	const struct opt *globals; /* options of every command; among them CMD_OPT_* */
	/* Before a command runs: check global options, fill r->own. May be NULL. */
	int (*begin)(struct cmd_run *r, struct err *e);
	/* The exit status for an error when r->status is CMD_OK. NULL: CMD_FAILED. */
	int (*status)(const struct err *e);
	/*
	 * The program has one level of commands and no command `help`. Every usage error then ends
	 * with a hint to --help, texts do not repeat the command, and --help ignores --json.
	 */
	bool flat;
};

/* Entries of the globals of every program. cmd_main() acts on them. */
#define CMD_OPT_JSON                                                                               \
	{                                                                                          \
		"json", NULL, "print JSON, for programs", 0                                        \
	}
#define CMD_OPT_NO_COLOR                                                                           \
	{                                                                                          \
		"no-color", NULL, "no colours, even on a terminal", 0                              \
	}
#define CMD_OPT_HELP                                                                               \
	{                                                                                          \
		"help", NULL, "show help for the command", 0                                       \
	}
#define CMD_OPT_VERSION                                                                            \
	{                                                                                          \
		"version", NULL, "print the version", 0                                            \
	}

/* One run of a command. */
struct cmd_run {
	struct ctx ctx; /* of the real system; begin() may change its folders */
	struct out out;
	bool output_lost; /* out.lost points here */
	struct opts opts; /* of the command line: options and words */
	const struct cmd_program *program;
	const struct cmd *cmd;
	char path[128]; /* the command in words: "railctl ipam pool add" */
	int status;     /* enum cmd_status; a command that reports problems of its own sets it */
	void *own;      /* of the program: what main() gave to cmd_main() */
};

/*
 * cmd_main - parse argv of main(), run the command and print its error, if any, on standard error.
 * Returns the exit status. own: becomes cmd_run.own; borrowed, may be NULL.
 */
int cmd_main(const struct cmd_program *program, char *const *argv, void *own);

/* cmd_usage - the command line is wrong: an error that ends with CMD_USAGE. Returns -1. */
int cmd_usage(struct cmd_run *r, struct err *e, const char *fmt, ...) printf_like(3, 4);

/* A file that a user named. */
struct cmd_input {
	/* "-": standard input, up to a form feed. The next "-" is what comes behind that. */
	const char *path;
	const char *what; /* begins each error: "--file ", or "" */
	size_t max;       /* bytes; cmd_read_json: 0 for JSON_MAX_SIZE */
};

/* cmd_read - read a file, NUL added. cmd_read_json - parse it; name: of the value for errors. */
int cmd_read(const struct cmd_input *in, char **text, size_t *len, struct err *e) must_check;
int cmd_read_json(const struct cmd_input *in, const char *name, struct json **out,
		  struct err *e) must_check;

/*
 * cmd_run_help, cmd_run_version - for the commands `help [COMMAND...]` and `version` of a program.
 * With --json, `help` prints the command and all commands below it as an array.
 */
int cmd_run_help(struct cmd_run *r, struct err *e) must_check;
int cmd_run_version(struct cmd_run *r, struct err *e) must_check;

#endif
