/* SPDX-License-Identifier: Apache-2.0 */
/* needed.c: notes the programs that attachments need, and names the attachments. */
#include "install/needed.h"

#include <stdio.h>
#include <string.h>

#define EXAMPLES 3

bool needed_has(const struct needed *x, const char *name)
{
	for (size_t i = 0; i < x->n; i++) {
		if (strcmp(x->name[i], name) == 0)
			return true;
	}
	return x->all;
}

void needed_add_program(struct needed *x, const char *name)
{
	if (needed_has(x, name))
		return;
	/* No program of an install has such a name. */
	if (!program_name_valid(name))
		return;
	if (x->n == ARRAY_SIZE(x->name)) {
		x->all = true;
		return;
	}
	memcpy(x->name[x->n++], name, strlen(name) + 1);
}

void needed_add_all(struct needed *x, const char *what)
{
	if (!*x->all_for)
		(void)snprintf(x->all_for, sizeof(x->all_for), "%s", what);
	x->all = true;
}

static void add_example(struct needed *x, const char *what)
{
	size_t len = strlen(x->examples);

	if (x->attachments <= EXAMPLES)
		(void)snprintf(x->examples + len, sizeof(x->examples) - len, "%s%s",
			       len ? ", " : "", what);
}

void needed_add_cached(struct needed *x, const char *what)
{
	x->attachments++;
	x->cached++;
	add_example(x, what);
}

void needed_add(struct needed *x, const struct record *r)
{
	const char *type = r->tree ? json_text(r->config, "type") : "";
	char what[100];

	x->attachments++;
	(void)snprintf(what, sizeof(what), "%.64s %.12s %.15s", r->key.network, r->key.container,
		       r->key.ifname);
	add_example(x, what);
	if (!*type || r->name_mismatch) {
		needed_add_all(x, what);
		return;
	}
	needed_add_program(x, type);
	needed_add_program(x, json_text(json_get(r->config, "ipam"), "type"));
}

int needed_refuse(const struct needed *x, struct err *e)
{
	bool one = x->attachments == 1;

	err_set(e, ERR_BUSY, 0,
		"%zu attachment%s of this node still need%s the plugins for %s DEL: "
		"%s%s",
		x->attachments, one ? "" : "s", one ? "s" : "", one ? "its" : "their", x->examples,
		x->attachments > EXAMPLES ? ", ..." : "");
	if (x->cached)
		err_hint(e,
			 "known only by files of libcni in %s: %zu. DEL removes such a file; if "
			 "pod and sandbox are gone, remove it by hand",
			 x->cni_dir, x->cached);
	return err_hint(e, "delete their pods, and undo those without a pod with \"railctl "
			   "attachments repair\"; then try again");
}
