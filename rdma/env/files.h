/* SPDX-License-Identifier: Apache-2.0 */
/* files.h: the settings of a pod as files, which NCCL and UCX read themselves. */
#ifndef RAILHEAD_RDMA_ENV_FILES_H
#define RAILHEAD_RDMA_ENV_FILES_H

#include "lib/base/ctx.h"
#include "rdma/env/env.h"

/*
 * pod_files_put - write nccl.conf, ucx.conf, env, rails.json and explain.txt, mode 0644, to a
 * folder that exists. Each is replaced as a whole: a program that reads it meanwhile has the old
 * one or the new one.
 */
int pod_files_put(const struct env *x, const char *dir, struct err *e) must_check;

/*
 * pod_files_write - the same for the pod whose network namespace is at this path. The caller is on
 * the host, and calls it again when the pod's rails have changed. The folder is made if its parent
 * exists, mode 0755. Without a rail the files have no settings, and explain.txt has the reason. If
 * the traffic classes of the rails differ, none is set. A child does the work, for at most
 * POD_FILES_MS. ERR_NETNS, ERR_IO, ERR_NOMEM; ERR_DELEGATE: the child did not end in time.
 */
#define POD_FILES_MS 10000
int pod_files_write(const struct ctx *ctx, const char *netns, const char *dir,
		    struct err *e) must_check;

#endif
