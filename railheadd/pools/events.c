/* SPDX-License-Identifier: Apache-2.0 */
/*
 * events.c: a queue, of which the first one is under way. An event without an answer is sent again
 * under the same name, so that it is never there twice.
 */
#include "railheadd/pools/events.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <sys/random.h>

#include "lib/base/hash.h"
#include "lib/sys/timer.h"
#include "railheadd/pools/event_limit.h"

#define QUEUE_MAX 64
#define TRIES     11 /* each pause is twice the one before: 3 minutes, if the first is 0.1 s */

struct queued {
	TAILQ_ENTRY(queued) all;
	struct cluster_event is; /* points below; to the configuration; to the table */
	char namespace[64], pod[254], uid[64];
	char note[CLUSTER_EVENT_NOTE_LEN];
	enum event_reason reason;
	char key[64];
	unsigned tries;
};
TAILQ_HEAD(queue, queued);

struct events {
	struct events_conf conf;
	struct event_limit limit, rail_limit;
	struct queue queue;
	size_t n;
	struct cluster_call *call; /* of the first one */
	struct timer *timer;
	struct events_counts counts;
	bool refused; /* the last one was, which was said in the log */
	events_lost_fn lost;
	void *lost_arg;
};

static const struct {
	const char *reason, *action;
	bool warning;
} words[] = {
	[EVENT_ADDRESS_CONFLICT] = { "AddressConflict", "Keep", true },
	[EVENT_BLOCK_LOST] = { "BlockLost", "Keep", true },
	[EVENT_NODE_CUT_OFF] = { "NodeCutOff", "Reconnect", true },
	[EVENT_REPAIRED] = { "Repaired", "Repair", false },
	[EVENT_REPAIR_FAILED] = { "RepairFailed", "Repair", true },
	[EVENT_PLUGIN_LOST] = { "PluginLost", "Check", true },
	[EVENT_PLUGIN_RESTORED] = { "PluginRestored", "Restore", false },
	[EVENT_RAIL_DEGRADED] = { "RailDegraded", "Check", true },
	[EVENT_RAIL_RECOVERED] = { "RailRecovered", "Check", false },
	[EVENT_RDMA_NOT_USED] = { "RDMANotUsed", "Check", true },
	[EVENT_POOL_REFUSED] = { "PoolRefused", "TakeOver", true },
};

/* ---- one after the other ---- */

static void forget_first(struct events *v)
{
	struct queued *q = TAILQ_FIRST(&v->queue);

	TAILQ_REMOVE(&v->queue, q, all);
	v->n--;
	free(q);
}

/* A missing right is said once; it may be given at any time. */
static void events_note_refusal(struct events *v, const struct err *why)
{
	v->counts.failed++;
	if (!v->refused)
		log_warn(&v->conf.ctx->log,
			 "the cluster store takes no event: %s (%s); this is not said again",
			 why->msg, why->detail);
	v->refused = true;
}

static void count_lost(struct events *v, const struct queued *q, const struct cluster_result *r)
{
	if (r->outcome == CLUSTER_REFUSED)
		events_note_refusal(v, &r->err);
	else
		v->counts.failed++;
	if (v->lost)
		v->lost(v->lost_arg, q->reason, q->key);
}

static void events_ended(void *arg, const struct cluster_result *r)
{
	struct events *v = arg;
	struct queued *q = TAILQ_FIRST(&v->queue);
	bool asked_to_wait = r->outcome == CLUSTER_REFUSED && r->retry_ms;

	v->call = NULL;
	if ((r->outcome == CLUSTER_AWAY || asked_to_wait) && ++q->tries < TRIES) {
		(void)timer_arm_ns(v->timer, v->conf.retry << (q->tries - 1));
		return;
	}
	/* It exists: an earlier try came late. */
	if (r->outcome == CLUSTER_OK || r->outcome == CLUSTER_EXISTS) {
		v->counts.told++;
		v->refused = false;
	} else {
		count_lost(v, q, r);
	}
	forget_first(v);
	if (v->n)
		(void)timer_arm_ns(v->timer, 0);
}

static void send_first(void *arg)
{
	struct events *v = arg;
	struct queued *q = TAILQ_FIRST(&v->queue);
	struct cluster_store *s = v->conf.store;

	v->call = s->ops->tell(s, &q->is, events_ended, v);
	if (!v->call)
		(void)timer_arm_ns(v->timer, v->conf.retry);
}

/* ---- the queue ---- */

static uint64_t events_key_of(const struct event_about *a)
{
	const bool of_job = a->reason == EVENT_RDMA_NOT_USED;
	const char *const texts[] = { words[a->reason].reason, a->namespace, of_job ? "" : a->pod,
				      of_job ? "" : a->uid, a->key };
	uint64_t h = HASH_START;

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		h = hash_add(h, texts[i], strlen(texts[i]) + 1);
	return h;
}

static void events_fill(const struct events *v, const struct event_about *a, struct queued *q)
{
	(void)snprintf(q->namespace, sizeof(q->namespace), "%s", a->namespace);
	(void)snprintf(q->pod, sizeof(q->pod), "%s", a->pod);
	(void)snprintf(q->uid, sizeof(q->uid), "%s", a->uid);
	(void)snprintf(q->key, sizeof(q->key), "%s", a->key);
	q->reason = a->reason;
	q->is = (struct cluster_event){ .at = v->conf.ctx->now(v->conf.ctx->clock),
					.node = v->conf.node,
					.reason = words[a->reason].reason,
					.action = words[a->reason].action,
					.warning = words[a->reason].warning,
					.note = q->note,
					.namespace = q->namespace,
					.pod = q->pod,
					.uid = q->uid,
					.of_pool = a->reason == EVENT_POOL_REFUSED };
	/* Nodes that say the same about a pool or a job make one event. */
	const bool shared = q->is.of_pool || a->reason == EVENT_RDMA_NOT_USED;

	if (shared)
		q->is.id = events_key_of(a);
	while (!shared && getrandom(&q->is.id, sizeof(q->is.id), 0) != sizeof(q->is.id))
		;
}

static struct event_limit *limit_of(struct events *v, enum event_reason reason)
{
	bool of_rails = reason == EVENT_RAIL_DEGRADED || reason == EVENT_RAIL_RECOVERED;

	return of_rails ? &v->rail_limit : &v->limit;
}

void events_on_lost(struct events *v, events_lost_fn fn, void *arg)
{
	if (!v)
		return;
	v->lost = fn;
	v->lost_arg = arg;
}

bool events_tell(struct events *v, const struct event_about *about, const char *fmt, ...)
{
	struct queued *q;
	va_list args;

	if (!v)
		return true;
	q = v->n < QUEUE_MAX ? calloc(1, sizeof(*q)) : NULL;
	enum event_verdict verdict =
		q ? event_limit(limit_of(v, about->reason), events_key_of(about), v->conf.mono())
		  : EVENT_DROPPED;

	if (verdict != EVENT_TELL) {
		free(q);
		v->counts.dropped += verdict == EVENT_DROPPED && !about->again;
		v->counts.repeated += verdict == EVENT_REPEATED && !about->again;
		return false;
	}
	va_start(args, fmt);
	(void)vsnprintf(q->note, sizeof(q->note), fmt, args);
	va_end(args);
	events_fill(v, about, q);
	TAILQ_INSERT_TAIL(&v->queue, q, all);
	if (v->n++ == 0)
		(void)timer_arm_ns(v->timer, 0);
	return true;
}

/* ---- begin, end, status ---- */

int events_new(const struct events_conf *conf, struct events **out, struct err *e)
{
	struct events *v;

	*out = NULL;
	if (!conf->store->ops->tell)
		return 0;
	v = calloc(1, sizeof(*v));
	if (!v || !(v->timer = timer_new(conf->base, send_first, v))) {
		free(v);
		return err_nomem(e);
	}
	v->conf = *conf;
	if (!v->conf.mono)
		v->conf.mono = ctx_mono_ms;
	TAILQ_INIT(&v->queue);
	*out = v;
	return 0;
}

void events_free(struct events *v)
{
	if (!v)
		return;
	cluster_cancel(v->conf.store, &v->call);
	while (v->n)
		forget_first(v);
	timer_free(v->timer);
	free(v);
}

int events_add_status(const struct events *v, struct json *obj)
{
	struct json *o = v ? json_add_object(obj, "events") : NULL;

	if (!v)
		return 0;
	return !o || json_add_int(o, "told", (int64_t)v->counts.told) ||
			       json_add_int(o, "repeated", (int64_t)v->counts.repeated) ||
			       json_add_int(o, "dropped", (int64_t)v->counts.dropped) ||
			       json_add_int(o, "failed", (int64_t)v->counts.failed)
		       ? -1
		       : 0;
}
