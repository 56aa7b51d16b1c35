/* SPDX-License-Identifier: Apache-2.0 */
/* table_nodes.c: the reports of the nodes, compared with the object as the cluster store has it. */
#include "railheadd/pools/table_nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static const char *const states[] = { [POOL_NODE_DONE] = "done",
				      [POOL_NODE_WAITS] = "waits",
				      [POOL_NODE_SILENT] = "silent",
				      [POOL_NODE_FORGOTTEN] = "forgotten" };

int pool_asked_note(struct pool_asked *p, const struct cluster_object *o, struct err *e)
{
	if (strcmp(o->name, p->name) != 0)
		return 0;
	json_free(p->definition);
	p->definition = json_dup(o->value);
	if (!p->definition)
		return err_nomem(e);
	(void)snprintf(p->uid, sizeof(p->uid), "%s", o->at.uid);
	p->generation = o->generation;
	return 0;
}

/* The report is about this object, not about an earlier one of its name. */
static bool has_reported(const struct pool_asked *p, const struct node_row *row)
{
	return *row->pool.name && strcmp(row->pool.uid, p->uid) == 0;
}

/* A restored store uses generations again, so a higher one is another one. */
static bool is_done(const struct pool_asked *p, const struct node_row *row)
{
	return has_reported(p, row) && row->pool.generation == p->generation && !*row->pool.waits;
}

enum pool_node pool_node_of(const struct pool_asked *p, const struct node_row *row, int64_t silent)
{
	if (node_row_is_forgotten(row))
		return POOL_NODE_FORGOTTEN;
	if (is_done(p, row))
		return POOL_NODE_DONE;
	return !row->beats || row->silent >= silent ? POOL_NODE_SILENT : POOL_NODE_WAITS;
}

/* ---- the answer ---- */

static int table_nodes_add_node(struct json *list, const struct pool_asked *p,
				const struct node_row *row, enum pool_node state)
{
	struct json *o = json_push_object(list);
	bool reported = has_reported(p, row);

	if (!o || json_add_str(o, "name", row->name) || json_add_str(o, "state", states[state]))
		return -1;
	if (reported && row->pool.generation && json_add_int(o, "generation", row->pool.generation))
		return -1;
	if (reported && *row->pool.waits && json_add_str(o, "why", row->pool.waits))
		return -1;
	return row->beats ? json_add_int(o, "heartbeatSeconds", row->silent / SECOND) : 0;
}

/* Those that are not done come first, because an answer names a limited number. */
static int pools_add_nodes(struct json *answer, const struct pool_asked *p,
			   const struct node_table *t, int64_t silent)
{
	struct json *list = json_add_array(answer, "nodes");
	size_t count[ARRAY_SIZE(states)] = { 0 }, shown = 0;

	for (int done = 0; list && done <= 1; done++) {
		for (size_t i = 0; i < t->n; i++) {
			enum pool_node state = pool_node_of(p, &t->rows[i], silent);

			if ((state == POOL_NODE_DONE) != done)
				continue;
			count[state]++;
			if (shown < NODE_TABLE_SHOWN &&
			    table_nodes_add_node(list, p, &t->rows[i], state))
				return -1;
			shown += shown < NODE_TABLE_SHOWN;
		}
	}
	for (size_t i = 0; list && i < ARRAY_SIZE(states); i++) {
		if (json_add_int(answer, states[i], (int64_t)count[i]))
			return -1;
	}
	return !list || json_add_int(answer, "more", (int64_t)(t->n - shown)) ? -1 : 0;
}

struct json *pool_nodes_json(const struct pool_asked *p, const struct node_table *t, int64_t silent)
{
	auto_json struct json *answer = json_new_object();

	if (!answer || json_add_str(answer, "name", p->name) ||
	    json_add_str(answer, "uid", p->uid) ||
	    json_add_int(answer, "generation", p->generation) ||
	    (p->definition && json_add_copy(answer, "definition", p->definition)) ||
	    pools_add_nodes(answer, p, t, silent))
		return NULL;
	return TAKE_PTR(answer);
}
