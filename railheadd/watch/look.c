/* SPDX-License-Identifier: Apache-2.0 */
/* look.c: both ends of a look, and when the next one begins. */
#include "railheadd/watch/look.h"

#include <stdio.h>
#include <string.h>

#include "lib/sys/timer.h"

int look_print(const struct json *look, const struct err *why)
{
	auto_json struct json *error = look ? NULL : json_new_object();

	/* The agent logs an error, because it knows which one it has logged. */
	if (!look && (!error || json_add_str(error, "error", why->msg)))
		return 1;
	auto_free char *text = json_print(look ? look : error, false);
	return text && puts(text) >= 0 && fflush(stdout) == 0 ? 0 : 1;
}

int look_read(const struct look_end *end, struct json **out, struct err *e)
{
	auto_json struct json *look = NULL;

	if (end->how == CHILD_LATE)
		return err_set(e, ERR_IO, 0, "the %s were not read within %d ms", end->what,
			       end->deadline_ms);
	if (end->how == CHILD_TOO_MUCH)
		return err_set(e, ERR_IO, 0, "the look has more than 1 MiB");
	if (!end->len)
		return err_set(e, ERR_IO, 0, "the child that reads the %s has failed", end->what);
	if (json_parse(end->text, end->len, end->what, &look, e))
		return -1;
	if (json_str(json_get(look, "error")))
		return err_set(e, ERR_IO, 0, "%s", json_text(look, "error"));
	*out = TAKE_PTR(look);
	return 0;
}

void look_note_error(const struct log *log, const char *topic, const struct err *e,
		     char said[LOOK_SAID_LEN])
{
	if (*e->msg && strcmp(e->msg, said) != 0)
		log_error(log, "%s: %s%s%s", topic, e->msg, *e->detail ? ": " : "", e->detail);
	(void)snprintf(said, LOOK_SAID_LEN, "%s", e->msg);
}

static void looks_ended(void *arg, enum child_end how, const char *text, size_t len)
{
	struct looks *l = arg;
	const struct looks_conf *c = &l->conf;
	const struct look_end end = { c->what, how, text, len, c->deadline_ms };
	auto_json struct json *look = NULL;
	struct err e = { .msg = "" };

	l->next = c->every;
	if (look_read(&end, &look, &e) == 0 && c->take(c->arg, look, &e) == 0)
		l->n++;
	look_note_error(&c->ctx->log, c->topic, &e, l->said);
	if (c->ended)
		c->ended(c->arg);
	(void)timer_arm(l->timer, l->next);
}

static void looks_due(void *arg)
{
	struct looks *l = arg;
	struct err e;

	/* One that hangs in the kernel is not waited for. */
	if (!child_runs(l->child)) {
		if (child_start(l->child, &e) == 0)
			return;
		look_note_error(&l->conf.ctx->log, l->conf.topic, &e, l->said);
	}
	(void)timer_arm(l->timer, l->conf.every);
}

static int looks_run(const void *arg)
{
	const struct looks *l = arg;

	return l->conf.run(l->conf.arg);
}

int looks_begin(struct looks *l, const struct looks_conf *conf, struct err *e)
{
	const struct child_conf child = { .base = conf->base,
					  .path = conf->topic,
					  .run = looks_run,
					  .deadline_ms = conf->deadline_ms,
					  .text_max = JSON_MAX_SIZE,
					  .done = looks_ended,
					  .arg = l };

	*l = (struct looks){ .conf = *conf, .timer = timer_new(conf->base, looks_due, l) };
	if (!l->timer)
		return err_nomem(e);
	(void)timer_arm(l->timer, 0);
	return child_new(&child, &l->child, e);
}

void looks_end(struct looks *l)
{
	child_free(l->child);
	timer_free(l->timer);
}

int looks_add_status(const struct looks *l, struct json *o)
{
	return json_add_known(o, "error", l->said) || json_add_int(o, "looks", (int64_t)l->n) ? -1
											      : 0;
}
