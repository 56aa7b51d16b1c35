/* SPDX-License-Identifier: Apache-2.0 */
/* job.c: children with answers in JSON, any number of them at a time. */
#include "railheadd/devices/job.h"

#include <errno.h>
#include <stdio.h>
#include <sys/queue.h>

#include "lib/base/ctx.h"
#include "lib/base/parse.h"
#include "lib/json/long.h"
#include "railheadd/watch/child.h"

struct job {
	TAILQ_ENTRY(job) all;
	struct jobs *jobs;
	struct job_conf conf;
	struct child *child;
	int64_t killed; /* ctx_mono_ms(); 0: a caller waits for it */
};
TAILQ_HEAD(job_list, job);

struct jobs {
	struct event_base *base;
	struct job_list list;
};

static void free_job(struct job *j)
{
	TAILQ_REMOVE(&j->jobs->list, j, all);
	child_free(j->child);
	free(j);
}

/* ---- the answer ---- */

int job_say(const struct json *answer, const struct err *why)
{
	auto_json struct json *o = json_new_object();
	struct json *error = o && !answer ? json_add_object(o, "error") : NULL;

	if (!o || (answer ? json_add_copy(o, "answer", answer)
			  : !error || json_add_int(error, "code", why->code) ||
				    json_add_str(error, "message", why->msg) ||
				    json_add_known(error, "detail", why->detail)))
		return 1;
	auto_free char *text = json_print(o, false);
	return !text || fputs(text, stdout) < 0 || fflush(stdout) ? 1 : 0;
}

/* The answer in the text of a child, or the error: in it, or of it. */
static const struct json *read_answer(const struct job *j, struct slice text, struct json **tree,
				      struct err *e)
{
	const struct json *answer, *error;

	if (!text.len) {
		err_set(e, ERR_DELEGATE, 0, "%s: the child ended without an answer", j->conf.name);
		return NULL;
	}
	if (!text.p) {
		(void)err_nomem(e);
		return NULL;
	}
	if (json_parse_long(text.p, text.len, j->conf.name, tree, e))
		return NULL;
	answer = json_get(*tree, "answer");
	error = json_get(*tree, "error");
	if (!answer) {
		double code = json_num(json_get(error, "code"));

		err_set(e, code >= 1 && code < 1000 ? (enum err_code)code : ERR_DELEGATE, 0, "%s",
			json_text_or(error, "message", "the child answered with something else"));
		if (*json_text(error, "detail"))
			err_hint(e, "%s", json_text(error, "detail"));
	}
	return answer;
}

static void devices_job_done(void *arg, enum child_end how, const char *text, size_t len)
{
	auto_json struct json *tree = NULL;
	const struct json *answer = NULL;
	struct job *j = arg;
	struct job_conf conf = j->conf;
	struct err e;

	switch (how) {
	case CHILD_ENDED:
		answer = read_answer(j, (struct slice){ text, len }, &tree, &e);
		free_job(j);
		break;
	case CHILD_LATE:
		err_set(&e, ERR_AGAIN, ETIMEDOUT, "%s: no answer within %d ms", conf.name,
			conf.timeout_ms);
		j->killed = ctx_mono_ms();
		break;
	case CHILD_TOO_MUCH:
		err_set(&e, ERR_DELEGATE, 0, "%s: the child printed more than %d bytes", conf.name,
			JOB_OUTPUT_MAX);
		j->killed = ctx_mono_ms();
		break;
	}
	conf.done(conf.arg, answer, answer ? NULL : &e);
}

static void gone(void *arg)
{
	free_job(arg);
}

/* ---- begin and end ---- */

static int start_child(struct job *j, struct err *e)
{
	const struct child_conf child = { .base = j->jobs->base,
					  .path = j->conf.name,
					  .run = j->conf.run,
					  .deadline_ms = j->conf.timeout_ms,
					  .text_max = JOB_OUTPUT_MAX,
					  .done = devices_job_done,
					  .gone = gone,
					  .arg = j };

	return child_new(&child, &j->child, e) || child_start(j->child, j->conf.input, e) ? -1 : 0;
}

/* A child that was killed a moment ago is about to end; the loop has not seen it yet. */
static unsigned job_count_held(const struct jobs *all)
{
	int64_t now = ctx_mono_ms();
	const struct job *j;
	unsigned n = 0;

	TAILQ_FOREACH(j, &all->list, all)
	n += j->killed && now - j->killed >= JOB_HELD_MS;
	return n;
}

int job_start(struct jobs *all, const struct job_conf *conf, struct job **out, struct err *e)
{
	unsigned held = job_count_held(all);
	struct job *j;

	if (held >= JOBS_HELD_MAX)
		return err_set(e, ERR_BUSY, 0, "%s: %u earlier children hang in the kernel",
			       conf->name, held);
	j = calloc(1, sizeof(*j));
	if (!j)
		return err_nomem(e);
	j->jobs = all;
	j->conf = *conf;
	TAILQ_INSERT_TAIL(&all->list, j, all);
	if (start_child(j, e)) {
		free_job(j);
		return -1;
	}
	j->conf.input = NULL;
	*out = j;
	return 0;
}

void job_cancel(struct job *j)
{
	if (!j || j->killed)
		return;
	j->killed = ctx_mono_ms();
	child_cancel(j->child);
}

int jobs_new(struct event_base *base, struct jobs **out, struct err *e)
{
	struct jobs *all = calloc(1, sizeof(*all));

	if (!all)
		return err_nomem(e);
	all->base = base;
	TAILQ_INIT(&all->list);
	*out = all;
	return 0;
}

void jobs_free(struct jobs *all)
{
	if (!all)
		return;
	while (!TAILQ_EMPTY(&all->list))
		free_job(TAILQ_FIRST(&all->list));
	free(all);
}
