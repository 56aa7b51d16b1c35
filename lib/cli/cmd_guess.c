/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_guess.c: "did you mean": the command of a program that an unknown word stands for. */
#include <stdio.h>
#include <string.h>

#include "lib/base/near.h"
#include "lib/cli/cmd_priv.h"

#define GUESSES_MAX 3 /* if more commands have the name, none is suggested */

struct guesses {
	const char *name;
	size_t n;
	char text[200]; /* "tool pool list" or "tool list" */
};

static void nearest_below(const struct cmd *c, const char *word, const char **best)
{
	for (size_t i = 0; c->sub && c->sub[i]; i++) {
		(void)near_word(word, c->sub[i]->name, best);
		nearest_below(c->sub[i], word, best);
	}
}

static void add_guess(struct guesses *g, const char *path)
{
	size_t len = strlen(g->text);

	g->n++;
	(void)snprintf(g->text + len, sizeof(g->text) - len, "%s\"%s\"", len ? " or " : "", path);
}

/* All commands below c that have the name. */
static void find_named(const struct cmd *c, const char *path, struct guesses *g)
{
	char own[128];

	for (size_t i = 0; c->sub && c->sub[i]; i++) {
		(void)snprintf(own, sizeof(own), "%s %s", path, c->sub[i]->name);
		if (strcmp(c->sub[i]->name, g->name) == 0)
			add_guess(g, own);
		find_named(c->sub[i], own, g);
	}
}

int cmd_guess(const struct cmd_run *r, const char *word, struct err *e)
{
	const struct cmd *root = r->program->root;
	const struct cmd_alias *a = r->cmd->aliases;
	struct guesses g = { .name = NULL };

	for (; a && a->word; a++)
		if (strcmp(a->word, word) == 0)
			return err_hint(e, "did you mean \"%s %s\"?", r->path, a->meant);
	for (size_t i = 0; r->cmd->sub[i]; i++)
		(void)near_word(word, r->cmd->sub[i]->name, &g.name);
	if (g.name)
		return err_hint(e, "did you mean \"%s %s\"?", r->path, g.name);
	nearest_below(root, word, &g.name);
	if (g.name)
		find_named(root, root->name, &g);
	if (g.n && g.n <= GUESSES_MAX)
		return err_hint(e, "did you mean %s?", g.text);
	return r->program->flat ? -1 : err_hint(e, "\"%s --help\" lists them", r->path);
}
