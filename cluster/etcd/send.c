/* SPDX-License-Identifier: Apache-2.0 */
/*
 * send.c: one request of a call: which endpoint, with which token, and what to do about an
 * answer that is none. A write that may have been executed is never repeated here.
 */
#include <stdio.h>
#include <string.h>

#include "cluster/etcd/fault.h"
#include "cluster/etcd/priv.h"
#include "cluster/etcd/request.h"
#include "lib/base/ctx.h"
#include "lib/json/long.h"

/* How often one call gets a new token before it believes that no token helps. */
#define RENEWALS 2
/* How often a token is asked for again because the answer was lost. */
#define LOST_TOKENS 2
/* A watch is silent for so long at most: etcd reports progress every 10 minutes. */
#define WATCH_IDLE_MS (15 * 60 * 1000)
#define LINE_MAX_LEN  JSON_LONG_SIZE
/* A member without a leader hears of no change. With this it ends its watches, as clientv3 does. */
#define WANT_LEADER "Grpc-Metadata-Hasleader: true"

static void attempt(struct cluster_call *c);

/* ---- tokens ---- */

/* The calls that wait for a token go on, or end as the login did. */
static void login_over(struct call *login)
{
	struct etcd *s = (struct etcd *)login->store;
	struct call *each;

	s->login = NULL;
	for (each = TAILQ_FIRST(&s->base.calls); each; each = TAILQ_NEXT(each, all)) {
		struct cluster_call *c = (struct cluster_call *)each;

		if (!c->waits)
			continue;
		c->waits = false;
		if (login->result.outcome == CLUSTER_OK) {
			attempt(c);
			continue;
		}
		c->call.result = login->result;
		call_end_later(&c->call, login->result.outcome);
	}
}

static void on_token(struct cluster_call *c, const struct json *answer)
{
	struct etcd *s = c->etcd;
	const char *token = etcd_token_read(answer);

	free(s->token);
	s->token = token ? strdup(token) : NULL;
	s->tokens++;
	if (!s->token)
		(void)err_set(&c->call.result.err, ERR_DECODE, 0, "etcd's answer: no token");
	call_end(&c->call, s->token ? CLUSTER_OK : CLUSTER_AWAY, NULL);
}

static void wait_for_token(struct cluster_call *c)
{
	static const struct etcd_ask ask = { .path = "/v3/auth/authenticate",
					     .verb = "authenticate",
					     .next = on_token };
	struct etcd *s = c->etcd;

	c->waits = true;
	if (s->login)
		return;
	s->login = etcd_call_new(s, login_over, NULL);
	if (s->login) {
		etcd_send(s->login, &ask, etcd_auth_body(s->user, s->password));
		return;
	}
	(void)err_nomem(&c->call.result.err);
	call_end_later(&c->call, CLUSTER_AWAY);
}

/* ---- answers ---- */

/* The endpoint did not help: ask the next one, or report. */
static void fail_over(struct cluster_call *c, bool may_repeat)
{
	struct etcd *s = c->etcd;

	if (s->at == c->endpoint)
		s->at = (s->at + 1) % s->n_endpoints;
	if (may_repeat && ++c->tried < s->n_endpoints + c->again)
		attempt(c);
	else
		call_end(&c->call, CLUSTER_AWAY, NULL);
}

/*
 * The next request gets a new token. A token names the index of etcd's log at which it was made,
 * and etcd waits without an answer until it has got there: after a restore, that may be never.
 */
static void forget_token(struct cluster_call *c)
{
	struct etcd *s = c->etcd;

	if (s->tokens == c->token_used) {
		free(s->token);
		s->token = NULL;
	}
	s->no_users = false;
}

void etcd_refused(struct cluster_call *c, const struct etcd_problem *p, unsigned retry_ms)
{
	struct etcd *s = c->etcd;
	const struct etcd_asked asked = { c->ask->verb, c->key, s->user };
	struct etcd_fault f = etcd_fault(p, &asked, &c->call.result.err);

	c->call.result.retry_ms = retry_ms ? retry_ms : f.retry_ms;
	switch (f.remedy) {
	case ETCD_NEW_TOKEN:
		forget_token(c);
		if (s->user && c->renewals++ < RENEWALS)
			attempt(c);
		else
			call_end(&c->call, f.outcome, NULL);
		return;
	case ETCD_NO_TOKEN:
		s->no_users = true;
		call_end(&c->call, c == s->login ? CLUSTER_OK : f.outcome, NULL);
		return;
	case ETCD_ELSEWHERE:
		fail_over(c, !c->ask->writes && !c->began);
		return;
	case ETCD_REPORT:
		call_end(&c->call, f.outcome, NULL);
		return;
	}
}

/* An error status. A body that is not etcd's comes from something in front of it. */
static void on_send_problem(struct cluster_call *c, const struct http_answer *a)
{
	auto_json struct json *tree = NULL;
	struct etcd_problem p = { 14, "the answer is not etcd's" };
	struct err ignored;

	if (!json_parse(a->body, a->len, "etcd's answer", &tree, &ignored))
		p = etcd_problem_read(tree);
	etcd_refused(c, &p, a->retry_ms);
}

static void on_success(struct cluster_call *c, const struct http_answer *a)
{
	auto_json struct json *tree = NULL;

	if (json_parse(a->body, a->len, "etcd's answer", &tree, &c->call.result.err))
		fail_over(c, !c->ask->writes);
	else
		c->ask->next(c, tree);
}

/*
 * Calls wait for the token, and each would pause if they all ended with this one. To ask for a
 * second token does no harm.
 */
static void repeat_login(struct cluster_call *c)
{
	if (c == c->etcd->login && c->again < LOST_TOKENS && c->deadline > ctx_mono_ms())
		c->again++;
}

static void on_no_answer(struct cluster_call *c, const struct http_answer *a)
{
	c->call.result.err = a->err;
	(void)err_wrap(&c->call.result.err, "etcd: %s %s", c->ask->verb, c->key);
	if (a->end == HTTP_LOST) {
		forget_token(c);
		repeat_login(c);
	}
	if (a->end == HTTP_TOO_LARGE && c->ask->too_large)
		c->ask->too_large(c);
	else
		fail_over(c, a->end == HTTP_NOT_SENT || (!c->ask->writes && !c->began));
}

static void on_send_done(void *arg, const struct http_answer *a)
{
	struct cluster_call *c = arg;

	c->call.http = NULL;
	call_enter(&c->call);
	if (a->end != HTTP_ANSWERED)
		on_no_answer(c, a);
	else if (a->status != 200)
		on_send_problem(c, a);
	else if (c->ask->next)
		on_success(c, a);
	else
		etcd_watch_over(c);
	call_leave(&c->call);
}

/* ---- requests ---- */

static unsigned at_least_one(int64_t ms)
{
	return ms > 0 ? (unsigned)ms : 1;
}

/*
 * Each endpoint that is left gets an equal part of the time to accept a connection; and to answer a
 * read. A write that was sent waits for its answer until the end.
 */
static void send_start(struct cluster_call *c, const char *url, const char *const *headers)
{
	struct etcd *s = c->etcd;
	const struct http_fns fns = { c->ask->next ? NULL : etcd_watch_line, on_send_done };
	int64_t left = c->deadline - ctx_mono_ms();
	unsigned part = at_least_one(left / (int64_t)(s->n_endpoints + c->again - c->tried));
	const struct http_request r = { .method = "POST",
					.url = url,
					.headers = headers,
					.body = c->body,
					.body_len = strlen(c->body),
					.connect_ms = part,
					.timeout_ms = c->ask->writes ? at_least_one(left) : part,
					.idle_ms = WATCH_IDLE_MS,
					.max_body = c->ask->next ? JSON_MAX_SIZE : LINE_MAX_LEN };

	c->call.http = http_start(s->base.http, &r, &fns, c);
}

static void attempt(struct cluster_call *c)
{
	struct etcd *s = c->etcd;
	auto_free char *url = NULL, *authorization = NULL;
	const char *headers[] = { "Content-Type: application/json", WANT_LEADER, NULL, NULL };

	if (c->deadline <= ctx_mono_ms()) {
		(void)err_set(&c->call.result.err, ERR_IO, 0,
			      "etcd: %s %s was not sent: no time is left", c->ask->verb, c->key);
		call_end_later(&c->call, CLUSTER_AWAY);
		return;
	}
	etcd_renew(s);
	if (s->user && !s->token && !s->no_users && c != s->login) {
		wait_for_token(c);
		return;
	}
	c->endpoint = s->at;
	c->token_used = s->tokens;
	if (asprintf(&url, "%s%s", s->endpoints[s->at], c->ask->path) < 0)
		url = NULL;
	if (s->token && c != s->login) {
		if (asprintf(&authorization, "Authorization: %s", s->token) < 0)
			authorization = NULL;
		headers[2] = authorization;
	}
	if (url && c->body && (headers[2] || !s->token || c == s->login))
		send_start(c, url, headers);
	if (c->call.http)
		return;
	(void)err_nomem(&c->call.result.err);
	call_end_later(&c->call, CLUSTER_AWAY);
}

void etcd_send(struct cluster_call *c, const struct etcd_ask *ask, char *body)
{
	if (!c->deadline)
		c->deadline = ctx_mono_ms() + c->etcd->timeout_ms;
	c->ask = ask;
	c->tried = c->again = 0;
	free(c->body);
	c->body = body;
	attempt(c);
}
