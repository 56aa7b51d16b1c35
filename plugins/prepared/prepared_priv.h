/* SPDX-License-Identifier: Apache-2.0 */
/* prepared_priv.h: what the files of prepared claims share among themselves. */
#ifndef RAILHEAD_PLUGINS_PREPARED_PREPARED_PRIV_H
#define RAILHEAD_PLUGINS_PREPARED_PREPARED_PRIV_H

#include "plugins/prepared/prepared.h"

#define PREPARED_RESULT ".result" /* behind the UID of the claim */

/* ---- file.c ---- */

/* The folder of a pod, with the pod's lock. */
struct prepared_pod {
	int all, dir, lock; /* -1: not open */
};
#define PREPARED_CLOSED                                                                            \
	{                                                                                          \
		-1, -1, -1                                                                         \
	}

/*
 * prepared_open - 1: open; 0: the pod has no folder, and create is false. ERR_AGAIN: another
 * program works on the claims of the pod. prepared_close - also removes the folder if it is empty.
 */
int prepared_open(const struct ctx *ctx, const char *pod_uid, bool create, struct prepared_pod *out,
		  struct err *e) must_check;
void prepared_close(struct prepared_pod *p, const char *pod_uid);

/* prepared_read_at - prepared_read() in the open folder of the pod. */
int prepared_read_at(int dir, const char *pod_uid, const char *claim_uid, struct prepared *out,
		     struct err *e) must_check;

/* prepared_name_of - "UID" of "UID.json"; false: it is not the file of a claim. Pure. */
bool prepared_name_of(const char *file, char uid[64]);

#endif
