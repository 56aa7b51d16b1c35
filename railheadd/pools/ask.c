/* SPDX-License-Identifier: Apache-2.0 */
/* ask.c: what all questions and changes of people have. */
#include "railheadd/pools/ask.h"

#include <stdlib.h>
#include <string.h>

#include "lib/sys/timer.h"

struct ask *ask_new(struct ask *like, size_t size, struct err *e)
{
	struct ask *a = malloc(size);
	struct timer *timer = a ? timer_new(like->base, like->due, a) : NULL;

	if (!timer) {
		if (like->clear)
			like->clear(like);
		free(a);
		(void)err_nomem(e);
		return NULL;
	}
	memcpy(a, like, size);
	a->timer = timer;
	if (a->in)
		TAILQ_INSERT_TAIL(a->in, a, all);
	timer_now(timer);
	return a;
}

void ask_cancel(struct ask *a)
{
	if (!a)
		return;
	cluster_cancel(a->store, &a->call);
	if (a->in)
		TAILQ_REMOVE(a->in, a, all);
	timer_free(a->timer);
	if (a->clear)
		a->clear(a);
	free(a);
}

void asks_cancel(struct asks *all)
{
	while (!TAILQ_EMPTY(all))
		ask_cancel(TAILQ_FIRST(all));
}

void ask_finish(struct ask *a, struct json *answer, const struct err *why)
{
	const struct ask_end end = a->end;
	struct err e;

	if (why)
		e = *why;
	ask_cancel(a);
	end.done(end.arg, answer, why ? &e : NULL);
	json_free(answer);
}

void ask_nomem(struct ask *a)
{
	struct err e;

	(void)err_nomem(&e);
	ask_finish(a, NULL, &e);
}

void ask_sent(struct ask *a, struct cluster_call *call)
{
	a->call = call;
	if (!call)
		ask_nomem(a);
}

void ask_failed(struct ask *a, const struct cluster_result *r)
{
	struct err e = r->err;

	if (r->outcome != CLUSTER_REFUSED)
		e.code = ERR_AGAIN;
	(void)err_wrap(&e, "%s", a->about);
	ask_finish(a, NULL, &e);
}

bool ask_raced(const struct cluster_result *r)
{
	return r->outcome == CLUSTER_CONFLICT || r->outcome == CLUSTER_EXISTS ||
	       r->outcome == CLUSTER_NOT_FOUND;
}

int ask_needs_store(const struct cluster_store *s, struct err *e)
{
	if (s)
		return 0;
	err_set(e, ERR_CONFIG, 0, "this agent has no cluster store");
	return err_hint(e, "name it in /etc/railhead/agent.json and restart railheadd");
}
