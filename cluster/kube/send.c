/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send.c: one request of a call: its token, its answer, and the answer that is none. The token
 * of a ServiceAccount ends after an hour, and the kubelet has replaced its file before.
 */
#include <stdio.h>
#include <string.h>

#include "cluster/kube/fault.h"
#include "cluster/kube/priv.h"
#include "lib/base/ctx.h"
#include "lib/json/long.h"

/* A watch is silent for so long at most: the API server sends a bookmark about once a minute. */
#define WATCH_IDLE_MS (5 * 60 * 1000)

static void transmit(struct cluster_call *c);

/* ---- tokens ---- */

/* After a 401: take another token if there is one by now. A write was not looked at. */
static bool take_new_token(struct cluster_call *c)
{
	auto_free char *token = NULL;
	struct err ignored;

	if (c->again || kube_login_token(&kube_store(c)->conf.login, &token, &ignored) || !token ||
	    !c->token || !strcmp(token, c->token))
		return false;
	free(c->token);
	c->token = TAKE_PTR(token);
	c->again = true;
	return true;
}

/* ---- answers ---- */

/* The write before this look was refused; a look may also come before the write. */
static bool was_refused(const struct cluster_call *c)
{
	return c->looks && c->refused_as != CLUSTER_OK;
}

void kube_fail(struct cluster_call *c, enum cluster_outcome outcome)
{
	if (was_refused(c) && outcome != CLUSTER_NOT_FOUND) {
		c->call.result.err = c->refused;
		outcome = c->refused_as;
	}
	call_end(&c->call, outcome, NULL);
}

void kube_refused(struct cluster_call *c, int http, const struct json *answer, unsigned retry_ms)
{
	const struct kube_resource *of = c->ask->resource;
	const struct kube_asked asked = { c->ask->verb, of ? of : kube_resource(c->kind), c->name };
	struct kube_status status;
	bool ours = kube_status_read(answer, &status);
	struct kube_fault f = kube_fault(http, ours ? &status : NULL, &asked, &c->call.result.err);

	c->call.result.retry_ms = retry_ms ? retry_ms : f.retry_ms;
	if (f.remedy == KUBE_NEW_TOKEN && take_new_token(c)) {
		transmit(c);
	} else if (f.remedy == KUBE_WIDER && c->ask->wider && kube_widen(c)) {
		c->ask->wider(c);
	} else if (f.remedy == KUBE_LOOK && c->ask->changes) {
		kube_look(c, f.outcome);
	} else {
		/* only a precondition makes a conflict: the server was in its own way */
		kube_fail(c, f.outcome == CLUSTER_CONFLICT ? CLUSTER_REFUSED : f.outcome);
	}
}

static void on_kube_send_problem(struct cluster_call *c, const struct http_answer *a)
{
	auto_json struct json *tree = NULL;
	struct err ignored;

	if (json_parse(a->body, a->len, "answer", &tree, &ignored))
		tree = NULL;
	kube_refused(c, a->status, tree, a->retry_ms);
}

static void on_send_success(struct cluster_call *c, const struct http_answer *a)
{
	auto_json struct json *tree = NULL;

	if (json_parse_long(a->body, a->len, "answer of Kubernetes", &tree, &c->call.result.err))
		kube_fail(c, CLUSTER_AWAY);
	else
		c->ask->next(c, tree);
}

static void on_send_no_answer(struct cluster_call *c, const struct http_answer *a)
{
	c->call.result.err = a->err;
	(void)err_wrap(&c->call.result.err, "Kubernetes");
	if (a->end == HTTP_TOO_LARGE && c->ask->too_large)
		c->ask->too_large(c);
	else
		kube_fail(c, CLUSTER_AWAY);
}

static void on_kube_send_done(void *arg, const struct http_answer *a)
{
	struct cluster_call *c = arg;

	c->call.http = NULL;
	call_enter(&c->call);
	if (a->end != HTTP_ANSWERED)
		on_send_no_answer(c, a);
	else if (a->status < 200 || a->status > 299)
		on_kube_send_problem(c, a);
	else if (c->ask->next)
		on_send_success(c, a);
	else
		call_end(&c->call, CLUSTER_OK, NULL);
	call_leave(&c->call);
}

/* ---- requests ---- */

static void cannot_send(struct cluster_call *c)
{
	if (was_refused(c)) {
		c->call.result.err = c->refused;
		call_end_later(&c->call, c->refused_as);
	} else {
		call_end_later(&c->call, CLUSTER_AWAY);
	}
}

/*
 * The kubelet writes the status of its Node again and again. An agent wants the labels alone, and
 * the API server cuts the rest off.
 */
#define METADATA "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
#define LIST_OF  "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"

static const char *send_accepted(const struct cluster_call *c)
{
	if (c->kind != CLUSTER_KUBE_NODE && c->kind != CLUSTER_KUBE_POD)
		return "Accept: application/json";
	/* A Node is listed and watched, a Pod is read. */
	return c->kind == CLUSTER_KUBE_NODE && c->ask->next ? "Accept: " LIST_OF
							    : "Accept: " METADATA;
}

/* The headers with the token. -1: no memory. */
static int add_headers(const struct cluster_call *c, const char *headers[4], char *texts[2])
{
	size_t n = 0;

	headers[n++] = send_accepted(c);
	if (c->token) {
		if (asprintf(&texts[0], "Authorization: Bearer %s", c->token) < 0) {
			texts[0] = NULL;
			return -1;
		}
		headers[n++] = texts[0];
	}
	if (c->ask->type) {
		if (asprintf(&texts[1], "Content-Type: %s", c->ask->type) < 0) {
			texts[1] = NULL;
			return -1;
		}
		headers[n++] = texts[1];
	}
	headers[n] = NULL;
	return 0;
}

static void kube_send_start(struct cluster_call *c, unsigned left)
{
	const struct http_fns fns = { c->ask->next ? NULL : kube_watch_line, on_kube_send_done };
	const char *headers[4];
	char *texts[2] = { NULL, NULL };
	const struct http_request r = { .method = c->ask->method,
					.url = c->url,
					.headers = headers,
					.body = c->body,
					.body_len = c->body ? strlen(c->body) : 0,
					.connect_ms = left,
					.timeout_ms = left,
					.idle_ms = WATCH_IDLE_MS,
					.max_body = JSON_LONG_SIZE };

	if (!add_headers(c, headers, texts))
		c->call.http = http_start(c->call.store->http, &r, &fns, c);
	free(texts[0]);
	free(texts[1]);
}

static void transmit(struct cluster_call *c)
{
	struct err *e = &c->call.result.err;
	int64_t left = c->deadline - ctx_mono_ms();

	if (left <= 0) {
		(void)err_set(e, ERR_IO, 0, "Kubernetes: %s was not sent: no time is left",
			      c->ask->verb);
		cannot_send(c);
		return;
	}
	if (c->url && !c->ask->type == !c->body)
		kube_send_start(c, (unsigned)left);
	if (c->call.http)
		return;
	(void)err_nomem(e);
	cannot_send(c);
}

void kube_send(struct cluster_call *c, const struct kube_ask *ask, char *url, char *body)
{
	struct err *e = &c->call.result.err;

	if (!c->deadline)
		c->deadline = ctx_mono_ms() + kube_store(c)->conf.timeout_ms;
	c->ask = ask;
	free(c->url);
	free(c->body);
	c->url = url;
	c->body = body;
	free(TAKE_PTR(c->token));
	kube_renew(kube_store(c));
	if (!kube_login_token(&kube_store(c)->conf.login, &c->token, e)) {
		transmit(c);
		return;
	}
	(void)err_wrap(e, "token for Kubernetes");
	cannot_send(c);
}
