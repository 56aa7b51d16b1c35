/* SPDX-License-Identifier: Apache-2.0 */
/* ahead.c: a claim, and the pod for which it is reserved. */
#include "railheadd/claims/ahead.h"

#include <stdlib.h>

#include "railheadd/claims/api.h"

#define AHEAD_MS 1000 /* the child has its own time to wait for the API server */

struct ahead_read {
	struct ahead *of;
	struct dra_request *request;
	struct api_sent *sent;
	void (*done)(void *arg);
	void *arg;
};

static void ahead_got(void *arg, struct json *answer, const struct err *why);

static bool ahead_send(struct ahead_read *x)
{
	const struct dra_request *r = x->request;
	struct api_request get = API_GET(&api_claims, r->of[0].ns, r->of[0].name);
	struct err ignored;

	get.timeout_ms = AHEAD_MS;
	if (r->claim) {
		const struct json *status = json_get(r->claim, "status");

		get.resource = &api_pods;
		get.name = json_text(json_first(json_get(status, "reservedFor")), "name");
	}
	x->sent = id_valid(get.name) ? api_send(x->of->api, &get, ahead_got, x, &ignored) : NULL;
	return x->sent;
}

void ahead_cancel(struct ahead_read *x)
{
	if (!x)
		return;
	api_cancel(x->sent);
	x->of->n--;
	free(x);
}

static void ahead_got(void *arg, struct json *answer, const struct err *why)
{
	const struct ahead_read x = *(struct ahead_read *)arg;
	struct ahead_read *at = arg;

	at->sent = NULL;
	x.of->stale |= why != NULL;
	if (x.request->claim) {
		x.request->pod = answer;
	} else {
		x.request->claim = answer;
		if (answer && ahead_send(at))
			return;
	}
	ahead_cancel(at);
	x.done(x.arg);
}

struct ahead_read *ahead_begin(struct ahead *a, struct dra_request *r, void (*done)(void *arg),
			       void *arg)
{
	struct ahead_read *x;
	struct err ignored;

	if (a->stale && !a->n)
		ahead_clear(a);
	if (r->n != 1 || (!a->api && api_open(a->kube, a->base, &a->api, &ignored)))
		return NULL;
	x = malloc(sizeof(*x));
	if (!x)
		return NULL;
	*x = (struct ahead_read){ a, r, NULL, done, arg };
	a->n++;
	if (ahead_send(x))
		return x;
	ahead_cancel(x);
	return NULL;
}

void ahead_clear(struct ahead *a)
{
	api_close(a->api);
	a->api = NULL;
	a->stale = false;
}
