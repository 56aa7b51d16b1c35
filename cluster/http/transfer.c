/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transfer.c: one request: its options, its answer in pieces, its deadline. The body of a request
 * is handed out by a function that cannot start again: libcurl then fails where it would send it a
 * second time.
 */
#include <stdio.h>
#include <string.h>

#include "cluster/http/priv.h"
#include "lib/base/version.h"
#include "lib/sys/timer.h"

/* A stream is paused while so many bytes wait for the callback. */
#define PAUSE_AT ((size_t)256 * 1024)

void call_is_ready(struct http_call *c)
{
	if (!c->ready)
		TAILQ_INSERT_TAIL(&c->http->ready, c, in_ready);
	c->ready = true;
}

static bool streams(const struct http_call *c)
{
	long status = 0;

	return c->fns.line && !curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status) &&
	       status == 200;
}

static int set_deadline(struct http_call *c)
{
	return timer_arm(c->deadline, c->timeout_ms);
}

/* ---- called by libcurl ---- */

static size_t give_body(char *to, size_t size, size_t n, void *arg)
{
	struct http_call *c = arg;
	size_t left = c->body_len - c->body_at, len = size * n < left ? size * n : left;

	memcpy(to, c->body + c->body_at, len);
	c->body_at += len;
	return len;
}

static size_t take_lines(struct http_call *c, const char *data, size_t len)
{
	if (c->ready && http_lines_waiting(&c->lines) > PAUSE_AT) {
		c->paused = true;
		return CURL_WRITEFUNC_PAUSE;
	}
	if (http_lines_add(&c->lines, data, len)) {
		c->too_large = !c->lines.text.failed;
		return CURL_WRITEFUNC_ERROR;
	}
	if (set_deadline(c))
		return CURL_WRITEFUNC_ERROR;
	call_is_ready(c);
	return len;
}

/* A stream may be silent from its headers on: then the other limit counts. */
static size_t take_header(const char *data, size_t size, size_t n, void *arg)
{
	struct http_call *c = arg;

	(void)data;
	if (streams(c) && !c->began) {
		c->began = true;
		c->timeout_ms = c->idle_ms;
		if (set_deadline(c))
			return 0;
	}
	return size * n;
}

static size_t take_answer(char *data, size_t size, size_t n, void *arg)
{
	struct http_call *c = arg;
	size_t len = size * n;

	if (streams(c))
		return take_lines(c, data, len);
	if (len > c->max_body - c->lines.text.len) {
		c->too_large = true;
		return CURL_WRITEFUNC_ERROR;
	}
	text_add_len(&c->lines.text, data, len);
	return c->lines.text.failed ? CURL_WRITEFUNC_ERROR : len;
}

/* ---- making a call ---- */

static int add_header(struct http_call *c, const char *text)
{
	struct curl_slist *more = curl_slist_append(c->headers, text);

	if (more)
		c->headers = more;
	return more ? 0 : -1;
}

/* libcurl would wait for the server's consent to a long body, and say a type of its own. */
static int set_headers(struct http_call *c, const struct http_request *r)
{
	if (r->body && add_header(c, "Expect:"))
		return -1;
	for (const char *const *h = r->headers; h && *h; h++)
		if (add_header(c, *h))
			return -1;
	return curl_easy_setopt(c->easy, CURLOPT_HTTPHEADER, c->headers) ? -1 : 0;
}

static int set_blob(CURL *easy, CURLoption option, char *text)
{
	struct curl_blob blob = { text, text ? strlen(text) : 0, CURL_BLOB_COPY };

	return text && curl_easy_setopt(easy, option, &blob) ? -1 : 0;
}

static int set_tls(struct http_call *c)
{
	CURL *easy = c->easy;

	/* The folder of the system's certificates would be trusted beside the given ones. */
	if (c->http->ca && curl_easy_setopt(easy, CURLOPT_CAPATH, NULL))
		return -1;
	return curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) ||
	       set_blob(easy, CURLOPT_CAINFO_BLOB, c->http->ca) ||
	       set_blob(easy, CURLOPT_SSLCERT_BLOB, c->http->cert) ||
	       set_blob(easy, CURLOPT_SSLKEY_BLOB, c->http->key);
}

/* Headers with credentials go to the server that was named: no proxy, no redirection. */
static int set_connection(struct http_call *c, const struct http_request *r)
{
	CURL *easy = c->easy;
	long version = c->http->http2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1;

	return curl_easy_setopt(easy, CURLOPT_URL, r->url) ||
	       curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https") ||
	       curl_easy_setopt(easy, CURLOPT_PROXY, "") ||
	       curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L) ||
	       curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L) ||
	       curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, version) ||
	       curl_easy_setopt(easy, CURLOPT_PIPEWAIT, c->http->http2 ? 1L : 0L) ||
	       curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L) ||
	       curl_easy_setopt(easy, CURLOPT_TCP_KEEPIDLE, 30L) ||
	       curl_easy_setopt(easy, CURLOPT_TCP_KEEPINTVL, 10L) ||
	       curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)r->connect_ms) ||
	       curl_easy_setopt(easy, CURLOPT_USERAGENT, "railhead/" RAILHEAD_VERSION);
}

static int set_transfer(struct http_call *c, const struct http_request *r)
{
	CURL *easy = c->easy;

	if (curl_easy_setopt(easy, CURLOPT_PRIVATE, c) ||
	    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, c->problem) ||
	    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_answer) ||
	    curl_easy_setopt(easy, CURLOPT_WRITEDATA, c) ||
	    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, take_header) ||
	    curl_easy_setopt(easy, CURLOPT_HEADERDATA, c) || set_headers(c, r))
		return -1;
	if (r->body &&
	    (curl_easy_setopt(easy, CURLOPT_POST, 1L) ||
	     curl_easy_setopt(easy, CURLOPT_READFUNCTION, give_body) ||
	     curl_easy_setopt(easy, CURLOPT_READDATA, c) ||
	     curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)r->body_len)))
		return -1;
	return curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, r->method) ? -1 : 0;
}

/* Take it away from libcurl and the lists, and stop its clock. */
static void call_detach(struct http_call *c)
{
	if (c->attached) {
		(void)curl_multi_remove_handle(c->http->multi, c->easy);
		TAILQ_REMOVE(&c->http->calls, c, all);
	}
	if (c->ready)
		TAILQ_REMOVE(&c->http->ready, c, in_ready);
	c->attached = c->ready = false;
	timer_stop(c->deadline);
}

static void call_free(struct http_call *c)
{
	call_detach(c);
	if (c->easy)
		curl_easy_cleanup(c->easy);
	timer_free(c->deadline);
	curl_slist_free_all(c->headers);
	http_lines_clear(&c->lines);
	free(c->name);
	free(c->body);
	free(c);
}

static void on_deadline(void *arg)
{
	struct http_call *c = arg;

	c->too_late = c->finished = true;
	call_is_ready(c);
	http_report(c->http);
}

/* "POST https://10.0.0.1:2379/v3/kv/txn", without what follows a question mark. */
static char *call_name(const struct http_request *r)
{
	char *name = NULL;

	return asprintf(&name, "%s %.*s", r->method, (int)strcspn(r->url, "?"), r->url) < 0 ? NULL
											    : name;
}

static int call_fill(struct http_call *c, const struct http_request *r)
{
	c->timeout_ms = r->timeout_ms;
	c->idle_ms = r->idle_ms ? r->idle_ms : r->timeout_ms;
	c->max_body = c->lines.max = r->max_body;
	c->name = call_name(r);
	c->easy = curl_easy_init();
	c->deadline = timer_new(c->http->base, on_deadline, c);
	if (r->body) {
		c->body_len = r->body_len;
		c->body = malloc(r->body_len + 1);
	}
	if (!c->name || !c->easy || !c->deadline || (r->body && !c->body))
		return -1;
	if (r->body)
		memcpy(c->body, r->body, r->body_len);
	return set_connection(c, r) || set_tls(c) || set_transfer(c, r) || set_deadline(c) ? -1 : 0;
}

struct http_call *http_start(struct http *h, const struct http_request *request,
			     const struct http_fns *fns, void *arg)
{
	struct http_call *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->http = h;
	c->fns = *fns;
	c->arg = arg;
	if (call_fill(c, request) || curl_multi_add_handle(h->multi, c->easy)) {
		call_free(c);
		return NULL;
	}
	c->attached = true;
	TAILQ_INSERT_TAIL(&h->calls, c, all);
	return c;
}

void http_cancel(struct http_call *c)
{
	call_detach(c);
	c->dead = true;
	if (!c->reporting)
		call_free(c);
}

/* ---- its end ---- */

static bool was_sent(struct http_call *c)
{
	long size = 0;

	(void)curl_easy_getinfo(c->easy, CURLINFO_REQUEST_SIZE, &size);
	return size > 0 || c->body_at > 0;
}

static void set_error(struct http_call *c, struct err *e)
{
	const char *why = *c->problem ? c->problem : curl_easy_strerror(c->code);

	if (c->too_large)
		(void)err_set(e, ERR_IO, 0, "%s: the answer has more than %zu bytes", c->name,
			      c->max_body);
	else if (c->too_late)
		(void)err_set(e, ERR_IO, 0, "%s: no answer within %u ms", c->name, c->timeout_ms);
	else
		(void)err_set(e, ERR_IO, 0, "%s: %s", c->name, why);
	if (!c->too_late && strstr(why, "alert") &&
	    (strstr(why, "certificate") || strstr(why, "unknown ca")))
		(void)err_hint(e, "the server refuses the client certificate: check whether it has "
				  "ended, and whether the server trusts its CA");
	else if (!c->too_late &&
		 (c->code == CURLE_PEER_FAILED_VERIFICATION || c->code == CURLE_SSL_CONNECT_ERROR ||
		  c->code == CURLE_SSL_CERTPROBLEM))
		(void)err_hint(e, "compare the CA and the client certificate that are configured "
				  "with those of the server");
}

static void report_end(struct http_call *c)
{
	struct http_answer a = { .end = HTTP_ANSWERED, .body = "" };
	curl_off_t retry_s = 0;
	long status = 0;

	(void)curl_easy_getinfo(c->easy, CURLINFO_RESPONSE_CODE, &status);
	(void)curl_easy_getinfo(c->easy, CURLINFO_RETRY_AFTER, &retry_s);
	a.status = (int)status;
	a.retry_ms = retry_s > 0 ? retry_s < 3600 ? (unsigned)retry_s * 1000 : 3600000 : 0;
	if (c->too_large)
		a.end = HTTP_TOO_LARGE;
	else if (c->too_late || c->code)
		a.end = was_sent(c) ? HTTP_LOST : HTTP_NOT_SENT;
	if (a.end != HTTP_ANSWERED)
		set_error(c, &a.err);
	if (!streams(c) && c->lines.text.s) {
		a.body = c->lines.text.s;
		a.len = c->lines.text.len;
	}
	call_detach(c);
	c->fns.done(c->arg, &a);
	c->dead = true;
}

void call_report(struct http_call *c)
{
	struct slice line;
	bool lines = streams(c);

	c->reporting = true;
	while (lines && !c->dead && http_lines_next(&c->lines, &line))
		c->fns.line(c->arg, line.p, line.len);
	if (!c->dead && c->finished)
		report_end(c);
	c->reporting = false;
	if (c->dead) {
		call_free(c);
	} else if (c->paused) {
		c->paused = false;
		c->code = curl_easy_pause(c->easy, CURLPAUSE_CONT);
		if (c->code) {
			c->finished = true;
			call_is_ready(c);
		}
	}
}
