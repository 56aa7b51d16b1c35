/* SPDX-License-Identifier: Apache-2.0 */
/* help.c: `railctl help` and --help, from the tables: as text, and as JSON for tests and
 * completion. */
#include <stdio.h>
#include <string.h>

#include "lib/base/version.h"
#include "lib/cli/help.h"
#include "lib/cli/cmd.h"

static void as_text(const struct ctl *r)
{
	const struct cmd *c = r->cmd;
	FILE *to = r->out.to;

	const char *below = c->run ? " [COMMAND]" : " COMMAND";

	fprintf(to, "usage: %s%s%s%s [options]\n\n", r->path, c->sub ? below : "",
		c->words ? " " : "", c->words ? c->words : "");
	help_wrap(to, c->summary);
	if (c->about) {
		fputc('\n', to);
		help_wrap(to, c->about);
	}
	if (c->sub)
		fprintf(to, "\ncommands:\n");
	for (size_t i = 0; c->sub && c->sub[i]; i++)
		help_entry(to, c->sub[i]->name, c->sub[i]->summary);
	help_options(to, "options", c->opts);
	help_options(to, "options of every command", cmd_globals);
	if (c->examples)
		fprintf(to, "\nexamples:\n");
	for (size_t i = 0; c->examples && c->examples[i]; i++)
		fprintf(to, "  %s\n", c->examples[i]);
}

/* ---- JSON ---- */

static int describe_option(struct json *list, const struct opt *opt)
{
	struct json *o = json_push_object(list);

	if (!o || json_add_str(o, "name", opt->name) || json_add_str(o, "value", opt->value) ||
	    json_add_bool(o, "repeatable", opt->flags & OPT_MANY) ||
	    json_add_str(o, "help", opt->help))
		return -1;
	return 0;
}

static int describe_options(struct json *list, const struct opt *opts)
{
	if (!list)
		return -1;
	for (; opts && opts->name; opts++) {
		if (describe_option(list, opts))
			return -1;
	}
	return 0;
}

static int describe_examples(struct json *list, const char *const *examples)
{
	if (!list)
		return -1;
	for (; examples && *examples; examples++) {
		if (json_push_str(list, *examples))
			return -1;
	}
	return 0;
}

/* The command called path, and all below it; the tree is as deep as its tables. */
static int describe_cmd(struct json *list, const struct cmd *c, const char *path)
{
	struct json *o = json_push_object(list);
	char below[sizeof(((struct ctl *)0)->path)];

	if (!o || json_add_str(o, "command", path) ||
	    json_add_bool(o, "group", c->sub && !c->run) ||
	    json_add_str(o, "words", c->words ? c->words : "") ||
	    json_add_str(o, "summary", c->summary) ||
	    describe_options(json_add_array(o, "options"), c->opts) ||
	    describe_examples(json_add_array(o, "examples"), c->examples))
		return -1;
	if (strcmp(c->name, "railctl") == 0 &&
	    describe_options(json_add_array(o, "globalOptions"), cmd_globals))
		return -1;
	for (size_t i = 0; c->sub && c->sub[i]; i++) {
		(void)snprintf(below, sizeof(below), "%.100s %.24s", path, c->sub[i]->name);
		if (describe_cmd(list, c->sub[i], below))
			return -1;
	}
	return 0;
}

int cmd_help_show(const struct ctl *r, struct err *e)
{
	if (!r->out.json) {
		as_text(r);
		return 0;
	}
	auto_json struct json *list = json_new_array();
	if (!list || describe_cmd(list, r->cmd, r->path))
		return err_nomem(e);
	return out_json(&r->out, list, e);
}

static int help_run(struct ctl *r, struct err *e)
{
	if (cmd_resolve(r, r->opts.words, r->opts.n_words, e))
		return -1;
	return cmd_help_show(r, e);
}

static const char *const help_examples[] = {
	"railctl help ipam pool add",
	"railctl help --json",
	NULL,
};

const struct cmd cmd_help = {
	.name = "help",
	.words = "[COMMAND...]",
	.summary = "show help for a command",
	.about = "With --json: print the command and all commands below it as an array, with their "
		 "options and examples.",
	.examples = help_examples,
	.max_words = 8,
	.run = help_run,
};

/* ---- version ---- */

static int version_run(struct ctl *r, struct err *e)
{
	auto_json struct json *o = json_new_object();

	if (!r->out.json) {
		out_line(&r->out, OUT_PLAIN, "railctl %s", RAILHEAD_VERSION);
		return 0;
	}
	if (!o || json_add_str(o, "name", "railctl") ||
	    json_add_str(o, "version", RAILHEAD_VERSION))
		return err_nomem(e);
	return out_json(&r->out, o, e);
}

static const char *const version_examples[] = { "railctl version", NULL };

const struct cmd cmd_version = {
	.name = "version",
	.summary = "print the version",
	.examples = version_examples,
	.run = version_run,
};
