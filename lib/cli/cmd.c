/* SPDX-License-Identifier: Apache-2.0 */
#include "lib/cli/cmd.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const struct opt cmd_globals[] = {
	{ "json", NULL, "print JSON, for programs", 0 },
	{ "data-dir", "DIR",
	  "use the store of networks with this dataDir, not /var/lib/railhead/ipam", 0 },
	{ "run-dir", "DIR", "the folder of the attachments' records (default: /run/railhead)", 0 },
	{ "no-color", NULL, "no colours, even on a terminal", 0 },
	{ "help", NULL, "show help for the command", 0 },
	{ "version", NULL, "print the version", 0 },
	{ NULL, NULL, NULL, 0 },
};

int cmd_usage(struct ctl *r, struct err *e, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	r->status = CTL_USAGE;
	return err_set(e, ERR_CONFIG, 0, "%s", text);
}

static const struct cmd *find_sub(const struct cmd *group, const char *name)
{
	for (size_t i = 0; group->sub && group->sub[i]; i++) {
		if (strcmp(group->sub[i]->name, name) == 0)
			return group->sub[i];
	}
	return NULL;
}

static void enter_cmd(struct ctl *r, const struct cmd *cmd)
{
	size_t len = strlen(r->path);

	(void)snprintf(r->path + len, sizeof(r->path) - len, "%s%s", len ? " " : "", cmd->name);
	r->cmd = cmd;
}

static int unknown_command(struct ctl *r, const char *word, struct err *e)
{
	const char *best = NULL;

	for (size_t i = 0; r->cmd->sub[i]; i++)
		(void)opt_nearer(word, r->cmd->sub[i]->name, &best);
	cmd_usage(r, e, "\"%.64s\" is no command of \"%s\"", word, r->path);
	if (best)
		return err_hint(e, "did you mean \"%s %s\"?", r->path, best);
	return err_hint(e, "\"%s --help\" lists them", r->path);
}

int cmd_resolve(struct ctl *r, const char *const *words, size_t n, struct err *e)
{
	r->path[0] = '\0';
	enter_cmd(r, r->root);
	for (size_t i = 0; i < n; i++) {
		if (!r->cmd->sub)
			return cmd_usage(r, e, "\"%s\" has no commands below it", r->path);
		const struct cmd *next = find_sub(r->cmd, words[i]);
		if (!next)
			return unknown_command(r, words[i], e);
		enter_cmd(r, next);
	}
	return 0;
}

static int bad_options(struct ctl *r, struct err *e)
{
	if (e->code != ERR_NOMEM)
		r->status = CTL_USAGE;
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
static int check_inherited(struct ctl *r, struct err *e)
{
	for (size_t i = 0; i < r->opts.n_values; i++) {
		const char *name = r->opts.values[i].opt->name;

		if (has_option(cmd_globals, name) || has_option(r->cmd->opts, name))
			continue;
		cmd_usage(r, e, "\"%s\" has no option --%s", r->path, name);
		return err_hint(e, "see \"%s --help\"", r->path);
	}
	return 0;
}

/* Command words with options between them, then the command's own options and words. */
static int parse_line(struct ctl *r, char *const *argv, struct err *e)
{
	int i = argv[0] ? 1 : 0;

	enter_cmd(r, r->root);
	while (r->cmd->sub) {
		const struct opt *const tables[] = { cmd_globals, r->cmd->opts, NULL };
		int n = opt_parse(argv + i, tables, true, &r->opts, e);
		if (n < 0)
			return bad_options(r, e);
		i += n;
		if (!argv[i])
			return 0;
		const struct cmd *next = find_sub(r->cmd, argv[i]);
		if (!next)
			return unknown_command(r, argv[i], e);
		enter_cmd(r, next);
		if (check_inherited(r, e))
			return -1;
		i++;
	}
	const struct opt *const own[] = { cmd_globals, r->cmd->opts, NULL };
	if (opt_parse(argv + i, own, false, &r->opts, e) < 0)
		return bad_options(r, e);
	return 0;
}

static int check_words(struct ctl *r, struct err *e)
{
	const struct cmd *c = r->cmd;

	if (!c->run) {
		cmd_usage(r, e, "\"%s\" needs a command", r->path);
		return err_hint(e, "\"%s --help\" lists them", r->path);
	}
	if (r->opts.n_words < c->min_words) {
		cmd_usage(r, e, "\"%s\" needs %s", r->path, c->words);
		return err_hint(e, "see \"%s --help\"", r->path);
	}
	if (r->opts.n_words > c->max_words) {
		cmd_usage(r, e, "\"%s\": \"%.64s\" is one word too many", r->path,
			  r->opts.words[c->max_words]);
		return err_hint(e, "see \"%s --help\"", r->path);
	}
	return 0;
}

static int take_dir(struct ctl *r, const char *option, const char **dir, struct err *e)
{
	const char *value = opt_get(&r->opts, option);

	if (!value)
		return 0;
	if (value[0] != '/')
		return cmd_usage(r, e, "--%s \"%.256s\" must be an absolute path", option, value);
	*dir = value;
	return 0;
}

static int run_line(struct ctl *r, char *const *argv, struct err *e)
{
	if (parse_line(r, argv, e))
		return -1;
	out_init(&r->out, stdout, opt_is_set(&r->opts, "json"), opt_is_set(&r->opts, "no-color"));
	if (opt_is_set(&r->opts, "help"))
		return cmd_help_show(r, e);
	if (opt_is_set(&r->opts, "version"))
		return cmd_version.run(r, e);
	if (check_words(r, e) || take_dir(r, "data-dir", &r->data_dir, e) ||
	    take_dir(r, "run-dir", &r->ctx.run_dir, e))
		return -1;
	return r->cmd->run(r, e);
}

int cmd_main(const struct cmd *root, char *const *argv)
{
	struct ctl r = { .root = root };
	struct err e = { 0 };

	/* A pager that is closed must not end a repair between two of its steps. */
	(void)signal(SIGPIPE, SIG_IGN);
	ctx_init(&r.ctx, "railctl");
	int rc = run_line(&r, argv, &e);
	if (rc) {
		(void)fflush(stdout);
		out_complain("railctl", &e);
	} else if (r.out.to && out_finish(&r.out, &e)) {
		if (e.errnum != EPIPE)
			out_complain("railctl", &e);
		rc = -1;
	}
	opts_clear(&r.opts);
	return rc && r.status == CTL_OK ? CTL_FAILED : r.status;
}
