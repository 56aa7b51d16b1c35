/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ahead.h: reads what a Prepare needs before its child begins, on the event loop. The connection to
 * the API server stays open, for the beginning of TLS is half of what a Prepare takes.
 */
#ifndef RAILHEAD_RAILHEADD_CLAIMS_AHEAD_H
#define RAILHEAD_RAILHEADD_CLAIMS_AHEAD_H

#include "railheadd/claims/dra.h"

struct agent_conf_kube;
struct event_base;

struct ahead {
	struct event_base *base;            /* borrowed, as kube */
	const struct agent_conf_kube *kube; /* what api_open() takes */
	struct api *api;                    /* owned; NULL: not open */
	unsigned n;                         /* readings */
	bool stale;                         /* the connection may be bad: a new one is to be made */
};

/*
 * ahead_begin - read claim and pod of a request with one claim into it. done is called once. An
 * object that cannot be read is NULL then, and the child reads it. NULL: nothing is read, and done
 * is not called. ahead_cancel - done is not called any more. NULL is fine. ahead_clear - without
 * readings.
 */
struct ahead_read;
struct ahead_read *ahead_begin(struct ahead *a, struct dra_request *r, void (*done)(void *arg),
			       void *arg);
void ahead_cancel(struct ahead_read *x);
void ahead_clear(struct ahead *a);

#endif
