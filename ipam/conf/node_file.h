/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_file.h: the file <etc_dir>/node.json: which number has this node, and which labels.
 *
 * The file counts only if root alone may write it and its folders. It is read only when a pool has
 * slices, or is for some nodes only.
 */
#ifndef RAILHEAD_IPAM_CONF_NODE_FILE_H
#define RAILHEAD_IPAM_CONF_NODE_FILE_H

#include "ipam/conf/node_number.h"
#include "lib/base/ctx.h"

#define NODE_FILE "node.json"

struct node_file {
	struct json *tree;         /* owned; NULL: there is no file */
	struct node_number number; /* if the file has one */
	const struct json *labels; /* NULL: none. Borrowed from the tree */
};

/*
 * node_file_load - read the file. Returns 1 if it has no number, or does not exist: then *out is
 * empty. ERR_CONFIG, ERR_DECODE, ERR_FORBIDDEN, ERR_IO: the message begins with the path.
 * node_file_clear - free it.
 */
int node_file_load(const struct ctx *ctx, const char *hostname, struct node_file *out,
		   struct err *e) must_check;
void node_file_clear(struct node_file *f);
#define auto_node_file auto_clean(node_file_clear)

/*
 * node_file_number - the number alone, for a command that needs one. No file is ERR_CONFIG with the
 * command that writes it.
 */
int node_file_number(const struct ctx *ctx, const char *hostname, uint32_t *out,
		     struct err *e) must_check;

/*
 * node_file_read - the object in the file; NULL: there is no file. Its labels are checked, its
 * number is not. The caller frees *out. Errors as above.
 */
int node_file_read(const struct ctx *ctx, struct json **out, struct err *e) must_check;

/*
 * node_labels_load - the labels of this node: its name as LABEL_OF_NODE_NAME, those of its Node in
 * Kubernetes (NULL: none), and those of the file. Of one label the later value counts. The caller
 * frees *out. Errors as above.
 */
int node_labels_load(const struct ctx *ctx, const char *node, const struct json *cluster,
		     struct json **out, struct err *e) must_check;

/* node_file_write - replace the file in one step; a missing folder is made. ERR_IO, ERR_FORBIDDEN.
 */
int node_file_write(const struct ctx *ctx, const struct json *n, struct err *e) must_check;

#endif
