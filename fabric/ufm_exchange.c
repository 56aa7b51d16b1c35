/* SPDX-License-Identifier: Apache-2.0 */
/* ufm_exchange.c: a client for one request: the event loop runs until the answer is there. */
#include "fabric/ufm_exchange.h"

#include <event2/event.h>
#include <string.h>

#include "cluster/http/http.h"

#define CONNECT_MS 5000
#define TIMEOUT_MS 15000
#define ANSWER_MAX (1024 * 1024)

struct wait {
	struct event_base *base;
	int status;
	char *answer;
	struct err *e;
	int rc;
};

static void ufm_exchange_done(void *arg, const struct http_answer *a)
{
	struct wait *w = arg;

	if (a->end != HTTP_ANSWERED) {
		*w->e = a->err;
		w->e->code = ERR_UNAVAILABLE;
		w->rc = err_hint(w->e, "is UFM up, and are url and ca those of its server?");
	} else {
		w->status = a->status;
		w->answer = strndup(a->body, a->len);
		w->rc = w->answer ? 0 : err_nomem(w->e);
	}
	(void)event_base_loopbreak(w->base);
}

static int ufm_exchange_ask(struct http *h, const struct ufm_exchange *x, struct wait *w)
{
	const char *const headers[] = { x->authorization, "Content-Type: application/json",
					"Accept: application/json", NULL };
	const struct http_request request = { .method = x->body ? "POST" : "GET",
					      .url = x->url,
					      .headers = headers,
					      .body = x->body,
					      .body_len = x->body ? strlen(x->body) : 0,
					      .connect_ms = CONNECT_MS,
					      .timeout_ms = TIMEOUT_MS,
					      .max_body = ANSWER_MAX };
	static const struct http_fns fns = { .done = ufm_exchange_done };
	const struct http_tls tls = { .ca = x->ca };

	if (http_set_tls(h, &tls, w->e))
		return -1;
	if (!http_start(h, &request, &fns, w))
		return err_nomem(w->e);
	w->rc = err_set(w->e, ERR_UNAVAILABLE, 0, "the event loop ended without an answer");
	(void)event_base_dispatch(w->base);
	return w->rc;
}

int ufm_ask(const struct ufm_exchange *x, int *status, char **answer, struct err *e)
{
	struct event_base *base = event_base_new();
	struct wait w = { .base = base, .e = e };
	struct http *h = NULL;
	int rc;

	if (!base)
		return err_nomem(e);
	rc = http_new(base, false, &h, e) || ufm_exchange_ask(h, x, &w) ? -1 : 0;
	http_free(h);
	event_base_free(base);
	if (rc)
		return -1;
	*status = w.status;
	*answer = w.answer;
	return 0;
}
