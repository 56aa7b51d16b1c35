/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_state.c: compares what a receipt says with what a folder has. */
#include "railheadd/watch/plugin_state.h"

#include <string.h>

static const char *const names[PLUGIN_STATES] = {
	[PLUGIN_INTACT] = "intact",
	[PLUGIN_OVERWRITTEN] = "overwritten",
	[PLUGIN_MISSING] = "missing",
	[PLUGIN_OTHER_BUILD] = "otherBuild",
};

enum plugin_state plugin_state_of(const struct receipt_program *p, const struct plan_item *seen)
{
	switch (seen->held) {
	case HELD_NONE:
		return PLUGIN_MISSING;
	case HELD_OURS:
		return strcmp(seen->held_sha256, p->sha256) == 0 ? PLUGIN_INTACT
								 : PLUGIN_OTHER_BUILD;
	case HELD_FOREIGN:
	case HELD_FOLDER:
		break;
	}
	return PLUGIN_OVERWRITTEN;
}

bool plugin_is_broken(enum plugin_state s)
{
	return s == PLUGIN_OVERWRITTEN || s == PLUGIN_MISSING;
}

static const struct plugin_row *plugin_state_find(const struct plugin_table *t, const char *name)
{
	for (size_t i = 0; i < t->n; i++) {
		if (strcmp(t->row[i].is.name, name) == 0)
			return &t->row[i];
	}
	return NULL;
}

const struct plugin_row *plugin_row_of(const struct plugin_table *t,
				       const struct receipt_program *p)
{
	const struct plugin_row *x = plugin_state_find(t, p->name);

	return x && strcmp(x->is.sha256, p->sha256) == 0 ? x : NULL;
}

bool plugin_is_news(const struct plugin_table *before, const struct plugin_row *now)
{
	const struct plugin_row *x = plugin_state_find(before, now->is.name);

	return (x ? x->state : PLUGIN_INTACT) != now->state;
}

static int plugin_state_add_names(const struct plugin_table *t, enum plugin_state s,
				  struct json *obj)
{
	struct json *list = json_add_array(obj, names[s]);

	if (!list)
		return -1;
	for (size_t i = 0; i < t->n; i++) {
		if (t->row[i].state == s && json_push_str(list, t->row[i].is.name))
			return -1;
	}
	return 0;
}

int plugin_table_add_status(const struct plugin_table *t, struct json *obj)
{
	int64_t intact = 0;

	for (size_t i = 0; i < t->n; i++)
		intact += t->row[i].state == PLUGIN_INTACT;
	return json_add_int(obj, names[PLUGIN_INTACT], intact) ||
			       plugin_state_add_names(t, PLUGIN_OVERWRITTEN, obj) ||
			       plugin_state_add_names(t, PLUGIN_MISSING, obj) ||
			       plugin_state_add_names(t, PLUGIN_OTHER_BUILD, obj)
		       ? -1
		       : 0;
}
