/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.h: railctl's commands as a tree of tables.
 *
 * To add one: a file with its `const struct cmd cmd_x`, a line here, and a line in main.c's table.
 * Parsing, --help, `railctl help --json` and the exit status follow from the table; the manual page
 * and the completion are compared with it by a test.
 */
#ifndef RAILHEAD_LIB_CLI_CMD_H
#define RAILHEAD_LIB_CLI_CMD_H

#include "lib/base/ctx.h"
#include "lib/cli/opt.h"
#include "lib/cli/out.h"

enum ctl_status {
	CTL_OK = 0,
	CTL_FAILED = 1, /* or: something is left that needs a person */
	CTL_USAGE = 2,
};

/* One run of railctl. */
struct ctl {
	struct ctx ctx;       /* run_dir as the options say */
	const char *data_dir; /* --data-dir; NULL: the usual store */
	struct out out;
	struct opts opts; /* of the command line: options and words */
	const struct cmd *root, *cmd;
	char path[128]; /* the command in words: "railctl ipam pool add" */
	int status;     /* enum ctl_status; a command that reports problems of its own sets it */
};

struct cmd {
	const char *name;
	const char *words;           /* what follows the options, for help: "NAME"; NULL: nothing */
	const char *summary;         /* one line, imperative, no full stop */
	const char *about;           /* further paragraphs; may be NULL */
	const char *const *examples; /* whole command lines, NULL-terminated; may be NULL */
	/* A group of commands, NULL-terminated, else NULL. One that has run as well is a command
	 * of its own, without words. */
	const struct cmd *const *sub;
	const struct opt *opts; /* beside the global ones; may be NULL */
	unsigned min_words, max_words;
	int (*run)(struct ctl *r, struct err *e);
};

extern const struct opt cmd_globals[];

extern const struct cmd cmd_attachments, cmd_help, cmd_ipam, cmd_rdma, cmd_topo, cmd_version,
	cmd_vf;

/* cmd_main - parse argv of main(), run the command, say what went wrong; the exit status. */
int cmd_main(const struct cmd *root, char *const *argv);

/*
 * cmd_resolve - the command that a line of words names, below r->root; sets r->cmd and r->path.
 * Unknown words are a usage error that suggests the nearest command.
 */
int cmd_resolve(struct ctl *r, const char *const *words, size_t n, struct err *e) must_check;

/* cmd_usage - the command line is wrong: an error that ends with exit status 2. Returns -1. */
int cmd_usage(struct ctl *r, struct err *e, const char *fmt, ...) printf_like(3, 4);

/* cmd_help_show - help of r->cmd, as text or JSON. */
int cmd_help_show(const struct ctl *r, struct err *e) must_check;

#endif
