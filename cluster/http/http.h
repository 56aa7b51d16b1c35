/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h: an HTTP client that never waits, for Kubernetes and etcd.
 *
 * libcurl does the protocol, libevent waits for it. Callbacks come from the event loop, never from
 * inside a call of this table, and they may start and cancel calls and free the client. A request
 * with a body is never sent twice: libcurl would repeat it on a new connection when an old one
 * turns out to be dead, although the server may have executed it.
 */
#ifndef RAILHEAD_CLUSTER_HTTP_HTTP_H
#define RAILHEAD_CLUSTER_HTTP_HTTP_H

#include "lib/base/err.h"

struct event_base;
struct http;
struct http_call;
struct timer;

/* Texts in PEM; NULL: none. Without ca, the certificates that the system trusts. */
struct http_tls {
	const char *ca;         /* may be several certificates */
	const char *cert, *key; /* of the client, both or none */
};

/* http_new - a client on this event loop. http2: if the server offers it, behind TLS only. */
int http_new(struct event_base *base, bool http2, struct http **out, struct err *e) must_check;

/* http_set_tls - copies the texts; from now on for all new connections. */
int http_set_tls(struct http *h, const struct http_tls *tls, struct err *e) must_check;

/* http_timer - a timer of its event loop. NULL: no memory. */
struct timer *http_timer(struct http *h, void (*due)(void *arg), void *arg);

/* http_free - cancels all calls. NULL is fine. */
void http_free(struct http *h);

struct http_request {
	const char *method; /* "GET" */
	const char *url;
	const char *const *headers; /* "Name: value", NULL ends them; NULL: none */
	const char *body;           /* NULL: none */
	size_t body_len;
	unsigned connect_ms; /* until the connection stands, with TLS */
	unsigned timeout_ms; /* the whole call; of a stream until its headers */
	unsigned idle_ms;    /* a stream from its headers on: without a byte; 0: as timeout_ms */
	size_t max_body;     /* bytes of the answer; in a stream of a line */
};

enum http_end {
	HTTP_ANSWERED,  /* status, whatever it is, and the whole body */
	HTTP_NOT_SENT,  /* no byte of the request left: certainly not executed */
	HTTP_LOST,      /* no whole answer: may be executed, now or later */
	HTTP_TOO_LARGE, /* the answer is longer than max_body */
};

/* An answer, valid until the callback returns. err: set unless HTTP_ANSWERED, code ERR_IO. */
struct http_answer {
	enum http_end end;
	int status;
	const char *body; /* with NUL; "" of a stream with status 200 */
	size_t len;
	unsigned retry_ms; /* of the header Retry-After; 0: there is none */
	struct err err;
};

/* line - NULL: not a stream. Each line of an answer with status 200, without its line break. */
struct http_fns {
	void (*line)(void *arg, const char *line, size_t len);
	void (*done)(void *arg, const struct http_answer *answer); /* once; the call is gone */
};

/*
 * http_start - everything of the request is copied. NULL: no memory; nothing will be reported.
 */
struct http_call *http_start(struct http *h, const struct http_request *request,
			     const struct http_fns *fns, void *arg);

/* http_cancel - nothing more is reported. The server may still execute it. */
void http_cancel(struct http_call *c);

#endif
