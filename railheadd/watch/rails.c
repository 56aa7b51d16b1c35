/* SPDX-License-Identifier: Apache-2.0 */
/* rails.c: the looks, and the reports of a change. */
#include "railheadd/watch/rails.h"

#include <stdio.h>
#include <string.h>

#include "railheadd/watch/look.h"
#include "railheadd/pools/events.h"
#include "railheadd/watch/rail_look.h"
#include "railheadd/watch/memory.h"
#include "railheadd/watch/rail_table.h"
#include "railheadd/watch/repairer.h"

struct rail_watch {
	struct rail_watch_conf conf;
	struct looks looks;
	struct rail_table table;
	struct memory memory;
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

/* ---- a look ---- */

static int rail_watch_take(void *arg, const struct json *look, struct err *e)
{
	struct rail_watch *w = arg;
	struct err why;

	if (rail_table_take(&w->table, look, w->conf.except, e))
		return -1;
	if (!report_changes(w) && w->conf.confirm < w->looks.next)
		w->looks.next = w->conf.confirm;
	if (memory_save(&w->memory, rail_table_known(&w->table), &why))
		log_warn(&w->conf.ctx->log, "rails: a restart forgets what is known: %s", why.msg);
	return 0;
}

static int look_in_child(const void *arg)
{
	const struct rail_watch *w = arg;
	auto_json struct json *known = rail_table_known(&w->table);
	struct err e;

	if (known)
		return w->conf.run ? w->conf.run(known) : rail_look_main(known);
	(void)err_nomem(&e);
	return look_print(NULL, &e);
}

/* ---- begin, end, status ---- */

static int load_rails(void *table, const struct json *list, struct err *e)
{
	return rail_table_load(table, list, e);
}

int rail_watch_new(const struct rail_watch_conf *conf, struct rail_watch **out, struct err *e)
{
	struct rail_watch *w = calloc(1, sizeof(*w));
	const struct looks_conf looks = { .base = conf->base,
					  .ctx = conf->ctx,
					  .topic = "rails",
					  .what = "rails",
					  .every = conf->every,
					  .deadline_ms = conf->deadline_ms,
					  .run = look_in_child,
					  .take = rail_watch_take,
					  .arg = w };

	if (!w)
		return err_nomem(e);
	w->conf = *conf;
	if (looks_begin(&w->looks, &looks, e)) {
		rail_watch_free(w);
		return -1;
	}
	w->memory = (struct memory){ .ctx = conf->ctx, .name = "rails" };
	if (memory_load(&w->memory, load_rails, &w->table, e))
		log_warn(&conf->ctx->log, "rails: what was known of them is lost: %s", e->msg);
	events_on_lost(conf->events, on_lost_event, w);
	*out = w;
	return 0;
}

void rail_watch_free(struct rail_watch *w)
{
	if (!w)
		return;
	events_on_lost(w->conf.events, NULL, NULL);
	looks_end(&w->looks);
	memory_clear(&w->memory);
	rail_table_clear(&w->table);
	free(w);
}

int rail_watch_status(const struct rail_watch *w, struct json *obj, struct err *e)
{
	struct json *o = w ? json_add_object(obj, "rails") : NULL;

	if (!w)
		return json_add_bool(obj, "rails", false) ? err_nomem(e) : 0;
	return !o || looks_add_status(&w->looks, o) || rail_table_add_status(&w->table, o)
		       ? err_nomem(e)
		       : 0;
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
	for (size_t i = 0; w && !*w->looks.said && i < json_len(rails); i++) {
		struct json *o = json_at_mut(rails, i);
		const struct rail *r = find_marked(&w->table, o);

		if (r && mark_rail(r, o))
			return err_nomem(e);
	}
	return 0;
}
