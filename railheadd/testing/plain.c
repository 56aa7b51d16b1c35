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

#define AT_A_TIME 64
/* About as many as the value of a block has. */
#define VALUE_BYTES 240
#define TIMEOUT_MS  60000

struct plain {
	struct event_base *base;
	struct http *http;
	char url[256];
	uint32_t next, done, n;
};

static void begin_next(struct plain *p);

static void created(void *arg, const struct http_answer *a)
{
	struct plain *p = arg;

	if (a->end != HTTP_ANSWERED || a->status != 200 || !strstr(a->body, "\"succeeded\":true")) {
		(void)fprintf(stderr, "plain client: %d %s %s\n", a->status, a->body, a->err.msg);
		exit(2);
	}
	if (++p->done == p->n)
		(void)event_base_loopbreak(p->base);
	else if (p->next < p->n)
		begin_next(p);
}

static void begin_next(struct plain *p)
{
	static const char *const headers[] = { "Content-Type: application/json", NULL };
	static const struct http_fns fns = { NULL, created };
	char key[32], value[VALUE_BYTES + 1], key64[64], value64[2 * VALUE_BYTES], body[2048];

	(void)snprintf(key, sizeof(key), "/plain/%08" PRIu32, p->next++);
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

	if (!http_start(p->http, &r, &fns, p))
		abort();
}

int64_t plain_creates(struct event_base *base, const char *url, uint32_t n)
{
	struct plain p = { .base = base, .n = n };
	struct err e;
	struct ctx ctx;

	(void)snprintf(p.url, sizeof(p.url), "%.200s/v3/kv/txn", url);
	if (http_new(base, false, &p.http, &e))
		abort();
	ctx_init(&ctx, "plain");

	const int64_t began = ctx_since_boot(&ctx);

	while (p.next < n && p.next < AT_A_TIME)
		begin_next(&p);
	(void)event_base_dispatch(base);

	const int64_t took = ctx_since_boot(&ctx) - began;

	http_free(p.http);
	return took;
}
