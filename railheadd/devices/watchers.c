/* SPDX-License-Identifier: Apache-2.0 */
/* watchers.c: a list of calls, and the message for those that come later. */
#include "railheadd/devices/watchers.h"

#include <stdlib.h>

struct watcher {
	TAILQ_ENTRY(watcher) all;
	struct watchers *list;
	struct grpc_call *call;
};

void watchers_init(struct watchers *w)
{
	TAILQ_INIT(&w->all);
}

void watchers_clear(struct watchers *w)
{
	free(w->last.data);
	w->last.data = NULL;
}

static void watchers_count(struct watchers *w, int more)
{
	w->n += (unsigned)more;
	if (w->changed)
		w->changed(w->arg);
}

static void watchers_forget(void *what)
{
	struct watcher *x = what;

	TAILQ_REMOVE(&x->list->all, x, all);
	watchers_count(x->list, -1);
	free(x);
}

void watchers_add(struct watchers *w, struct grpc_call *call)
{
	struct watcher *x = malloc(sizeof(*x));
	struct err e;

	if (!x) {
		(void)err_nomem(&e);
		grpc_call_refuse(call, &e);
		return;
	}
	*x = (struct watcher){ .list = w, .call = call };
	TAILQ_INSERT_TAIL(&w->all, x, all);
	watchers_count(w, 1);
	grpc_call_later(call, watchers_forget, x);
	if (w->last.data)
		(void)!grpc_call_send(call, w->last.data, w->last.len);
}

int watchers_send(struct watchers *w, struct proto_bytes message)
{
	struct watcher *x;

	if (!message.data)
		return -1;
	free(w->last.data);
	w->last = message;
	/* A connection for which there is no memory ends; the kubelet asks again. */
	TAILQ_FOREACH(x, &w->all, all)
	(void)!grpc_call_send(x->call, message.data, message.len);
	return 0;
}
