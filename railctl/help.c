/* SPDX-License-Identifier: Apache-2.0 */
/* help.c: `railctl help` and --help, from the tables: as text, and as JSON for tests and
 * completion. */
#include <stdio.h>
#include <string.h>

#include "railctl/cmd.h"

#define HELP_WIDTH 80
#define OPT_INDENT 24

/* Words of text, broken at HELP_WIDTH; the cursor stands in column `at`, new lines start at indent.
 */
static void wrap(FILE *to, const char *text, size_t at, size_t indent)
{
	bool first = true;

	while (*text) {
		size_t len = strcspn(text, " \n");
		if (!first && at + 1 + len > HELP_WIDTH) {
			fprintf(to, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
		}
		fprintf(to, "%s%.*s", first ? "" : " ", (int)len, text);
		at += len + !first;
		first = false;
		text += len;
		while (*text == ' ')
			text++;
		if (*text == '\n') {
			fprintf(to, "\n%*s", (int)indent, "");
			at = indent;
			first = true;
			text++;
		}
	}
	fputc('\n', to);
}

/* Term, then its meaning in a column of its own. */
static void entry(FILE *to, const char *term, const char *meaning)
{
	size_t at = strlen(term) + 2;

	fprintf(to, "  %s", term);
	if (at + 2 > OPT_INDENT)
		fprintf(to, "\n%*s", OPT_INDENT, "");
	else
		fprintf(to, "%*s", (int)(OPT_INDENT - at), "");
	wrap(to, meaning, OPT_INDENT, OPT_INDENT);
}

static void options(FILE *to, const char *title, const struct opt *opts)
{
	char term[64];

	if (!opts || !opts->name)
		return;
	fprintf(to, "\n%s:\n", title);
	for (; opts->name; opts++) {
		(void)snprintf(term, sizeof(term), "--%s%s%s", opts->name, opts->value ? " " : "",
			       opts->value ? opts->value : "");
		entry(to, term, opts->help);
	}
}

static void as_text(const struct rail *r)
{
	const struct cmd *c = r->cmd;
	FILE *to = r->out.to;

	fprintf(to, "usage: %s%s%s%s [options]\n\n", r->path, c->sub ? " COMMAND" : "",
		c->words ? " " : "", c->words ? c->words : "");
	wrap(to, c->summary, 0, 0);
	if (c->about) {
		fputc('\n', to);
		wrap(to, c->about, 0, 0);
	}
	if (c->sub)
		fprintf(to, "\ncommands:\n");
	for (size_t i = 0; c->sub && c->sub[i]; i++)
		entry(to, c->sub[i]->name, c->sub[i]->summary);
	options(to, "options", c->opts);
	options(to, "options of every command", cmd_globals);
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
static int describe(struct json *list, const struct cmd *c, const char *path)
{
	struct json *o = json_push_object(list);
	char below[sizeof(((struct rail *)0)->path)];

	if (!o || json_add_str(o, "command", path) || json_add_bool(o, "group", c->sub) ||
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
		if (describe(list, c->sub[i], below))
			return -1;
	}
	return 0;
}

int cmd_help_show(const struct rail *r, struct err *e)
{
	if (!r->out.json) {
		as_text(r);
		return 0;
	}
	auto_json struct json *list = json_new_array();
	if (!list || describe(list, r->cmd, r->path))
		return err_nomem(e);
	return out_json(&r->out, list, e);
}

static int help(struct rail *r, struct err *e)
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
	.about = "With --json: the command and all commands below it as an array, with their "
		 "options "
		 "and examples.",
	.examples = help_examples,
	.max_words = 8,
	.run = help,
};
