/* SPDX-License-Identifier: Apache-2.0 */
/* pkey.h: the partitions of InfiniBand that a pod should be a member of. */
#ifndef RAILHEAD_RAILCTL_DEVICE_PKEY_H
#define RAILHEAD_RAILCTL_DEVICE_PKEY_H

#include "lib/cli/cmd.h"
#include "diag/probe_data.h"

struct asked_pkeys {
	struct pkey_asked *one; /* owned */
	char **text;            /* owned: the strings of one */
	size_t n, n_texts;
};

/*
 * rdma_asked_pkeys - those of --pkey, and with --netns those of the records of attachments in that
 * namespace. rdma_asked_pkeys_clear() frees *out.
 */
int rdma_asked_pkeys(struct cmd_run *r, struct asked_pkeys *out, struct err *e) must_check;

void rdma_asked_pkeys_clear(struct asked_pkeys *a);
#define auto_asked_pkeys auto_clean(rdma_asked_pkeys_clear)

/* rdma_pkey_usage - the error for a --pkey that is none. Returns -1. */
int rdma_pkey_usage(struct cmd_run *r, const char *text, struct err *e);

#endif
