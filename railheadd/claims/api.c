/* SPDX-License-Identifier: Apache-2.0 */
/* api.c: one request, and an event loop of its own that runs until the answer is there. */
#include "railheadd/claims/api.h"

#include <event2/event.h>
#include <stdio.h>
#include <string.h>

#include "cluster/http/http.h"
#include "cluster/kube/fault.h"
#include "cluster/kube/kube.h"
#include "lib/base/text.h"
#include "railheadd/conf/agent_store.h"

#define TIMEOUT_MS 5000
#define ANSWER_MAX ((size_t)4 << 20)

struct api {
	struct event_base *base, *own; /* own NULL: the loop is the caller's */
	struct http *http;
	struct kube_login login;
};

const struct kube_resource api_claims = { KUBE_CLAIMS_GROUP, "v1", "resourceclaims",
					  "ResourceClaim", true },
			   api_slices = { KUBE_CLAIMS_GROUP, "v1", "resourceslices",
					  "ResourceSlice", false },
			   api_nodes = { "", "v1", "nodes", "Node", false },
			   api_pods = { "", "v1", "pods", "Pod", true };

/* ---- open and close ---- */

void api_close(struct api *a)
{
	if (!a)
		return;
	http_free(a->http);
	kube_login_clear(&a->login);
	if (a->own)
		event_base_free(a->own);
	free(a);
}

int api_open(const struct agent_conf_kube *conf, struct event_base *base, struct api **out,
	     struct err *e)
{
	auto_api struct api *a = calloc(1, sizeof(*a));

	if (!a)
		return err_nomem(e);
	a->base = base ? base : (a->own = event_base_new());
	if (!a->base)
		return err_nomem(e);
	if (agent_store_login(conf, &a->login, e) || kube_login_check(&a->login, e) ||
	    http_new(a->base, false, &a->http, e) ||
	    http_set_tls(a->http, &(struct http_tls){ a->login.ca, a->login.cert, a->login.key },
			 e))
		return err_wrap(e, "kubernetes");
	*out = TAKE_PTR(a);
	return 0;
}

/* ---- a request ---- */

struct api_sent {
	struct api *api;
	struct api_request request;
	struct http_call *call;
	api_fn done;
	void *arg;
};

static int api_judge(const struct api_request *r, const struct http_answer *a,
		     const struct json *tree, struct err *e)
{
	const struct kube_asked asked = { r->verb, r->resource, r->name ? r->name : "" };
	struct kube_status status;
	bool ours = kube_status_read(tree, &status);

	(void)kube_fault(a->status, ours ? &status : NULL, &asked, e);
	return -1;
}

static int api_take(const struct api_request *r, const struct http_answer *a, struct json **out,
		    struct err *e)
{
	auto_json struct json *tree = NULL;
	struct err why;

	if (a->end != HTTP_ANSWERED) {
		*e = a->err;
		e->code = ERR_UNAVAILABLE;
		return err_wrap(e, "Kubernetes: cannot %s %s", r->verb, r->resource->plural);
	}
	if (json_parse(a->body, a->len, "answer of Kubernetes", &tree, &why))
		tree = NULL;
	if (a->status < 200 || a->status >= 300)
		return api_judge(r, a, tree, e);
	*out = TAKE_PTR(tree);
	return *out ? 0 : err_pass(e, &why);
}

static void api_done(void *arg, const struct http_answer *a)
{
	const struct api_sent s = *(struct api_sent *)arg;
	struct json *answer = NULL;
	struct err e;
	const int rc = api_take(&s.request, a, &answer, &e);

	free(arg);
	s.done(s.arg, answer, rc ? &e : NULL);
}

static char *api_url(const struct api *a, const struct api_request *r)
{
	auto_text struct text t = { 0 };

	if (*r->resource->group)
		text_addf(&t, "%s/apis/%s/%s", a->login.server, r->resource->group,
			  r->resource->version);
	else
		text_addf(&t, "%s/api/%s", a->login.server, r->resource->version);
	if (r->ns)
		text_addf(&t, "/namespaces/%s", r->ns);
	text_addf(&t, "/%s", r->resource->plural);
	if (r->name)
		text_addf(&t, "/%s", r->name);
	if (r->query)
		text_addf(&t, "?%s", r->query);
	return text_take(&t);
}

static int api_start(struct api_sent *s, const char *url, const char *body, struct err *e)
{
	static const struct http_fns fns = { .done = api_done };
	const unsigned ms = s->request.timeout_ms ? s->request.timeout_ms : TIMEOUT_MS;
	auto_free char *token = NULL, *header = NULL;
	const char *headers[4] = { "Accept: application/json" };
	size_t n = 1;

	if (kube_login_token(&s->api->login, &token, e))
		return err_wrap(e, "token for Kubernetes");
	if (token && asprintf(&header, "Authorization: Bearer %s", token) < 0) {
		header = NULL;
		return err_nomem(e);
	}
	if (header)
		headers[n++] = header;
	if (body)
		headers[n++] = strcmp(s->request.method, "PATCH") == 0
				       ? "Content-Type: application/apply-patch+yaml"
				       : "Content-Type: application/json";
	const struct http_request request = { .method = s->request.method,
					      .url = url,
					      .headers = headers,
					      .body = body,
					      .body_len = body ? strlen(body) : 0,
					      .connect_ms = ms,
					      .timeout_ms = ms,
					      .max_body = ANSWER_MAX };

	s->call = http_start(s->api->http, &request, &fns, s);
	return s->call ? 0 : err_nomem(e);
}

struct api_sent *api_send(struct api *a, const struct api_request *r, api_fn done, void *arg,
			  struct err *e)
{
	auto_free char *url = api_url(a, r), *body = r->body ? json_print(r->body, false) : NULL;
	auto_free struct api_sent *s = malloc(sizeof(*s));

	if (!s || !url || (r->body && !body)) {
		(void)err_nomem(e);
		return NULL;
	}
	*s = (struct api_sent){ a, *r, NULL, done, arg };
	return api_start(s, url, body, e) ? NULL : TAKE_PTR(s);
}

void api_cancel(struct api_sent *s)
{
	if (s)
		http_cancel(s->call);
	free(s);
}

/* ---- and its answer ---- */

struct api_wait {
	struct api *api;
	struct json *answer; /* owned */
	struct err *e;
	int rc;
};

static void api_waited(void *arg, struct json *answer, const struct err *why)
{
	struct api_wait *w = arg;

	(void)event_base_loopbreak(w->api->base);
	w->answer = answer;
	w->rc = why ? err_pass(w->e, why) : 0;
}

int api_call(struct api *a, const struct api_request *r, struct json **answer, struct err *e)
{
	struct api_wait w = { .api = a, .e = e };

	if (!api_send(a, r, api_waited, &w, e))
		return -1;
	w.rc = err_set(e, ERR_UNAVAILABLE, 0, "Kubernetes: the event loop has ended");
	(void)event_base_dispatch(a->base);
	if (answer)
		*answer = TAKE_PTR(w.answer);
	json_free(w.answer);
	return w.rc;
}
