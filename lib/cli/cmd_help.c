/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_help.c: --help and the commands `help` and `version`, from the tables of the commands. Text
 * has lines of 80 columns; JSON is for tests and completion.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/version.h"
#include "lib/cli/cmd_priv.h"

/* ---- layout ---- */

#define HELP_WIDTH 80
#define OPT_INDENT 24

/* Words of text, broken at HELP_WIDTH; the cursor stands in column `at`, new lines start at indent.
 */
static void wrap_text(FILE *to, const char *text, size_t at, size_t indent)
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

/* A paragraph; a line break in text is one in the output. */
static void help_wrap(FILE *to, const char *text)
{
	wrap_text(to, text, 0, 0);
}

/* Term, then its meaning in a column of its own. */
static void help_entry(FILE *to, const char *term, const char *meaning)
{
	size_t at = strlen(term) + 2;

	fprintf(to, "  %s", term);
	if (at + 2 > OPT_INDENT)
		fprintf(to, "\n%*s", OPT_INDENT, "");
	else
		fprintf(to, "%*s", (int)(OPT_INDENT - at), "");
	wrap_text(to, meaning, OPT_INDENT, OPT_INDENT);
}

/* The entries of all tables; nothing if there are none. */
static void help_options(FILE *to, const char *title, const struct opt *const tables[CMD_TABLES])
{
	char term[64];

	if (!tables[0] || !tables[0]->name)
		return;
	fprintf(to, "\n%s:\n", title);
	for (size_t i = 0; i < CMD_TABLES && tables[i]; i++) {
		for (const struct opt *o = tables[i]; o->name; o++) {
			(void)snprintf(term, sizeof(term), "--%s%s%s", o->name, o->value ? " " : "",
				       o->value ? o->value : "");
			help_entry(to, term, o->help);
		}
	}
}

/* ---- text ---- */

static void as_text(const struct cmd_run *r)
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
	help_options(to, "options of every command",
		     (const struct opt *const[CMD_TABLES]){ r->program->globals });
	if (c->examples)
		fprintf(to, "\nexamples:\n");
	for (size_t i = 0; c->examples && c->examples[i]; i++)
		fprintf(to, "  %s\n", c->examples[i]);
}

/* ---- JSON ---- */

static int describe_options(struct json *list, const struct opt *const tables[CMD_TABLES])
{
	for (size_t i = 0; list && i < CMD_TABLES && tables[i]; i++) {
		for (const struct opt *opt = tables[i]; opt->name; opt++) {
			struct json *o = json_push_object(list);

			if (!o || json_add_str(o, "name", opt->name) ||
			    json_add_str(o, "value", opt->value) ||
			    json_add_bool(o, "repeatable", opt->flags & OPT_MANY) ||
			    json_add_str(o, "help", opt->help))
				return -1;
		}
	}
	return list ? 0 : -1;
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
static int describe_cmd(struct json *list, const struct cmd_program *p, const struct cmd *c,
			const char *path)
{
	struct json *o = json_push_object(list);
	char below[sizeof(((struct cmd_run *)0)->path)];

	if (!o || json_add_str(o, "command", path) ||
	    json_add_bool(o, "group", c->sub && !c->run) ||
	    json_add_str(o, "words", c->words ? c->words : "") ||
	    json_add_str(o, "summary", c->summary) ||
	    describe_options(json_add_array(o, "options"), c->opts) ||
	    describe_examples(json_add_array(o, "examples"), c->examples))
		return -1;
	if (c == p->root && describe_options(json_add_array(o, "globalOptions"),
					     (const struct opt *const[CMD_TABLES]){ p->globals }))
		return -1;
	for (size_t i = 0; c->sub && c->sub[i]; i++) {
		(void)snprintf(below, sizeof(below), "%.100s %.24s", path, c->sub[i]->name);
		if (describe_cmd(list, p, c->sub[i], below))
			return -1;
	}
	return 0;
}

int cmd_help_show(const struct cmd_run *r, struct err *e)
{
	if (!r->out.json || r->program->flat) {
		as_text(r);
		return 0;
	}
	auto_json struct json *list = json_new_array();
	if (!list || describe_cmd(list, r->program, r->cmd, r->path))
		return err_nomem(e);
	return out_json(&r->out, list, e);
}

int cmd_run_help(struct cmd_run *r, struct err *e)
{
	if (cmd_resolve(r, r->opts.words, r->opts.n_words, e))
		return -1;
	return cmd_help_show(r, e);
}

/* ---- version ---- */

int cmd_run_version(struct cmd_run *r, struct err *e)
{
	auto_json struct json *o = json_new_object();

	if (!r->out.json) {
		out_line(&r->out, OUT_PLAIN, "%s %s", r->program->root->name, RAILHEAD_VERSION);
		return 0;
	}
	if (!o || json_add_str(o, "name", r->program->root->name) ||
	    json_add_str(o, "version", RAILHEAD_VERSION))
		return err_nomem(e);
	return out_json(&r->out, o, e);
}
