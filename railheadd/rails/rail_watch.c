/* SPDX-License-Identifier: Apache-2.0 */
/* rail_watch.c: the timer, the child of a look, and the reports of a change. */
#include "railheadd/rails/rail_watch.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "railheadd/child/child.h"
#include "railheadd/events/events.h"
#include "railheadd/rails/rail_look.h"
#include "railheadd/rails/rail_table.h"

struct rail_watch {
	struct rail_watch_conf conf;
	struct event *timer;
	struct child *child;
	struct rail_table table;
	uint64_t looks;                            /* that ended well */
	char said[sizeof(((struct err *)0)->msg)]; /* the error of the last look; "": none */
};

/* ---- telling ---- */

static void log_change(const struct rail_watch *w, const struct rail *r, enum rail_check check)
{
	const struct rail_fact *f = &r->fact[check];
	const struct log *log = &w->conf.ctx->log;

	if (f->bad)
		log_warn(log, "rail %s:%u (%s) is degraded: %s: %s: %s", r->device, r->port, r->pci,
			 rail_check_name(check), f->value, f->reason);
	else
		log_info(log, "rail %s:%u (%s) is well again: %s: %s", r->device, r->port, r->pci,
			 rail_check_name(check), f->value);
}

static bool tell(const struct rail_watch *w, const struct rail *r, enum rail_check check)
{
	const struct rail_fact *f = &r->fact[check];
	const char *name = rail_check_name(check);
	char key[PCI_STR_LEN + 32];
	const struct event_about about = { f->bad ? EVENT_RAIL_DEGRADED : EVENT_RAIL_RECOVERED, "",
					   "", "", key };

	(void)snprintf(key, sizeof(key), "%s:%u %s", r->pci, r->port, name);
	if (!f->bad)
		return events_tell(w->conf.events, &about, "%s: rail %s:%u (%s) is well again: %s.",
				   name, r->device, r->port, r->pci, f->value);
	return events_tell(w->conf.events, &about,
			   "%s: rail %s:%u (%s) is degraded: %s: %s. First: %s.", name, r->device,
			   r->port, r->pci, f->value, f->reason, f->remedy);
}

/* True if no change waits for a second look. */
static bool report(struct rail_watch *w)
{
	bool settled = true;

	for (size_t i = 0; i < w->table.n * RAIL_CHECKS; i++) {
		struct rail *r = &w->table.rail[i / RAIL_CHECKS];
		enum rail_check check = (enum rail_check)(i % RAIL_CHECKS);
		struct rail_fact *f = &r->fact[check];

		if (!rail_is_settled(f)) {
			settled = settled && f->looks == 0;
			continue;
		}
		if (f->logged != f->bad)
			log_change(w, r, check);
		f->logged = f->bad;
		if (f->told != f->bad && tell(w, r, check))
			f->told = f->bad;
	}
	return settled;
}

/* The same error again is not said again. "": the look was well. */
static void note_error(struct rail_watch *w, const char *msg)
{
	if (*msg && strcmp(msg, w->said) != 0)
		log_error(&w->conf.ctx->log, "rails: %s", msg);
	(void)snprintf(w->said, sizeof(w->said), "%s", msg);
}

/* ---- a look ---- */

static void arm(struct rail_watch *w, int64_t ms)
{
	const struct timeval t = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	(void)event_add(w->timer, &t);
}

static int take(struct rail_watch *w, const char *text, size_t len, struct err *e)
{
	auto_json struct json *look = NULL;

	if (!len)
		return err_set(e, ERR_IO, 0, "the look failed; its log line says why");
	return json_parse(text, len, "rails", &look, e) ||
			       rail_table_take(&w->table, look, w->conf.except, e)
		       ? -1
		       : 0;
}

static void ended(void *arg, enum child_end how, const char *text, size_t len)
{
	struct rail_watch *w = arg;
	struct err e = { .msg = "" };
	int64_t next = w->conf.every;

	if (how == CHILD_LATE) {
		note_error(w, "the rails were not read in time: a driver hangs");
	} else if (how == CHILD_TOO_MUCH) {
		note_error(w, "the look has more than 1 MiB");
	} else if (take(w, text, len, &e)) {
		note_error(w, e.msg);
	} else {
		note_error(w, "");
		w->looks++;
		if (!report(w) && next > w->conf.confirm)
			next = w->conf.confirm;
	}
	arm(w, next);
}

static int start_look(struct rail_watch *w, struct err *e)
{
	auto_json struct json *known = rail_table_known(&w->table);
	auto_free char *input = known ? json_print(known, false) : NULL;

	return input ? child_start(w->child, input, e) : err_nomem(e);
}

static void timer(evutil_socket_t fd, short what, void *arg)
{
	struct rail_watch *w = arg;
	struct err e = { .msg = "" };

	(void)fd;
	(void)what;
	/* One that hangs in the kernel is not waited for. */
	if (!child_runs(w->child)) {
		if (start_look(w, &e) == 0)
			return;
		note_error(w, e.msg);
	}
	arm(w, w->conf.every);
}

/* ---- begin, end, status ---- */

int rail_watch_new(const struct rail_watch_conf *conf, struct rail_watch **out, struct err *e)
{
	struct rail_watch *w = calloc(1, sizeof(*w));
	const struct child_conf child = { .base = conf->base,
					  .path = "railheadd-rails",
					  .run = conf->run ? conf->run : rail_look_main,
					  .deadline_ms = conf->deadline_ms,
					  .text_max = JSON_MAX_SIZE,
					  .done = ended,
					  .arg = w };

	if (!w)
		return err_nomem(e);
	w->conf = *conf;
	w->timer = evtimer_new(conf->base, timer, w);
	if (!w->timer || child_new(&child, &w->child, e)) {
		rail_watch_free(w);
		return err_nomem(e);
	}
	arm(w, 0);
	*out = w;
	return 0;
}

void rail_watch_free(struct rail_watch *w)
{
	if (!w)
		return;
	child_free(w->child);
	if (w->timer)
		event_free(w->timer);
	rail_table_clear(&w->table);
	free(w);
}

static int add_status(const struct rail_watch *w, struct json *o)
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
	return o && add_status(w, o) == 0 ? 0 : err_nomem(e);
}
