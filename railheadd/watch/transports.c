/* SPDX-License-Identifier: Apache-2.0 */
/* transports.c: the looks, and the report of a suspect pod. */
#include "railheadd/watch/transports.h"

#include <stdio.h>

#include "railheadd/pools/events.h"
#include "railheadd/watch/look.h"
#include "railheadd/watch/transport.h"

struct transport_watch {
	struct transport_watch_conf conf;
	struct looks looks;
	struct transport_table table; /* of the last look without an error */
};

/* ---- log and Events ---- */

static uint64_t mbps(uint64_t bytes, int64_t ms)
{
	return bytes / (uint64_t)(125 * ms);
}

/* All nodes make one Event of a job, because its key is the same on each of them. */
static void report_suspect(const struct transport_watch *w, struct transport_pod *p)
{
	const bool rails = transport_over(p->rails, p->ms, w->conf.limit);
	const struct transport_bytes *b = rails ? &p->rails : &p->other;
	char job[254], key[300], text[CLUSTER_EVENT_NOTE_LEN - 1];
	const struct event_about about = { .reason = EVENT_RDMA_NOT_USED,
					   .namespace = p->ns,
					   .pod = p->name,
					   .uid = p->uid,
					   .key = key,
					   .again = p->over_ms >= TRANSPORT_MS + 2 * p->ms };

	transport_job(p->name, job);
	(void)snprintf(key, sizeof(key), "%s %lld", job,
		       (long long)(w->conf.ctx->now(w->conf.ctx->clock) / INT64_C(86400000000000)));
	(void)snprintf(text, sizeof(text),
		       "job %s does not seem to use RDMA: for %d s this pod sends %llu Mbit/s and "
		       "receives %llu Mbit/s by TCP %s, and it has no connected queue pair. %s%s",
		       job, (int)(p->over_ms / 1000), (unsigned long long)mbps(b->sent, p->ms),
		       (unsigned long long)mbps(b->received, p->ms),
		       rails ? "over its rails" : "beside its rails",
		       *p->cause ? "Likely cause: " : "\"railctl rdma check\" found no cause",
		       p->cause);
	p->told = !*p->name || events_tell(w->conf.events, &about, "%s.", text);
	if (p->told)
		log_warn(&w->conf.ctx->log, "transport: pod %s/%s: %s", p->ns, p->name, text);
}

/* ---- a look ---- */

static int take_look(void *arg, const struct json *look, struct err *e)
{
	struct transport_watch *w = arg;
	auto_clean(transport_clear) struct transport_table t = { 0 };

	if (transport_read(look, &t, e))
		return -1;
	transport_clear(&w->table);
	w->table = t;
	t = (struct transport_table){ 0 };
	for (size_t i = 0; i < w->table.n; i++)
		/* One pod is checked in each look: the others wait for their cause. */
		if (w->table.pod[i]->state == TRANSPORT_SUSPECT && w->table.pod[i]->checked &&
		    !w->table.pod[i]->told)
			report_suspect(w, w->table.pod[i]);
	return 0;
}

static int look_at_transports(const void *arg)
{
	const struct transport_watch *w = arg;

	return w->conf.run(&w->table, w->conf.limit);
}

/* ---- begin, end, status ---- */

int transport_watch_new(const struct transport_watch_conf *conf, struct transport_watch **out,
			struct err *e)
{
	struct transport_watch *w = calloc(1, sizeof(*w));
	const struct looks_conf looks = { .base = conf->base,
					  .ctx = conf->ctx,
					  .topic = "transport",
					  .what = "connections of pods",
					  .every = conf->every,
					  .deadline_ms = conf->deadline_ms,
					  .run = look_at_transports,
					  .take = take_look,
					  .arg = w };

	if (!w)
		return err_nomem(e);
	w->conf = *conf;
	if (looks_begin(&w->looks, &looks, e)) {
		transport_watch_free(w);
		return -1;
	}
	*out = w;
	return 0;
}

void transport_watch_free(struct transport_watch *w)
{
	if (!w)
		return;
	looks_end(&w->looks);
	transport_clear(&w->table);
	free(w);
}

int transport_watch_status(const struct transport_watch *w, struct json *obj, struct err *e)
{
	struct json *o = w ? json_add_object(obj, "transport") : NULL;

	if (!w)
		return json_add_bool(obj, "transport", false) ? err_nomem(e) : 0;
	return !o || looks_add_status(&w->looks, o) || transport_add_to(o, &w->table, false)
		       ? err_nomem(e)
		       : 0;
}
