/* SPDX-License-Identifier: Apache-2.0 */
/* repairer.c: starts a child for each pass, and reads what it tells. */
#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "railheadd/events/events.h"
#include "railheadd/repair/pass.h"
#include "railheadd/repair/repairer_priv.h"

/* A pass that takes longer hangs: an IPAM has 90 seconds for each address, and rarely needs one. */
#define PASS_LIMIT_MS 600000

static void arm(struct repairer *r, int64_t wait_ms)
{
	const struct timeval t = { .tv_sec = wait_ms / 1000, .tv_usec = wait_ms % 1000 * 1000 };

	(void)event_add(r->timer, &t);
}

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
static void tell_people(const struct repairer *r, const struct leftover *f)
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

static void note(struct repairer *r, const struct leftover *f)
{
	bool news = waiting_note(&r->waiting, f, ctx_mono_ms());

	if (f->outcome == LEFTOVER_REPAIRED)
		r->counts.repaired[f->kind]++;
	if (f->outcome == LEFTOVER_FAILED)
		r->counts.failed[f->kind]++;
	if (!news)
		return;
	log_leftover(r, f);
	tell_people(r, f);
}

static void read_lines(struct repairer *r)
{
	size_t len = 0;
	char *line;

	while ((line = evbuffer_readln(r->text, &len, EVBUFFER_EOL_LF)) != NULL) {
		auto_json struct json *tree = NULL;
		struct leftover f;
		struct err e;

		if (leftover_parse(line, len, &tree, &f, &e))
			log_error(&r->conf.ctx->log, "repair: %s", e.msg);
		else if (f.kind == LEFTOVER_END)
			r->complete = true;
		else
			note(r, &f);
		free(line);
	}
}

/* ---- begin and end of a pass ---- */

static void end_pass(struct repairer *r)
{
	event_free(r->output);
	r->output = NULL;
	/* It has closed its output, so it ends. */
	exec_kill(&r->child);
	(void)evbuffer_drain(r->text, evbuffer_get_length(r->text));
	r->counts.passes++;
	r->ended = ctx_mono_ms();
	if (r->complete)
		waiting_end(&r->waiting);
	else
		r->counts.cut_off++;
	int64_t next = waiting_next(&r->waiting, r->ended, r->conf.grace);
	/* Found twice means in two passes: not one right after the other. */
	if (next < 0 || next > r->conf.every || !r->complete)
		next = r->conf.every;
	arm(r, r->again ? 0 : next);
	r->again = false;
}

static void readable(evutil_socket_t fd, short what, void *arg)
{
	struct repairer *r = arg;
	int n = evbuffer_read(r->text, fd, LEFTOVER_LINE_MAX);

	(void)what;
	if (n > 0)
		read_lines(r);
	if (n > 0 && evbuffer_get_length(r->text) < LEFTOVER_LINE_MAX)
		return;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (!r->complete)
		log_error(&r->conf.ctx->log, "repair: the pass ended early");
	end_pass(r);
}

static int start_pass(struct repairer *r, struct err *e)
{
	auto_json struct json *due = waiting_due(&r->waiting, ctx_mono_ms(), r->conf.grace);
	auto_free char *input = due ? json_print(due, false) : NULL;
	const struct exec_req req = { .path = "railheadd-repair",
				      .run = pass_main,
				      .envp = environ,
				      .input = input,
				      .input_len = input ? strlen(input) : 0,
				      .timeout_ms = PASS_LIMIT_MS };

	if (!input)
		return err_nomem(e);
	if (exec_start(&req, &r->child, e))
		return -1;
	(void)fcntl(r->child.out_fd, F_SETFL, O_NONBLOCK);
	r->output = event_new(r->conf.base, r->child.out_fd, EV_READ | EV_PERSIST, readable, r);
	if (r->output && event_add(r->output, NULL) == 0)
		return 0;
	exec_kill(&r->child);
	return err_nomem(e);
}

static void timer(evutil_socket_t fd, short what, void *arg)
{
	struct repairer *r = arg;
	struct err e;

	(void)fd;
	(void)what;
	if (r->output) {
		log_error(&r->conf.ctx->log, "repair: the pass did not end in %d s",
			  PASS_LIMIT_MS / 1000);
		/* The kernel may hold it, so its end is awaited: it closes its output. */
		(void)kill(-r->child.pid, SIGKILL);
		arm(r, PASS_LIMIT_MS);
		return;
	}
	r->complete = false;
	waiting_begin(&r->waiting);
	if (start_pass(r, &e) == 0) {
		arm(r, PASS_LIMIT_MS);
		return;
	}
	log_error(&r->conf.ctx->log, "repair: %s", e.msg);
	arm(r, r->conf.every);
}

void repairer_soon(struct repairer *r)
{
	if (!r)
		return;
	if (r->output)
		r->again = true;
	else
		arm(r, 0);
}

int repairer_new(const struct repairer_conf *conf, struct repairer **out, struct err *e)
{
	struct repairer *r = calloc(1, sizeof(*r));

	if (!r)
		return err_nomem(e);
	r->conf = *conf;
	r->child = (struct exec_child){ .out_fd = -1 };
	r->timer = evtimer_new(conf->base, timer, r);
	r->text = evbuffer_new();
	if (!r->timer || !r->text) {
		repairer_free(r);
		return err_nomem(e);
	}
	arm(r, 0);
	*out = r;
	return 0;
}

void repairer_free(struct repairer *r)
{
	if (!r)
		return;
	if (r->output)
		event_free(r->output);
	exec_kill(&r->child);
	if (r->text)
		evbuffer_free(r->text);
	if (r->timer)
		event_free(r->timer);
	waiting_clear(&r->waiting);
	free(r);
}
