/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.c: the client: libcurl asks for sockets and a timer, libevent has them. libcurl's callbacks
 * only note what happened; users hear of it when libcurl has returned, because inside of it no
 * call may be removed.
 */
#include "cluster/http/http.h"

#include <event2/event.h>
#include <string.h>

#include "cluster/http/priv.h"
#include "lib/sys/timer.h"

/* Idle connections that are kept; with fewer than requests at once, TLS starts again for each. */
#define IDLE_CONNECTIONS 256L

/* Which calls libcurl has ended. */
static void note_ends(struct http *h)
{
	int left;

	for (CURLMsg *m; (m = curl_multi_info_read(h->multi, &left));) {
		struct http_call *c = NULL;

		if (m->msg != CURLMSG_DONE ||
		    curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &c) || !c)
			continue;
		c->finished = true;
		c->code = m->data.result;
		call_is_ready(c);
	}
}

static void http_destroy(struct http *h)
{
	if (h->multi)
		(void)curl_multi_cleanup(h->multi);
	timer_free(h->timer);
	free(h->ca);
	free(h->cert);
	free(h->key);
	free(h);
	curl_global_cleanup();
}

void http_report(struct http *h)
{
	struct http_call *c;

	h->reporting = true;
	while ((c = TAILQ_FIRST(&h->ready))) {
		TAILQ_REMOVE(&h->ready, c, in_ready);
		c->ready = false;
		call_report(c);
	}
	h->reporting = false;
	if (h->closed)
		http_destroy(h);
}

static void on_socket_event(evutil_socket_t fd, short what, void *arg)
{
	struct http *h = arg;
	int running, mask = (what & EV_READ ? CURL_CSELECT_IN : 0) |
			    (what & EV_WRITE ? CURL_CSELECT_OUT : 0);

	(void)curl_multi_socket_action(h->multi, fd, mask, &running);
	note_ends(h);
	http_report(h);
}

static void on_timer(void *arg)
{
	struct http *h = arg;
	int running;

	(void)curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	note_ends(h);
	http_report(h);
}

/* libcurl: watch this socket, in another way, or no more. */
static int want_socket(CURL *easy, curl_socket_t fd, int what, void *arg, void *watched)
{
	struct http *h = arg;
	struct event *ev = watched;
	short events = (short)(EV_PERSIST | (what != CURL_POLL_OUT ? EV_READ : 0) |
			       (what != CURL_POLL_IN ? EV_WRITE : 0));

	(void)easy;
	if (ev)
		event_free(ev);
	ev = what == CURL_POLL_REMOVE ? NULL : event_new(h->base, fd, events, on_socket_event, h);
	if (ev && event_add(ev, NULL)) {
		event_free(ev);
		ev = NULL;
	}
	(void)curl_multi_assign(h->multi, fd, ev);
	return ev || what == CURL_POLL_REMOVE ? 0 : -1;
}

static int want_timer(CURLM *multi, long ms, void *arg)
{
	struct http *h = arg;

	(void)multi;
	if (ms >= 0)
		return timer_arm(h->timer, ms);
	timer_stop(h->timer);
	return 0;
}

static int prepare_multi(struct http *h)
{
	CURLM *m = h->multi;

	return curl_multi_setopt(m, CURLMOPT_SOCKETFUNCTION, want_socket) ||
	       curl_multi_setopt(m, CURLMOPT_SOCKETDATA, h) ||
	       curl_multi_setopt(m, CURLMOPT_TIMERFUNCTION, want_timer) ||
	       curl_multi_setopt(m, CURLMOPT_TIMERDATA, h) ||
	       curl_multi_setopt(m, CURLMOPT_MAXCONNECTS, IDLE_CONNECTIONS);
}

int http_new(struct event_base *base, bool http2, struct http **out, struct err *e)
{
	if (curl_global_init(CURL_GLOBAL_DEFAULT))
		return err_set(e, ERR_IO, 0, "libcurl cannot be initialised");

	struct http *h = calloc(1, sizeof(*h));

	if (!h) {
		curl_global_cleanup();
		return err_nomem(e);
	}
	h->base = base;
	h->http2 = http2;
	TAILQ_INIT(&h->calls);
	TAILQ_INIT(&h->ready);
	h->multi = curl_multi_init();
	h->timer = timer_new(base, on_timer, h);
	if (!h->multi || !h->timer || prepare_multi(h)) {
		http_destroy(h);
		return err_nomem(e);
	}
	*out = h;
	return 0;
}

int http_set_tls(struct http *h, const struct http_tls *tls, struct err *e)
{
	auto_free char *ca = tls->ca ? strdup(tls->ca) : NULL;
	auto_free char *cert = tls->cert ? strdup(tls->cert) : NULL;
	auto_free char *key = tls->key ? strdup(tls->key) : NULL;

	if ((tls->ca && !ca) || (tls->cert && !cert) || (tls->key && !key))
		return err_nomem(e);
	free(h->ca);
	free(h->cert);
	free(h->key);
	h->ca = TAKE_PTR(ca);
	h->cert = TAKE_PTR(cert);
	h->key = TAKE_PTR(key);
	return 0;
}

struct timer *http_timer(struct http *h, void (*due)(void *arg), void *arg)
{
	return timer_new(h->base, due, arg);
}

void http_free(struct http *h)
{
	struct http_call *c;

	if (!h)
		return;
	while ((c = TAILQ_FIRST(&h->calls)))
		http_cancel(c);
	h->closed = true;
	if (!h->reporting)
		http_destroy(h);
}
