/* SPDX-License-Identifier: Apache-2.0 */
/* rails.c: the timer, the child of a look, and the reports of a change. */
#include "railheadd/watch/rails.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "lib/sys/timer.h"
#include "railheadd/watch/child.h"
#include "railheadd/watch/look.h"
#include "railheadd/pools/events.h"
#include "railheadd/watch/rail_look.h"
#include "railheadd/watch/memory.h"
#include "railheadd/watch/rail_table.h"
#include "railheadd/watch/repairer.h"

struct rail_watch {
	struct rail_watch_conf conf;
	struct timer *timer;
	struct child *child;
	struct rail_table table;
	struct json *known; /* while a child is forked: rail_table_known() */
	struct memory memory;
	uint64_t looks;           /* without an error */
	char said[LOOK_SAID_LEN]; /* the error of the last look; "": none */
};

/* ---- log and Events ---- */

#define SENTENCE_LEN 512

/* "port: rail mlx5_0:1 (0000:21:00.0) is degraded: the port is DOWN: NCCL and UCX cannot use it" */
static const char *describe_change(const struct rail *r, enum rail_check check,
				   char out[SENTENCE_LEN])
{
	const struct rail_result *x = &r->result[check];

	(void)snprintf(out, SENTENCE_LEN, "%s: rail %s:%u (%s) %s: %s%s%s", rail_check_name(check),
		       r->device, r->port, r->pci, x->bad ? "is degraded" : "has recovered",
		       x->value, x->bad ? ": " : "", x->bad ? x->reason : "");
	return out;
}

static void log_change(const struct rail_watch *w, const struct rail *r, enum rail_check check)
{
	char text[SENTENCE_LEN];

	if (r->result[check].bad)
		log_warn(&w->conf.ctx->log, "%s", describe_change(r, check, text));
	else
		log_info(&w->conf.ctx->log, "%s", describe_change(r, check, text));
}

#define KEY_LEN (GUID_STR_LEN + 32)

static const char *event_key(const struct rail *r, enum rail_check check, char out[KEY_LEN])
{
	char guid[GUID_STR_LEN];

	(void)snprintf(out, KEY_LEN, "%s:%u %s",
		       guid_is_usable(r->guid) ? guid_format(r->guid, guid) : r->pci, r->port,
		       rail_check_name(check));
	return out;
}

static void send_event(const struct rail_watch *w, struct rail *r, enum rail_check check)
{
	struct rail_result *x = &r->result[check];
	char text[SENTENCE_LEN], key[KEY_LEN];
	const struct event_about about = {
		.reason = x->bad ? EVENT_RAIL_DEGRADED : EVENT_RAIL_RECOVERED,
		.namespace = "",
		.pod = "",
		.uid = "",
		.key = event_key(r, check, key),
		.again = x->held,
	};

	x->held = !events_tell(w->conf.events, &about, "%s%s%s.", describe_change(r, check, text),
			       x->bad ? ". First: " : "", x->bad ? x->remedy : "");
	if (!x->held)
		x->told = x->bad;
}

/* An event is lost: people have not heard of the change, and a later look tells it again. */
static void on_lost_event(void *arg, enum event_reason reason, const char *key)
{
	const struct rail_watch *w = arg;
	char text[KEY_LEN];

	if (reason != EVENT_RAIL_DEGRADED && reason != EVENT_RAIL_RECOVERED)
		return;
	for (size_t i = 0; i < w->table.n * RAIL_CHECKS; i++) {
		struct rail *r = &w->table.rail[i / RAIL_CHECKS];
		enum rail_check check = (enum rail_check)(i % RAIL_CHECKS);

		if (strcmp(event_key(r, check, text), key) == 0)
			r->result[check].told = reason == EVENT_RAIL_RECOVERED;
	}
}

/* True if no change waits for a second look. */
static bool report_changes(struct rail_watch *w)
{
	bool settled = true;

	for (size_t i = 0; i < w->table.n * RAIL_CHECKS; i++) {
		struct rail *r = &w->table.rail[i / RAIL_CHECKS];
		enum rail_check check = (enum rail_check)(i % RAIL_CHECKS);
		struct rail_result *x = &r->result[check];

		if (!rail_is_settled(x)) {
			settled = settled && x->looks == 0;
			continue;
		}
		if (x->logged != x->bad) {
			log_change(w, r, check);
			repairer_soon(w->conf.repairer);
		}
		x->logged = x->bad;
		if (x->told != x->bad)
			send_event(w, r, check);
		else
			x->held = false;
	}
	rail_table_prune(&w->table);
	return settled;
}

static void rail_watch_note_error(struct rail_watch *w, const struct err *e)
{
	look_note_error(&w->conf.ctx->log, "rails", e, w->said);
}

/* ---- a look ---- */

/* Returns when the next look begins, ms. */
static int64_t end_look(struct rail_watch *w)
{
	struct err e;

	w->said[0] = '\0';
	w->looks++;
	bool settled = report_changes(w);
	if (memory_save(&w->memory, rail_table_known(&w->table), &e))
		log_warn(&w->conf.ctx->log, "rails: a restart forgets what is known: %s", e.msg);
	return !settled && w->conf.every > w->conf.confirm ? w->conf.confirm : w->conf.every;
}

static void on_child_end(void *arg, enum child_end how, const char *text, size_t len)
{
	struct rail_watch *w = arg;
	const struct look_end end = { "rails", how, text, len, w->conf.deadline_ms };
	auto_json struct json *look = NULL;
	struct err e = { .msg = "" };
	int64_t next = w->conf.every;

	if (look_read(&end, &look, &e) == 0 &&
	    rail_table_take(&w->table, look, w->conf.except, &e) == 0)
		next = end_look(w);
	if (*e.msg)
		rail_watch_note_error(w, &e);
	(void)timer_arm(w->timer, next);
}

static int start_look(struct rail_watch *w, struct err *e)
{
	w->known = rail_table_known(&w->table);
	int rc = w->known ? child_start(w->child, e) : err_nomem(e);
	json_free(w->known);
	w->known = NULL;
	return rc;
}

static int look_in_child(const void *arg)
{
	const struct rail_watch *w = arg;

	return w->conf.run ? w->conf.run(w->known) : rail_look_main(w->known);
}

static void on_rail_watch_timer(void *arg)
{
	struct rail_watch *w = arg;
	struct err e = { .msg = "" };

	/* One that hangs in the kernel is not waited for. */
	if (!child_runs(w->child)) {
		if (start_look(w, &e) == 0)
			return;
		rail_watch_note_error(w, &e);
	}
	(void)timer_arm(w->timer, w->conf.every);
}

/* ---- begin, end, status ---- */

static int load_rails(void *table, const struct json *list, struct err *e)
{
	return rail_table_load(table, list, e);
}

int rail_watch_new(const struct rail_watch_conf *conf, struct rail_watch **out, struct err *e)
{
	struct rail_watch *w = calloc(1, sizeof(*w));
	const struct child_conf child = { .base = conf->base,
					  .path = "railheadd-rails",
					  .run = look_in_child,
					  .deadline_ms = conf->deadline_ms,
					  .text_max = JSON_MAX_SIZE,
					  .done = on_child_end,
					  .arg = w };

	if (!w)
		return err_nomem(e);
	w->conf = *conf;
	w->timer = timer_new(conf->base, on_rail_watch_timer, w);
	if (!w->timer || child_new(&child, &w->child, e)) {
		rail_watch_free(w);
		return err_nomem(e);
	}
	w->memory = (struct memory){ .ctx = conf->ctx, .name = "rails" };
	if (memory_load(&w->memory, load_rails, &w->table, e))
		log_warn(&conf->ctx->log, "rails: what was known of them is lost: %s", e->msg);
	events_on_lost(conf->events, on_lost_event, w);
	(void)timer_arm(w->timer, 0);
	*out = w;
	return 0;
}

void rail_watch_free(struct rail_watch *w)
{
	if (!w)
		return;
	events_on_lost(w->conf.events, NULL, NULL);
	child_free(w->child);
	timer_free(w->timer);
	memory_clear(&w->memory);
	rail_table_clear(&w->table);
	free(w);
}

static int rail_watch_add_status(const struct rail_watch *w, struct json *o)
{
	return (*w->said && json_add_str(o, "error", w->said)) ||
			       json_add_int(o, "looks", (int64_t)w->looks) ||
			       rail_table_add_status(&w->table, o)
		       ? -1
		       : 0;
}

int rail_watch_status(const struct rail_watch *w, struct json *obj, struct err *e)
{
	struct json *o;

	if (!w)
		return json_add_bool(obj, "rails", false) ? err_nomem(e) : 0;
	o = json_add_object(obj, "rails");
	return o && rail_watch_add_status(w, o) == 0 ? 0 : err_nomem(e);
}

/* ---- for the cluster ---- */

static const struct rail *find_marked(const struct rail_table *t, const struct json *rail)
{
	const char *hca = json_text(rail, "hca");
	char name[RDMA_NAME_LEN + 16];

	for (const struct rail *r = t->rail; r < t->rail + t->n; r++) {
		(void)snprintf(name, sizeof(name), r->port == 1 ? "%s" : "%s:%u", r->device,
			       r->port);
		if (!r->dropped &&
		    strcmp(*hca ? name : r->pci, *hca ? hca : json_text(rail, "pci")) == 0)
			return r;
	}
	return NULL;
}

static int mark_rail(const struct rail *r, struct json *o)
{
	char text[64] = "";
	size_t n = 0;

	for (size_t i = 0; i < RAIL_CHECKS; i++)
		if (r->result[i].logged)
			n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%s", n ? " " : "",
					      rail_check_name((enum rail_check)i));
	return json_add_str(o, "degraded", text);
}

int rail_watch_mark(const struct rail_watch *w, struct json *rails, struct err *e)
{
	for (size_t i = 0; w && !*w->said && i < json_len(rails); i++) {
		struct json *o = json_at_mut(rails, i);
		const struct rail *r = find_marked(&w->table, o);

		if (r && mark_rail(r, o))
			return err_nomem(e);
	}
	return 0;
}
