/* SPDX-License-Identifier: Apache-2.0 */
/* verbs_dmabuf.c: whether a device could register a GPU's memory, without a GPU. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "rdma/probe/verbs_priv.h"

#define PAGE 4096

/*
 * A driver with support for dma-bufs reads the descriptor, and rejects -1. A driver without support
 * fails earlier. NCCL tests in the same way.
 */
static enum verbs_answer answer_of(int errnum, char why[WIRE_TEXT])
{
	switch (errnum) {
	case EBADF:
		(void)snprintf(why, WIRE_TEXT, "the driver looked for the dma-buf");
		return VERBS_YES;
	case EOPNOTSUPP:
		(void)snprintf(why, WIRE_TEXT,
			       "the driver, or its half in libibverbs, has no such call");
		return VERBS_NO;
	case EPROTONOSUPPORT:
		(void)snprintf(why, WIRE_TEXT, "the kernel has no such call");
		return VERBS_NO;
	default:
		(void)snprintf(why, WIRE_TEXT, "the test ended with \"%s\"",
			       strerrordesc_np(errnum));
		return VERBS_NOT_KNOWN;
	}
}

int verbs_dmabuf(const char *name, enum verbs_answer *out, char why[WIRE_TEXT], struct err *e)
{
	struct ibv_context *ctx;

	if (verbs_open_device(name, &ctx, e))
		return -1;
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	if (!pd) {
		*out = answer_of(errno, why);
		*out = VERBS_NOT_KNOWN;
	} else {
		struct ibv_mr *mr = ibv_reg_dmabuf_mr(pd, 0, PAGE, 0, -1, IBV_ACCESS_LOCAL_WRITE);
		*out = answer_of(mr ? 0 : errno, why);
		if (mr)
			(void)ibv_dereg_mr(mr);
		(void)ibv_dealloc_pd(pd);
	}
	(void)ibv_close_device(ctx);
	return 0;
}
