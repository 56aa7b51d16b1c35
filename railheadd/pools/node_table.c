/* SPDX-License-Identifier: Apache-2.0 */
/* node_table.c: a sorted array; lists of names come in order, so most rows are appended. */
#include "railheadd/pools/node_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipam/block/object_json.h"
#include "lib/base/array.h"
#include "railheadd/pools/number_twins.h"

#define SECOND INT64_C(1000000000)

void node_table_clear(struct node_table *t)
{
	free(t->rows);
	*t = (struct node_table){ .rows = NULL };
}

/* The first row whose name is not before this one. */
static size_t node_table_place_of(const struct node_table *t, const char *name)
{
	return ARRAY_PLACE(i, t->n, strcmp(t->rows[i].name, name) < 0);
}

struct node_row *node_table_find(const struct node_table *t, const char *name)
{
	size_t i = node_table_place_of(t, name);

	return i < t->n && strcmp(t->rows[i].name, name) == 0 ? &t->rows[i] : NULL;
}

static struct node_row *row_of(struct node_table *t, const char *name, struct err *e)
{
	struct node_row *row = node_table_find(t, name);
	size_t i = node_table_place_of(t, name);

	if (row)
		return row;
	if (ARRAY_GROW(t->rows, t->n, NODE_TABLE_MAX, "nodes", e))
		return NULL;
	row = &t->rows[i];
	memmove(row + 1, row, (t->n - i) * sizeof(*row));
	t->n++;
	*row = (struct node_row){ .number = -1 };
	(void)snprintf(row->name, sizeof(row->name), "%s", name);
	return row;
}

static void note_beat(struct node_row *row, const struct cluster_object *o,
		      const struct node_table_look *look)
{
	const struct node_row *before = node_table_find(look->seen, row->name);
	struct err ignored;

	row->beats = heartbeat_from_json(o->value, o->name, &row->beat, &ignored) == 0;
	if (before && before->beats)
		row->watch = before->watch;
	row->silent = beat_seen(&row->watch, &o->at, look->sent, look->now);
}

/* ---- pools that a node has no report of ---- */

int pool_marks_add(struct pool_marks *m, const struct cluster_object *o, struct err *e)
{
	struct pool_mark *x;

	/* No agent takes over a pool with such a name. */
	if (strlen(o->name) > GRID_POOL_MAX)
		return 0;
	if (ARRAY_GROW(m->at, m->n, NODE_TABLE_MAX, "shared pools", e))
		return -1;
	x = &m->at[m->n++];
	*x = (struct pool_mark){ .generation = o->generation };
	memcpy(x->name, o->name, strlen(o->name));
	memcpy(x->uid, o->at.uid, sizeof(x->uid));
	m->sum += node_pool_mark(x->uid, x->generation);
	return 0;
}

static int compare_marks(const void *a, const void *b)
{
	return strcmp(((const struct pool_mark *)a)->name, ((const struct pool_mark *)b)->name);
}

void pool_marks_sort(struct pool_marks *m)
{
	if (m->n)
		qsort(m->at, m->n, sizeof(*m->at), compare_marks);
}

static const struct pool_mark *find_mark(const struct pool_marks *m, const char *name)
{
	struct pool_mark key = { .generation = 0 };

	(void)snprintf(key.name, sizeof(key.name), "%s", name);
	return m->n ? bsearch(&key, m->at, m->n, sizeof(key), compare_marks) : NULL;
}

static void note_elsewhere(struct node_row *row, const struct json *value,
			   const struct node_table_look *look)
{
	const struct pool_mark *x = find_mark(look->marks, look->pool);
	uint64_t sum = look->marks->sum;

	json_each (report, json_get(value, "pools")) {
		const struct pool_mark *named = find_mark(look->marks, json_text(report, "name"));

		/* One that cannot be read is not taken over. */
		if (named && named == x)
			return;
		if (named)
			sum -= node_pool_mark(named->uid, named->generation);
	}
	if (!x || sum != node_elsewhere_find(value))
		return;
	row->pool = (struct node_pool){ .generation = x->generation };
	memcpy(row->pool.name, x->name, sizeof(x->name));
	memcpy(row->pool.uid, x->uid, sizeof(x->uid));
}

static void note_report(struct node_row *row, const struct json *value,
			const struct node_table_look *look)
{
	row->pool.name[0] = '\0';
	if (look->reserved)
		(void)node_reserved_find(value, &row->pool);
	else if (look->pool && !node_pool_find(value, look->pool, &row->pool) && look->marks)
		note_elsewhere(row, value, look);
}

int node_table_object(struct node_table *t, const struct cluster_object *o,
		      const struct node_table_look *look, struct err *e)
{
	const char *name = o->kind == CLUSTER_BLOCK ? o->node : o->name;
	struct node_row *row;
	struct err ignored;

	if (!*name || strlen(name) >= NODE_NAME_LEN)
		return 0;
	row = row_of(t, name, e);
	if (!row)
		return -1;
	if (o->kind == CLUSTER_BLOCK)
		row->blocks++;
	else if (o->kind == CLUSTER_HEARTBEAT)
		note_beat(row, o, look);
	else
		row->described = node_from_json(o->value, o->name, &row->is, &ignored) == 0;
	if (o->kind == CLUSTER_NODE) {
		row->number = node_number_of(o->value);
		note_report(row, o->value, look);
	}
	return 0;
}

/* ---- the answer ---- */

/* The statement of an operator is void once the heartbeat is another one. */
bool node_row_is_forgotten(const struct node_row *row)
{
	const struct cluster_version *said = &row->is.evidence, *is = &row->watch.at;

	return row->described && row->is.forgotten && strcmp(said->uid, is->uid) == 0 &&
	       strcmp(said->version, is->version) == 0;
}

static int add_beat(struct json *o, const struct node_row *row)
{
	struct json *beat;

	if (!row->beats)
		return json_add_null(o, "heartbeat");
	beat = json_add_object(o, "heartbeat");
	return !beat || json_add_int(beat, "seconds", row->silent / SECOND) ||
			       json_add_int(beat, "count", (int64_t)row->beat.count) ||
			       json_add_bool(beat, "twin", row->beat.twin)
		       ? -1
		       : 0;
}

static int node_table_add_text(struct json *o, const char *key, const char *text)
{
	return *text ? json_add_str(o, key, text) : 0;
}

/* The heartbeat is younger than the object, which is written at the start of an agent. */
static int node_table_add_row(struct json *list, const struct node_row *row, bool is_this)
{
	struct json *o = json_push_object(list);

	return !o || json_add_str(o, "name", row->name) ||
			       node_table_add_text(o, "holder",
						   row->beats ? row->beat.holder
							      : row->is.holder) ||
			       node_table_add_text(o, "machine",
						   row->beats ? row->beat.machine
							      : row->is.machine) ||
			       node_table_add_text(o, "boot",
						   row->beats ? row->beat.boot : row->is.boot) ||
			       node_table_add_text(o, "version", row->is.version) ||
			       json_add_bool(o, "forgotten", node_row_is_forgotten(row)) ||
			       add_beat(o, row) ||
			       json_add_int(o, "blocks", (int64_t)row->blocks) ||
			       node_number_put(o, row->number) ||
			       json_add_bool(o, "thisNode", is_this)
		       ? -1
		       : 0;
}

struct json *node_table_json(const struct node_table *t, const char *this_node)
{
	auto_json struct json *answer = json_new_object();
	struct json *list = answer ? json_add_array(answer, "nodes") : NULL;
	size_t shown = t->n < NODE_TABLE_SHOWN ? t->n : NODE_TABLE_SHOWN;

	for (size_t i = 0; list && i < shown; i++) {
		if (node_table_add_row(list, &t->rows[i], strcmp(t->rows[i].name, this_node) == 0))
			return NULL;
	}
	if (!list || json_add_int(answer, "more", (int64_t)(t->n - shown)))
		return NULL;
	return TAKE_PTR(answer);
}
