/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watchers.h: calls of kubelets that have no end. Each gets the last message, and each later one.
 * On the event loop.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_WATCHERS_H
#define RAILHEAD_RAILHEADD_DEVICES_WATCHERS_H

#include <sys/queue.h>

#include "lib/grpc/proto.h"
#include "lib/grpc/session.h"

struct watcher;
TAILQ_HEAD(watcher_list, watcher);
struct watchers {
	struct watcher_list all;
	unsigned n;
	struct proto_bytes last;    /* owned; data NULL: none yet */
	void (*changed)(void *arg); /* n differs; NULL: nobody asks */
	void *arg;
};

/* watchers_init - changed and arg are set by the caller. watchers_clear - no call must be left. */
void watchers_init(struct watchers *w);
void watchers_clear(struct watchers *w);

/* watchers_add - without memory the call is refused. */
void watchers_add(struct watchers *w, struct grpc_call *call);

/* watchers_send - a message for all, which is owned from now on. -1: its data is NULL, and no call
 * gets anything. */
int watchers_send(struct watchers *w, struct proto_bytes message) must_check;

#endif
