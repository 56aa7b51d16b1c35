/* SPDX-License-Identifier: Apache-2.0 */
/* repairer.c: starts a child for each pass, and reads what it tells. */
#include <stdio.h>
#include <string.h>

#include "lib/sys/timer.h"
#include "railheadd/pools/events.h"
#include "railheadd/watch/pass.h"
#include "railheadd/watch/repairer_priv.h"

/* A pass that takes longer hangs: an IPAM has 90 seconds for each address, and rarely needs one. */
#define PASS_LIMIT_MS 600000

/* ---- what the child tells ---- */

static void log_leftover(const struct repairer *r, const struct leftover *f)
{
	static const struct {
		enum log_level level;
		const char *text;
	} how[] = {
		[LEFTOVER_STALE] = { LOG_LEVEL_INFO, "found stale" },
		[LEFTOVER_ALONE] = { LOG_LEVEL_WARN, "left alone" },
		[LEFTOVER_REPAIRED] = { LOG_LEVEL_INFO, "repaired" },
		[LEFTOVER_FAILED] = { LOG_LEVEL_ERROR, "not repaired" },
	};

	log_msg(&r->conf.ctx->log, how[f->outcome].level, "%s %s %s%s%s: %s: %s",
		how[f->outcome].text, leftover_kind_name(f->kind), f->what,
		*f->pod ? " of pod " : "", f->pod, f->state, f->why);
}

/* About the pod, which may be gone; about the node if its name is not known. */
static void repairer_tell_people(const struct repairer *r, const struct leftover *f)
{
	bool done = f->outcome == LEFTOVER_REPAIRED;
	const char *slash = strchr(f->pod, '/');
	char ns[64] = "";
	const struct event_about about = { done ? EVENT_REPAIRED : EVENT_REPAIR_FAILED,
					   ns,
					   slash ? slash + 1 : "",
					   slash ? f->uid : "",
					   f->what,
					   false };

	if (!done && f->outcome != LEFTOVER_FAILED)
		return;
	if (slash)
		(void)snprintf(ns, sizeof(ns), "%.*s", (int)(slash - f->pod), f->pod);
	(void)events_tell(r->conf.events, &about, "%s %s %s, which the runtime did not: %s: %s",
			  done ? "Released" : "Could not release", leftover_kind_name(f->kind),
			  f->what, f->state, f->why);
}

static void repairer_note(struct repairer *r, const struct leftover *f)
{
	bool news = waiting_note(&r->waiting, f, ctx_mono_ms());

	if (f->outcome == LEFTOVER_REPAIRED)
		r->counts.repaired[f->kind]++;
	if (f->outcome == LEFTOVER_FAILED)
		r->counts.failed[f->kind]++;
	if (!news)
		return;
	log_leftover(r, f);
	repairer_tell_people(r, f);
}

static void repairer_take_line(struct repairer *r, const char *line, size_t len)
{
	auto_json struct json *tree = NULL;
	struct leftover f;
	struct err e;

	if (leftover_parse(line, len, &tree, &f, &e))
		log_error(&r->conf.ctx->log, "repair: %s", e.msg);
	else if (f.kind == LEFTOVER_END)
		r->complete = true;
	else
		repairer_note(r, &f);
}

static size_t repairer_take_lines(void *arg, const char *text, size_t len)
{
	const char *line = text, *end;

	while ((end = memchr(line, '\n', len - (size_t)(line - text))) != NULL) {
		repairer_take_line(arg, line, (size_t)(end - line));
		line = end + 1;
	}
	return (size_t)(line - text);
}

/* ---- begin and end of a pass ---- */

static void end_pass(void *arg)
{
	struct repairer *r = arg;

	r->counts.passes++;
	r->ended = ctx_mono_ms();
	if (r->complete) {
		waiting_end(&r->waiting);
	} else {
		if (!r->killed)
			log_error(&r->conf.ctx->log, "repair: the pass ended early");
		r->counts.cut_off++;
	}
	int64_t next = waiting_next(&r->waiting, r->ended, r->conf.grace);
	/* Found twice means in two passes: not one right after the other. */
	if (next < 0 || next > r->conf.every || !r->complete)
		next = r->conf.every;
	(void)timer_arm(r->timer, r->again ? 0 : next);
	r->again = false;
}

/* A child that was killed may hang in the kernel: the pass ends when it is gone. */
static void told_all(void *arg, enum child_end how, const char *text, size_t len)
{
	struct repairer *r = arg;

	(void)text;
	(void)len;
	r->killed = how != CHILD_ENDED;
	switch (how) {
	case CHILD_ENDED:
		end_pass(r);
		break;
	case CHILD_LATE:
		log_error(&r->conf.ctx->log, "repair: the pass did not end in %d s",
			  PASS_LIMIT_MS / 1000);
		break;
	case CHILD_TOO_MUCH:
		log_error(&r->conf.ctx->log, "repair: a line has more than %d bytes",
			  LEFTOVER_LINE_MAX);
		break;
	}
}

static int pass_in_child(const void *arg)
{
	const struct repairer *r = arg;

	return pass_main(&(struct waiting_due){ &r->waiting, ctx_mono_ms(), r->conf.grace });
}

static void repairer_timer(void *arg)
{
	struct repairer *r = arg;
	struct err e;

	r->complete = false;
	waiting_begin(&r->waiting);
	if (child_start(r->child, &e) == 0)
		return;
	log_error(&r->conf.ctx->log, "repair: %s", e.msg);
	(void)timer_arm(r->timer, r->conf.every);
}

void repairer_soon(struct repairer *r)
{
	if (!r)
		return;
	if (child_runs(r->child))
		r->again = true;
	else
		(void)timer_arm(r->timer, 0);
}

int repairer_new(const struct repairer_conf *conf, struct repairer **out, struct err *e)
{
	struct repairer *r = calloc(1, sizeof(*r));
	const struct child_conf child = { .base = conf->base,
					  .path = "railheadd-repair",
					  .run = pass_in_child,
					  .deadline_ms = PASS_LIMIT_MS,
					  .text_max = LEFTOVER_LINE_MAX,
					  .take = repairer_take_lines,
					  .done = told_all,
					  .gone = end_pass,
					  .arg = r };

	if (!r)
		return err_nomem(e);
	r->conf = *conf;
	r->timer = timer_new(conf->base, repairer_timer, r);
	if (!r->timer || child_new(&child, &r->child, e)) {
		repairer_free(r);
		return err_nomem(e);
	}
	(void)timer_arm(r->timer, 0);
	*out = r;
	return 0;
}

void repairer_free(struct repairer *r)
{
	if (!r)
		return;
	child_free(r->child);
	timer_free(r->timer);
	waiting_clear(&r->waiting);
	free(r);
}
