/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priv.h: the client and a call, for cluster/http only.
 */
#ifndef RAILHEAD_CLUSTER_HTTP_PRIV_H
#define RAILHEAD_CLUSTER_HTTP_PRIV_H

#include <curl/curl.h>
#include <sys/queue.h>

#include "cluster/http/http.h"
#include "cluster/http/lines.h"

TAILQ_HEAD(http_calls, http_call);

struct http {
	struct event_base *base;
	CURLM *multi;
	struct timer *timer; /* libcurl's */
	bool http2;
	char *ca, *cert, *key;
	struct http_calls calls; /* all */
	struct http_calls ready; /* those with something to report */
	bool reporting;          /* a callback runs: free later */
	bool closed;
};

struct http_call {
	TAILQ_ENTRY(http_call) all, in_ready;
	struct http *http;
	struct http_fns fns;
	void *arg;
	CURL *easy;
	struct curl_slist *headers;
	struct timer *deadline;
	unsigned timeout_ms, idle_ms;
	char *name; /* "POST https://...", for errors */
	char *body; /* of the request */
	size_t body_len, body_at;
	size_t max_body;
	struct http_lines lines; /* the answer; without a stream its text only */
	char problem[CURL_ERROR_SIZE];
	bool ready;     /* in the list */
	bool reporting; /* one of its callbacks runs */
	bool dead;      /* cancelled or reported: free it after the callback */
	bool began;     /* a stream: its headers came */
	bool attached;  /* libcurl has it, and it is in the list of all */
	bool paused, too_large, too_late, finished;
	CURLcode code;
};

/* call_is_ready - put it among those with something to report. */
void call_is_ready(struct http_call *c);

/* call_report - hand out lines, and the end if it is there. The call may be freed. */
void call_report(struct http_call *c);

/* http_report - call_report() for all that are ready; frees the client if it was closed. */
void http_report(struct http *h);

#endif
