/* SPDX-License-Identifier: Apache-2.0 */
/* node_file.c: reads and writes node.json with the rules for files that only root may write. */
#include "ipam/conf/node_file.h"

#include <errno.h>
#include <stdio.h>

#include "ipam/conf/labels.h"
#include "lib/sys/fs.h"
#include "lib/sys/safe_path.h"

#define FILE_MAX 4096

/* 1: there is none */
static int conf_read_file(const struct ctx *ctx, char **text, size_t *len, struct err *e)
{
	struct err why;

	if (!ctx->etc_dir)
		return 1;
	auto_fd int dir = safe_open_dir(ctx->etc_dir, SAFE_OWNED, &why);
	ssize_t n = dir < 0 ? -1 : fs_read_trusted_at(dir, NODE_FILE, FILE_MAX, text, &why);
	if (n < 0 && why.errnum == ENOENT)
		return 1;
	if (n < 0)
		return err_pass(e, &why);
	*len = (size_t)n;
	return 0;
}

int node_file_load(const struct ctx *ctx, const char *hostname, struct node_file *out,
		   struct err *e)
{
	auto_node_file struct node_file f = { .tree = NULL };
	auto_free char *text = NULL;
	size_t len = 0;
	int rc = conf_read_file(ctx, &text, &len, e);

	if (rc == 0)
		rc = json_parse(text, len, NODE_FILE, &f.tree, e)
			     ? -1
			     : node_number_decode(f.tree, hostname, &f.number, e);
	f.labels = json_get(f.tree, "labels");
	if (rc < 0 || labels_check(f.labels, "labels", e))
		return err_wrap(e, "%s/%s", ctx->etc_dir, NODE_FILE);
	*out = f;
	f.tree = NULL;
	return rc;
}

void node_file_clear(struct node_file *f)
{
	json_free(f->tree);
	*f = (struct node_file){ .tree = NULL };
}

int node_file_number(const struct ctx *ctx, const char *hostname, uint32_t *out, struct err *e)
{
	auto_node_file struct node_file f = { .tree = NULL };
	int rc = node_file_load(ctx, hostname, &f, e);

	if (rc < 0)
		return -1;
	if (rc == 0) {
		*out = f.number.number;
		return 0;
	}
	err_set(e, ERR_CONFIG, 0, "node %.64s has no number, and a slice of the pool needs one",
		hostname);
	return err_hint(
		e, "give each node a number of its own, from 0: `railctl ipam node set 17`, or "
		   "`railctl ipam node set --hostname-pattern 'gpu-(\\d+)'`");
}

int node_file_read(const struct ctx *ctx, struct json **out, struct err *e)
{
	auto_json struct json *tree = NULL;
	auto_free char *text = NULL;
	size_t len = 0;
	int rc = conf_read_file(ctx, &text, &len, e);

	if (rc == 0 && (json_parse(text, len, NODE_FILE, &tree, e) ||
			labels_check(json_get(tree, "labels"), "labels", e)))
		rc = -1;
	if (rc < 0)
		return err_wrap(e, "%s/%s", ctx->etc_dir, NODE_FILE);
	*out = tree;
	tree = NULL;
	return 0;
}

static int node_file_add_labels(struct json *all, const struct json *labels, struct err *e)
{
	json_each (item, labels) {
		json_del(all, json_key(item));
		if (json_add_copy(all, json_key(item), item))
			return err_nomem(e);
	}
	return 0;
}

int node_labels_load(const struct ctx *ctx, const char *node, const struct json *cluster,
		     struct json **out, struct err *e)
{
	auto_json struct json *file = NULL, *all = NULL;

	if (node_file_read(ctx, &file, e))
		return -1;
	all = json_new_object();
	if (!all || (*node && json_add_str(all, LABEL_OF_NODE_NAME, node)))
		return err_nomem(e);
	if (node_file_add_labels(all, cluster, e) ||
	    node_file_add_labels(all, json_get(file, "labels"), e))
		return -1;
	*out = all;
	all = NULL;
	return 0;
}

int node_file_write(const struct ctx *ctx, const struct json *n, struct err *e)
{
	auto_free char *text = json_print(n, true);
	auto_free char *line = NULL;

	if (!text || asprintf(&line, "%s\n", text) < 0)
		return err_nomem(e);
	auto_fd int dir = safe_open_dir(ctx->etc_dir, SAFE_OWNED | SAFE_CREATE, e);
	if (dir < 0 || fs_replace_at(dir, NODE_FILE, line, true, e))
		return err_wrap(e, "%s/%s", ctx->etc_dir, NODE_FILE);
	return 0;
}
