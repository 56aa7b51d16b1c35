/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flip.c: a library to preload into a program that uses libibverbs. It damages one of the messages
 * that the program sends.
 *
 * FLIP=N: the N-th work request it posts, from 0. FLIP_AT=BYTE: that byte of it has a bit changed;
 * FLIP_AT=short: its last byte is missing. Without FLIP nothing is done.
 */
#include <dlfcn.h>
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef int post_send(struct ibv_qp *, struct ibv_send_wr *, struct ibv_send_wr **);
typedef struct ibv_qp *create_qp(struct ibv_pd *, struct ibv_qp_init_attr *);

/* The program under test has one thread and one device. */
static post_send *real_post_send;
static long posted;

static void spoil(struct ibv_sge *piece)
{
	const char *at = getenv("FLIP_AT");

	if (at && strcmp(at, "short") == 0)
		piece->length--;
	else
		((unsigned char *)(uintptr_t)piece->addr)[at ? strtoul(at, NULL, 10) : 0] ^= 1;
	fprintf(stderr, "flip: work request %ld\n", posted);
}

static int wrong_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	const char *which = getenv("FLIP");

	if (which && strtol(which, NULL, 10) == posted && wr->num_sge > 0)
		spoil(wr->sg_list);
	posted++;
	return real_post_send(qp, wr, bad);
}

__attribute__((visibility("default"))) struct ibv_qp *ibv_create_qp(struct ibv_pd *pd,
								    struct ibv_qp_init_attr *attr)
{
	create_qp *real = NULL;
	void *found = dlsym(RTLD_NEXT, "ibv_create_qp");

	memcpy(&real, &found, sizeof(real));
	struct ibv_qp *qp = real ? real(pd, attr) : NULL;
	if (qp && qp->context->ops.post_send != wrong_post_send) {
		real_post_send = qp->context->ops.post_send;
		qp->context->ops.post_send = wrong_post_send;
	}
	return qp;
}
