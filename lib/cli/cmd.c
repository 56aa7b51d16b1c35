/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd.c: one run of a program with commands: find the command in the tree, check its options and
 * words, run it, and turn the error into a line and an exit status.
 */
#include "lib/cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/text.h"
#include "lib/cli/cmd_priv.h"
#include "lib/sys/fs.h"

/* One part of standard input. The rest stays in the buffer of the stream. */
static int read_part(size_t max, char **out, size_t *len, struct err *e)
{
	auto_text struct text t = { 0 };
	char part[4096];
	size_t n = 0;
	int c;

	do {
		c = getc(stdin);
		if (c != EOF && c != '\f')
			part[n++] = (char)c;
		if (n == sizeof(part) || c == EOF || c == '\f') {
			text_add_len(&t, part, n);
			n = 0;
		}
		if (t.len > max)
			return err_set(e, ERR_IO, EFBIG, "read: more than %zu bytes", max);
	} while (c != EOF && c != '\f' && !t.failed);
	if (ferror(stdin))
		return err_set(e, ERR_IO, errno, "read");
	*len = t.len;
	*out = text_take(&t);
	return *out ? 0 : err_nomem(e);
}

int cmd_read(const struct cmd_input *in, char **text, size_t *len, struct err *e)
{
	if (strcmp(in->path, "-") == 0)
		return read_part(in->max, text, len, e) ? err_wrap(e, "%s-", in->what) : 0;

	auto_fd int fd = open(in->path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "%s%.256s", in->what, in->path);
	return fs_read_fd(fd, in->max, text, len, e) ? err_wrap(e, "%s%.256s", in->what, in->path)
						     : 0;
}

int cmd_read_json(const struct cmd_input *in, const char *name, struct json **out, struct err *e)
{
	auto_free char *text = NULL;
	size_t len = 0;

	if (cmd_read(&(struct cmd_input){ in->path, in->what, in->max ? in->max : JSON_MAX_SIZE },
		     &text, &len, e))
		return -1;
	return json_parse(text, len, name, out, e) ? err_wrap(e, "%s%.256s", in->what, in->path)
						   : 0;
}

int cmd_usage(struct cmd_run *r, struct err *e, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	r->status = CMD_USAGE;
	err_set(e, ERR_CONFIG, 0, "%s", text);
	return r->program->flat ? err_hint(e, "see \"%s --help\"", r->path) : -1;
}

/* A usage error with a hint, which a flat program has from cmd_usage() already. */
static int hint_help(const struct cmd_run *r, struct err *e)
{
	return r->program->flat ? -1 : err_hint(e, "see \"%s --help\"", r->path);
}

static int hint_list(const struct cmd_run *r, struct err *e)
{
	return r->program->flat ? -1 : err_hint(e, "\"%s --help\" lists them", r->path);
}

static void enter_cmd(struct cmd_run *r, const struct cmd *cmd)
{
	size_t len = strlen(r->path);

	(void)snprintf(r->path + len, sizeof(r->path) - len, "%s%s", len ? " " : "", cmd->name);
	r->cmd = cmd;
}

/* The command `word` of the group r->cmd becomes r->cmd. */
static int enter_sub(struct cmd_run *r, const char *word, struct err *e)
{
	const char *quote = r->program->flat ? "" : "\"";

	for (size_t i = 0; r->cmd->sub[i]; i++) {
		if (strcmp(r->cmd->sub[i]->name, word) == 0) {
			enter_cmd(r, r->cmd->sub[i]);
			return 0;
		}
	}
	cmd_usage(r, e, "\"%.64s\" is not a command of %s%s%s", word, quote, r->path, quote);
	return cmd_guess(r, word, e);
}

int cmd_resolve(struct cmd_run *r, const char *const *words, size_t n, struct err *e)
{
	r->path[0] = '\0';
	enter_cmd(r, r->program->root);
	for (size_t i = 0; i < n; i++) {
		if (!r->cmd->sub)
			return cmd_usage(r, e, "\"%s\" has no commands below it", r->path);
		if (enter_sub(r, words[i], e))
			return -1;
	}
	return 0;
}

/* ---- the command line ---- */

/* The arguments up to a NULL, or to a word where r->cmd is a group. Returns how many were taken. */
static int parse_options(struct cmd_run *r, char *const *argv, struct err *e)
{
	const struct opt *tables[CMD_TABLES + 1] = { r->program->globals };

	for (size_t i = 0; i < CMD_TABLES - 1 && r->cmd->opts[i]; i++)
		tables[i + 1] = r->cmd->opts[i];
	int n = opt_parse(argv, tables, r->cmd->sub, &r->opts, e);
	if (n >= 0)
		return n;
	if (e->code != ERR_NOMEM)
		r->status = CMD_USAGE;
	return *e->detail ? -1 : err_hint(e, "see \"%s --help\"", r->path);
}

static bool has_option(const struct opt *table, const char *name)
{
	for (; table && table->name; table++) {
		if (strcmp(table->name, name) == 0)
			return true;
	}
	return false;
}

/* Options of a group that is a command too may stand before the command below it, if it has them.
 */
static int check_inherited(struct cmd_run *r, struct err *e)
{
	for (size_t i = 0; i < r->opts.n_values; i++) {
		const char *name = r->opts.values[i].opt->name;
		bool known = has_option(r->program->globals, name);

		for (size_t j = 0; !known && j < CMD_TABLES && r->cmd->opts[j]; j++)
			known = has_option(r->cmd->opts[j], name);
		if (!known) {
			cmd_usage(r, e, "\"%s\" has no option --%s", r->path, name);
			return hint_help(r, e);
		}
	}
	return 0;
}

/* Command words with options between them, then the command's own options and words. */
static int cmd_parse_line(struct cmd_run *r, char *const *argv, struct err *e)
{
	int i = argv[0] ? 1 : 0;

	enter_cmd(r, r->program->root);
	for (;;) {
		int n = parse_options(r, argv + i, e);
		if (n < 0)
			return -1;
		i += n;
		if (!r->cmd->sub || !argv[i])
			return 0;
		if (enter_sub(r, argv[i++], e) || check_inherited(r, e))
			return -1;
	}
}

static int check_words(struct cmd_run *r, struct err *e)
{
	const struct cmd *c = r->cmd;
	bool flat = r->program->flat;

	if (!c->run) {
		cmd_usage(r, e, flat ? "%s needs a command" : "\"%s\" needs a command", r->path);
		return hint_list(r, e);
	}
	if (r->opts.n_words < c->min_words) {
		cmd_usage(r, e, "\"%s\" needs %s", r->path, c->words);
		return hint_help(r, e);
	}
	if (r->opts.n_words > c->max_words) {
		const char *extra = r->opts.words[c->max_words];

		if (flat)
			return cmd_usage(r, e, "\"%.64s\" is one word too many", extra);
		cmd_usage(r, e, "\"%s\": \"%.64s\" is one word too many", r->path, extra);
		return hint_help(r, e);
	}
	return 0;
}

static int run_line(struct cmd_run *r, char *const *argv, struct err *e)
{
	if (cmd_parse_line(r, argv, e))
		return -1;
	out_init(&r->out, stdout, opt_is_set(&r->opts, "json"), opt_is_set(&r->opts, "no-color"));
	r->out.lost = &r->output_lost;
	if (opt_is_set(&r->opts, "help"))
		return cmd_help_show(r, e);
	if (opt_is_set(&r->opts, "version"))
		return cmd_run_version(r, e);
	if (check_words(r, e) || (r->program->begin && r->program->begin(r, e)))
		return -1;
	return r->cmd->run(r, e);
}

/* Files of the node are root's. */
static void explain_rights(char *const *argv, struct err *e)
{
	char line[200] = "";
	size_t len = 0;

	if ((e->errnum != EACCES && e->errnum != EPERM) || geteuid() == 0)
		return;
	for (size_t i = 1; argv[0] && argv[i] && len < sizeof(line); i++)
		len += (size_t)snprintf(line + len, sizeof(line) - len, " %s", argv[i]);
	(void)err_hint(e, "only root may: sudo %s%s", argv[0] ? argv[0] : "", line);
}

int cmd_main(const struct cmd_program *program, char *const *argv, void *own)
{
	const char *name = program->root->name;
	struct cmd_run r = { .program = program, .own = own };
	struct err e = { 0 };

	/* A pager that is closed must not end a repair between two of its steps. */
	(void)signal(SIGPIPE, SIG_IGN);
	ctx_init(&r.ctx, name);
	if (run_line(&r, argv, &e)) {
		(void)fflush(stdout);
		explain_rights(argv, &e);
		out_complain(name, &e);
		if (r.status == CMD_OK)
			r.status = program->status ? program->status(&e) : CMD_FAILED;
	} else if (r.out.to && out_finish(&r.out, &e)) {
		if (e.errnum != EPIPE)
			out_complain(name, &e);
		r.status = CMD_FAILED;
	}
	opts_clear(&r.opts);
	return r.status;
}
