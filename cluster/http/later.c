/* SPDX-License-Identifier: Apache-2.0 */
/* later.c: lets other rooms report from the event loop without a header of libevent. */
#include "cluster/http/later.h"

#include <event2/event.h>

#include "cluster/http/priv.h"

struct http_later {
	struct event *event;
	void (*fn)(void *arg);
	void *arg;
};

static void on_event(evutil_socket_t fd, short what, void *arg)
{
	struct http_later *l = arg;

	(void)fd;
	(void)what;
	l->fn(l->arg);
}

struct http_later *http_later_new(struct http *h, void (*fn)(void *arg), void *arg)
{
	struct http_later *l = calloc(1, sizeof(*l));

	if (!l)
		return NULL;
	l->fn = fn;
	l->arg = arg;
	l->event = evtimer_new(h->base, on_event, l);
	if (l->event)
		return l;
	free(l);
	return NULL;
}

void http_later_call(struct http_later *l)
{
	event_active(l->event, EV_TIMEOUT, 0);
}

void http_later_free(struct http_later *l)
{
	if (l)
		event_free(l->event);
	free(l);
}
