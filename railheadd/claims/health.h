/* SPDX-License-Identifier: Apache-2.0 */
/*
 * health.h: who watches the health of our devices: kubelets, whose calls have no end. On the event
 * loop.
 */
#ifndef RAILHEAD_RAILHEADD_CLAIMS_HEALTH_H
#define RAILHEAD_RAILHEADD_CLAIMS_HEALTH_H

#include <sys/queue.h>

#include "lib/grpc/session.h"

struct health_watcher;
TAILQ_HEAD(health_list, health_watcher);
struct health_watchers {
	struct health_list all;
	uint8_t *last; /* owned: the last message; NULL: none yet */
	size_t len;
};

/* health_init, health_clear - no call must be left then. */
void health_init(struct health_watchers *h);
void health_clear(struct health_watchers *h);

/* health_watch - the call gets the last message, and each later one. Without memory it is refused.
 */
void health_watch(struct health_watchers *h, struct grpc_call *call);

/* health_send - a message for all; it is copied. Without memory no watcher gets it, and the kubelet
 * reports "Unknown" after DRA_HEALTH_S. */
void health_send(struct health_watchers *h, const uint8_t *message, size_t len);

#endif
