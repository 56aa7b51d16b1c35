/* SPDX-License-Identifier: Apache-2.0 */
/* job.c: children, their pipes and their deadlines. */
#include "railheadd/deviceplugin/job.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/event.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>

#include "lib/json/json_long.h"
#include "lib/sys/exec.h"

#define READ_MAX 65536

struct job {
	TAILQ_ENTRY(job) all;
	struct jobs *jobs;
	struct job_conf conf;
	struct exec_child child;
	struct event *output;
	struct event *deadline;
	struct evbuffer *text;
	bool held; /* killed, and its output is not closed yet; no caller waits for it */
};
TAILQ_HEAD(job_list, job);

struct jobs {
	struct event_base *base;
	struct job_list list;
	unsigned held;
};

static void free_job(struct job *j)
{
	TAILQ_REMOVE(&j->jobs->list, j, all);
	j->jobs->held -= j->held;
	if (j->output)
		event_free(j->output);
	if (j->deadline)
		event_free(j->deadline);
	if (j->text)
		evbuffer_free(j->text);
	/* A child that hangs in the kernel ends with us, when it can. */
	if (j->held)
		(void)close(j->child.out_fd);
	else
		exec_kill(&j->child);
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
static const struct json *read_answer(struct job *j, struct json **tree, struct err *e)
{
	size_t len = evbuffer_get_length(j->text);
	const char *text = (const char *)evbuffer_pullup(j->text, -1);
	const struct json *answer, *error;

	if (!len) {
		err_set(e, ERR_DELEGATE, 0, "%s: the child ended without an answer", j->conf.name);
		return NULL;
	}
	if (!text) {
		(void)err_nomem(e);
		return NULL;
	}
	if (json_parse_long(text, len, j->conf.name, tree, e))
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

/* It has closed its output, so it ends. */
static void end_job(struct job *j, bool too_long)
{
	auto_json struct json *tree = NULL;
	const struct json *answer = NULL;
	struct job_conf conf = j->conf;
	bool is_awaited = !j->held;
	struct err e;

	if (too_long)
		err_set(&e, ERR_DELEGATE, 0, "%s: the child printed more than %d bytes", conf.name,
			JOB_OUTPUT_MAX);
	else if (is_awaited)
		answer = read_answer(j, &tree, &e);
	j->jobs->held -= j->held;
	j->held = false;
	free_job(j);
	if (is_awaited)
		conf.done(conf.arg, answer, answer ? NULL : &e);
}

static void readable(evutil_socket_t fd, short what, void *arg)
{
	struct job *j = arg;
	int n = evbuffer_read(j->text, fd, READ_MAX);

	(void)what;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0 && evbuffer_get_length(j->text) <= JOB_OUTPUT_MAX)
		return;
	end_job(j, n > 0);
}

static void hold(struct job *j)
{
	(void)kill(-j->child.pid, SIGKILL);
	(void)event_del(j->deadline);
	j->held = true;
	j->jobs->held++;
}

static void too_late(evutil_socket_t fd, short what, void *arg)
{
	struct job *j = arg;
	struct job_conf conf = j->conf;
	struct err e;

	(void)fd;
	(void)what;
	hold(j);
	err_set(&e, ERR_AGAIN, ETIMEDOUT, "%s: no answer within %d ms", conf.name, conf.timeout_ms);
	conf.done(conf.arg, NULL, &e);
}

/* ---- begin and end ---- */

static int start_child(struct job *j, struct err *e)
{
	const struct exec_req req = { .path = j->conf.name,
				      .run = j->conf.run,
				      .envp = environ,
				      .input = j->conf.input,
				      .input_len = strlen(j->conf.input),
				      .timeout_ms = j->conf.timeout_ms };
	const struct timeval t = { .tv_sec = j->conf.timeout_ms / 1000,
				   .tv_usec = j->conf.timeout_ms % 1000 * 1000 };
	struct event_base *base = j->jobs->base;

	j->text = evbuffer_new();
	j->deadline = evtimer_new(base, too_late, j);
	if (!j->text || !j->deadline)
		return err_nomem(e);
	if (exec_start(&req, &j->child, e))
		return -1;
	j->conf.input = NULL;
	(void)fcntl(j->child.out_fd, F_SETFL, O_NONBLOCK);
	j->output = event_new(base, j->child.out_fd, EV_READ | EV_PERSIST, readable, j);
	return j->output && event_add(j->output, NULL) == 0 && event_add(j->deadline, &t) == 0
		       ? 0
		       : err_nomem(e);
}

int job_start(struct jobs *all, const struct job_conf *conf, struct job **out, struct err *e)
{
	struct job *j;

	if (all->held >= JOBS_HELD_MAX)
		return err_set(e, ERR_BUSY, 0, "%s: %u earlier children hang in the kernel",
			       conf->name, all->held);
	j = calloc(1, sizeof(*j));
	if (!j)
		return err_nomem(e);
	j->jobs = all;
	j->conf = *conf;
	j->child.out_fd = -1;
	TAILQ_INSERT_TAIL(&all->list, j, all);
	if (start_child(j, e)) {
		free_job(j);
		return -1;
	}
	*out = j;
	return 0;
}

void job_cancel(struct job *j)
{
	if (j && !j->held)
		hold(j);
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
