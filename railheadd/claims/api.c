/* SPDX-License-Identifier: Apache-2.0 */
/* api.c: an event loop of its own that runs until the answer is there. */
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
	struct event_base *base;
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
	if (a->base)
		event_base_free(a->base);
	free(a);
}

int api_open(const struct agent_conf_kube *conf, struct api **out, struct err *e)
{
	auto_api struct api *a = calloc(1, sizeof(*a));

	if (!a)
		return err_nomem(e);
	a->base = event_base_new();
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

struct api_wait {
	struct api *api;
	const struct api_request *request;
	struct json *answer; /* owned */
	struct err *e;
	int rc;
};

static void api_judge(struct api_wait *w, const struct http_answer *a, const struct json *tree)
{
	const struct api_request *r = w->request;
	const struct kube_asked asked = { r->verb, r->resource, r->name ? r->name : "" };
	struct kube_status status;
	bool ours = kube_status_read(tree, &status);

	w->rc = -1;
	(void)kube_fault(a->status, ours ? &status : NULL, &asked, w->e);
}

static void api_done(void *arg, const struct http_answer *a)
{
	struct api_wait *w = arg;
	auto_json struct json *tree = NULL;
	struct err why;
	bool good = a->end == HTTP_ANSWERED && a->status >= 200 && a->status < 300;

	(void)event_base_loopbreak(w->api->base);
	if (a->end != HTTP_ANSWERED) {
		*w->e = a->err;
		w->e->code = ERR_UNAVAILABLE;
		w->rc = err_wrap(w->e, "Kubernetes: cannot %s %s", w->request->verb,
				 w->request->resource->plural);
		return;
	}
	if (json_parse(a->body, a->len, "answer of Kubernetes", &tree, &why))
		tree = NULL;
	if (!good) {
		api_judge(w, a, tree);
		return;
	}
	w->rc = tree ? 0 : err_pass(w->e, &why);
	w->answer = TAKE_PTR(tree);
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

static int api_send(struct api_wait *w, const char *url, const char *body)
{
	static const struct http_fns fns = { .done = api_done };
	struct api *a = w->api;
	auto_free char *token = NULL, *header = NULL;
	const char *headers[4] = { "Accept: application/json" };
	size_t n = 1;

	if (kube_login_token(&a->login, &token, w->e))
		return err_wrap(w->e, "token for Kubernetes");
	if (token && asprintf(&header, "Authorization: Bearer %s", token) < 0) {
		header = NULL;
		return err_nomem(w->e);
	}
	if (header)
		headers[n++] = header;
	if (body)
		headers[n++] = strcmp(w->request->method, "PATCH") == 0
				       ? "Content-Type: application/apply-patch+yaml"
				       : "Content-Type: application/json";
	const struct http_request request = { .method = w->request->method,
					      .url = url,
					      .headers = headers,
					      .body = body,
					      .body_len = body ? strlen(body) : 0,
					      .connect_ms = TIMEOUT_MS,
					      .timeout_ms = TIMEOUT_MS,
					      .max_body = ANSWER_MAX };

	if (!http_start(a->http, &request, &fns, w))
		return err_nomem(w->e);
	w->rc = err_set(w->e, ERR_UNAVAILABLE, 0, "Kubernetes: the event loop has ended");
	(void)event_base_dispatch(a->base);
	return w->rc;
}

int api_call(struct api *a, const struct api_request *r, struct json **answer, struct err *e)
{
	auto_free char *url = api_url(a, r), *body = r->body ? json_print(r->body, false) : NULL;
	struct api_wait w = { .api = a, .request = r, .e = e };

	if (!url || (r->body && !body))
		return err_nomem(e);
	if (api_send(&w, url, body))
		return -1;
	if (answer)
		*answer = TAKE_PTR(w.answer);
	json_free(w.answer);
	return 0;
}
