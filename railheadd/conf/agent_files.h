/* SPDX-License-Identifier: Apache-2.0 */
/*
 * agent_files.h: agent.json and the files that it names.
 *
 * Each file counts only if root alone may write it and its folders.
 */
#ifndef RAILHEAD_RAILHEADD_CONF_AGENT_FILES_H
#define RAILHEAD_RAILHEADD_CONF_AGENT_FILES_H

#include "cluster/etcd/etcd.h"
#include "lib/base/ctx.h"
#include "lib/sys/file_stamp.h"
#include "railheadd/conf/agent_conf.h"

#define AGENT_CONF_FILE "agent.json" /* in etc_dir */
/* The name of the node if the file has none: one file serves all pods of a DaemonSet. */
#define AGENT_NODE_ENV "RAILHEAD_NODE"

struct agent_files {
	struct json *tree;      /* owned; NULL: there is no file */
	struct agent_conf conf; /* borrows from tree and node */
	char node[64];
	char *ca, *cert, *key, *password; /* owned; NULL: none */
	struct file_stamp stamps[4];      /* of these files */
	unsigned renewals;                /* of all four */
	const struct log *log;            /* of the store that reads them again; NULL: none */
};

/*
 * agent_files_load - path NULL: <etc_dir>/agent.json, which may be missing. ERR_CONFIG, ERR_DECODE,
 * ERR_FORBIDDEN, ERR_IO: the message begins with the path. Without all, the files that it names are
 * not read, and not the node unless there is a driver of claims. agent_files_clear - free it.
 */
int agent_files_load(const struct ctx *ctx, const char *path, bool all, struct agent_files *out,
		     struct err *e) must_check;
void agent_files_clear(struct agent_files *f);

/*
 * agent_files_trusted - ERR_FORBIDDEN unless root alone may write the file and its folders. Links
 * on the way are followed: the kubelet names its certificates by one.
 */
int agent_files_trusted(const char *path, struct err *e) must_check;

/*
 * agent_files_renew - if a file of etcd has changed since it was read: read all four again, and
 * count that in renewals. 1: it did so; 0: none has changed. -1: they cannot be read now, so the
 * old texts stay; it is not tried again before the next change.
 */
int agent_files_renew(struct agent_files *f, struct err *e) must_check;

/* agent_files_etcd - how to open etcd; borrows from f. Only if f->conf.has_etcd. */
struct etcd_conf agent_files_etcd(const struct agent_files *f);

#endif
