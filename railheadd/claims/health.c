/* SPDX-License-Identifier: Apache-2.0 */
/* health.c: the calls of NodeWatchResources. */
#include "railheadd/claims/health.h"

#include <stdlib.h>
#include <string.h>

struct health_watcher {
	TAILQ_ENTRY(health_watcher) all;
	struct health_watchers *list;
	struct grpc_call *call;
};

void health_init(struct health_watchers *h)
{
	TAILQ_INIT(&h->all);
	h->last = NULL;
	h->len = 0;
}

void health_clear(struct health_watchers *h)
{
	free(h->last);
	h->last = NULL;
}

static void health_forget(void *what)
{
	struct health_watcher *w = what;

	TAILQ_REMOVE(&w->list->all, w, all);
	free(w);
}

void health_watch(struct health_watchers *h, struct grpc_call *call)
{
	struct health_watcher *w = malloc(sizeof(*w));
	struct err e;

	if (!w) {
		(void)err_nomem(&e);
		grpc_call_refuse(call, &e);
		return;
	}
	*w = (struct health_watcher){ .list = h, .call = call };
	TAILQ_INSERT_TAIL(&h->all, w, all);
	grpc_call_later(call, health_forget, w);
	if (h->last)
		(void)!grpc_call_send(call, h->last, h->len);
}

void health_send(struct health_watchers *h, const uint8_t *message, size_t len)
{
	uint8_t *copy = malloc(len + 1);
	struct health_watcher *w;

	if (!copy)
		return;
	memcpy(copy, message, len);
	free(h->last);
	h->last = copy;
	h->len = len;
	/* A connection for which there is no memory ends; the kubelet asks again. */
	TAILQ_FOREACH(w, &h->all, all)
	(void)!grpc_call_send(w->call, copy, len);
}
