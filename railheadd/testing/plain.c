/* SPDX-License-Identifier: Apache-2.0 */
/* plain.c: requests as an etcd client would send them to the JSON gateway, with a body each. */
#include "railheadd/testing/plain.h"

#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster/http/http.h"
#include "lib/base/base64.h"
#include "lib/base/ctx.h"

/* cluster/http keeps so many idle connections for one client. */
#define CONNECTIONS 256
#define CLIENTS_MAX 16
/* About as many as the value of a block has. */
#define VALUE_BYTES 240
#define TIMEOUT_MS  60000

struct plain;

struct client {
	struct plain *plain;
	struct http *http;
};

struct plain {
	struct event_base *base;
	struct client clients[CLIENTS_MAX];
	char url[256];
	uint32_t key; /* the next one */
	uint32_t begun, done, n;
};

static void begin_next(struct client *c);

static void created(void *arg, const struct http_answer *a)
{
	struct client *c = arg;
	struct plain *p = c->plain;

	if (a->end != HTTP_ANSWERED || a->status != 200 || !strstr(a->body, "\"succeeded\":true")) {
		(void)fprintf(stderr, "plain client: %d %s %s\n", a->status, a->body, a->err.msg);
		exit(2);
	}
	if (++p->done == p->n)
		(void)event_base_loopbreak(p->base);
	else if (p->begun < p->n)
		begin_next(c);
}

static void begin_next(struct client *c)
{
	static const char *const headers[] = { "Content-Type: application/json", NULL };
	static const struct http_fns fns = { NULL, created };
	char key[32], value[VALUE_BYTES + 1], key64[64], value64[2 * VALUE_BYTES], body[2048];
	struct plain *p = c->plain;

	(void)snprintf(key, sizeof(key), "/plain/%08" PRIu32, p->key++);
	p->begun++;
	memset(value, 'v', sizeof(value));
	(void)base64_encode(key, strlen(key), key64);
	(void)base64_encode(value, VALUE_BYTES, value64);

	const int len =
		snprintf(body, sizeof(body),
			 "{\"compare\":[{\"key\":\"%s\",\"target\":\"CREATE\",\"result\":"
			 "\"EQUAL\",\"create_revision\":\"0\"}],\"success\":[{\"request_put\":"
			 "{\"key\":\"%s\",\"value\":\"%s\"}}]}",
			 key64, key64, value64);
	const struct http_request r = { .method = "POST",
					.url = p->url,
					.headers = headers,
					.body = body,
					.body_len = (size_t)len,
					.connect_ms = TIMEOUT_MS,
					.timeout_ms = TIMEOUT_MS,
					.max_body = 65536 };

	if (!http_start(c->http, &r, &fns, c))
		abort();
}

struct plain *plain_new(struct event_base *base, const char *url)
{
	struct plain *p = calloc(1, sizeof(*p));
	struct err e;

	if (!p)
		abort();
	p->base = base;
	(void)snprintf(p->url, sizeof(p->url), "%.200s/v3/kv/txn", url);
	for (size_t i = 0; i < CLIENTS_MAX; i++) {
		p->clients[i].plain = p;
		if (http_new(base, false, &p->clients[i].http, &e))
			abort();
	}
	return p;
}

void plain_free(struct plain *p)
{
	for (size_t i = 0; i < CLIENTS_MAX; i++)
		http_free(p->clients[i].http);
	free(p);
}

int64_t plain_creates(struct plain *p, uint32_t n, uint32_t at_a_time)
{
	struct ctx ctx;
	int64_t began;

	ctx_init(&ctx, "plain");
	began = ctx_since_boot(&ctx);
	p->begun = p->done = 0;
	p->n = n;
	while (p->begun < n && p->begun < at_a_time && p->begun < CLIENTS_MAX * CONNECTIONS)
		begin_next(&p->clients[p->begun / CONNECTIONS]);
	(void)event_base_dispatch(p->base);
	return ctx_since_boot(&ctx) - began;
}
