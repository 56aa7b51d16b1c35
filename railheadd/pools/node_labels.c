/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_labels.c: reads the labels of this node now and then, and compares them with what pools ask
 * for. The file node.json may change at any time without a sign; an ADD reads it itself.
 */
#include "railheadd/pools/node_labels.h"

#include <stdlib.h>
#include <string.h>

#include "ipam/conf/labels.h"
#include "ipam/conf/node_file.h"

#define READ_AGAIN INT64_C(10000000000)

/* True: they differ from those before. */
static bool node_labels_replace(struct node_labels *l, struct json *labels)
{
	char *text = json_print(labels, false);

	if (!text || (l->text && strcmp(l->text, text) == 0)) {
		free(text);
		json_free(labels);
		return false;
	}
	json_free(l->now);
	free(l->text);
	l->now = labels;
	l->text = text;
	return true;
}

/* True: the file differs from the one before. *file: owned; NULL: there is none. */
static bool node_labels_replace_file(struct node_labels *l, const struct json *file)
{
	char *text = file ? json_print(file, false) : strdup("");
	bool same = !text || (l->file && strcmp(l->file, text) == 0);

	free(same ? text : l->file);
	if (!same)
		l->file = text;
	return !same;
}

/* A number that cannot be read is none: no slice is assigned, either. */
static void note_number(struct node_labels *l, const struct json *file, const char *node)
{
	struct node_number n;
	struct err ignored;

	l->has_number = file && node_number_decode(file, node, &n, &ignored) == 0;
	if (l->has_number)
		l->number = n.number;
}

/* A label that an operator wrote on the Node has no effect then. */
static void log_overridden(const struct ctx *ctx, const struct json *cluster,
			   const struct json *file)
{
	json_each (item, json_get(file, "labels")) {
		const char *here = json_str(item),
			   *there = json_str(json_get(cluster, json_key(item)));

		if (there && strcmp(here, there) != 0)
			log_warn(&ctx->log,
				 "label %s: %s/" NODE_FILE " has \"%s\", the Node has \"%s\"; the "
				 "file counts",
				 json_key(item), ctx->etc_dir, here, there);
	}
}

bool node_labels_changed(struct node_labels *l, const struct ctx *ctx, const char *node,
			 int64_t now)
{
	auto_json struct json *file = NULL;
	struct json *labels = NULL;
	struct err why;
	bool changed;

	if (l->now && now < l->due)
		return false;
	l->due = now + READ_AGAIN;
	if (node_labels_load(ctx, node, l->cluster, &labels, &why) == 0) {
		l->failed = false;
		changed = node_labels_replace(l, labels);
		if (node_file_read(ctx, &file, &why))
			return changed;
		note_number(l, file, node);
		if (changed)
			log_overridden(ctx, l->cluster, file);
		return node_labels_replace_file(l, file) || changed;
	}
	if (!l->failed)
		log_error(&ctx->log, "the labels of this node stay as they were: %s", why.msg);
	l->failed = true;
	return false;
}

void node_labels_set(struct node_labels *l, struct json *cluster)
{
	json_free(l->cluster);
	l->cluster = cluster;
	l->due = 0;
}

void node_labels_clear(struct node_labels *l)
{
	json_free(l->cluster);
	json_free(l->now);
	free(l->text);
	free(l->file);
	*l = (struct node_labels){ .due = 0 };
}

bool node_labels_exclude(const struct node_labels *l, const struct json *definition)
{
	const struct json *nodes = json_get(definition, "nodes");
	struct err ignored;

	/* One that cannot be read is refused when the pool is used. */
	return nodes && selector_check(nodes, "nodes", &ignored) == 0 &&
	       !selector_matches(nodes, l->now);
}

int node_labels_explain(const struct node_labels *l, const char *pool,
			const struct json *definition, struct err *e)
{
	const struct json *nodes = json_get(definition, "nodes");
	auto_text struct text have = { 0 }, want = { 0 };

	selector_print(nodes, &want);
	labels_print_asked(nodes, l->now, &have);
	if (want.failed || have.failed)
		return err_nomem(e);
	return err_set(e, ERR_AGAIN, 0,
		       "pool %.100s is for nodes with %.300s; this node has %.200s", pool, want.s,
		       have.s);
}
