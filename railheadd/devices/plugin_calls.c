/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_calls.c: the calls of the kubelet. */
#include <string.h>

#include "railheadd/devices/ask.h"
#include "railheadd/devices/resource_plugin_priv.h"

#define CALLS_MAX      16 /* of one connection */
#define ALLOCATING_MAX 8
#define ALLOCATE_MS    15000

static void plugin_calls_refuse(struct resource_plugin *p, struct grpc_call *call, const char *what,
				const struct err *why)
{
	p->refused++;
	log_error(&p->place->ctx->log, "device plugin %s: %s: %s%s%s", p->name, what, why->msg,
		  *why->detail ? ": " : "", why->detail);
	grpc_call_refuse(call, why);
}

static void plugin_calls_answer(struct grpc_call *call, struct wire_bytes m)
{
	auto_free uint8_t *data = m.data;
	struct err e;

	if (data) {
		grpc_call_answer(call, data, m.len);
		return;
	}
	(void)err_nomem(&e);
	grpc_call_refuse(call, &e);
}

/* ---- GetDevicePluginOptions ---- */

static void call_options(void *arg, struct grpc_call *call, const uint8_t *message, size_t len)
{
	(void)arg;
	(void)message;
	(void)len;
	plugin_calls_answer(call, wire_options());
}

/* ---- ListAndWatch ---- */

static void forget_watcher(void *what)
{
	struct watcher *w = what;
	struct resource_plugin *p = w->plugin;

	TAILQ_REMOVE(&p->watchers, w, all);
	p->n_watchers--;
	p->unwatched_since = ctx_mono_ms();
	free(w);
}

static struct wire_bytes list_of(const struct resource_plugin *p)
{
	static const struct resource_devices none = { .n = 0 };

	return wire_list(p->devices ? p->devices : &none);
}

static void call_watch(void *arg, struct grpc_call *call, const uint8_t *message, size_t len)
{
	struct resource_plugin *p = arg;
	struct wire_bytes m = list_of(p);
	auto_free uint8_t *data = m.data;
	struct watcher *w = calloc(1, sizeof(*w));
	struct err e;

	(void)message;
	(void)len;
	if (!w || !data) {
		free(w);
		(void)err_nomem(&e);
		grpc_call_refuse(call, &e);
		return;
	}
	*w = (struct watcher){ .plugin = p, .call = call };
	TAILQ_INSERT_TAIL(&p->watchers, w, all);
	p->n_watchers++;
	grpc_call_later(call, forget_watcher, w);
	(void)!grpc_call_send(call, data, m.len);
}

void plugin_calls_push(struct resource_plugin *p)
{
	struct wire_bytes m = list_of(p);
	auto_free uint8_t *data = m.data;

	if (!data)
		log_error(&p->place->ctx->log, "device plugin %s: no memory for the list", p->name);
	for (struct watcher *w = TAILQ_FIRST(&p->watchers); w; w = TAILQ_NEXT(w, all)) {
		/* A connection for which there is no memory ends; the kubelet asks again. */
		if (data)
			(void)!grpc_call_send(w->call, data, m.len);
	}
}

/* ---- GetPreferredAllocation ---- */

static int plugin_calls_choose(const struct resource_plugin *p, struct resource_preference *q,
			       struct wire_ids *out, struct err *e)
{
	static const struct resource_devices none = { .n = 0 };
	const char **ids;
	size_t n = 0;

	/* There are not more to choose from. */
	if (q->size > q->n_available)
		q->size = q->n_available;
	ids = calloc(q->size + 1, sizeof(*ids));
	if (!ids)
		return err_nomem(e);
	out->id = ids;
	if (resource_preferred(p->devices ? p->devices : &none, q, ids, &n, e))
		return -1;
	out->n = n;
	return 0;
}

static void call_preferred(void *arg, struct grpc_call *call, const uint8_t *message, size_t len)
{
	struct wire_ids choice[WIRE_CONTAINERS_MAX] = { { .n = 0 } };
	auto_wire_preferred struct wire_preferred q = { .n = 0 };
	struct resource_plugin *p = arg;
	struct err e;
	int rc = wire_preferred_decode(message, len, &q, &e);

	for (size_t i = 0; !rc && i < q.n; i++)
		rc = plugin_calls_choose(p, &q.of[i], &choice[i], &e);
	if (rc)
		plugin_calls_refuse(p, call, "GetPreferredAllocation", &e);
	else
		plugin_calls_answer(call, wire_preferred_answer(choice, q.n));
	for (size_t i = 0; i < q.n; i++)
		free((void *)(uintptr_t)choice[i].id);
}

/* ---- Allocate ---- */

/* A call that waits for its child. */
struct allocating {
	struct resource_plugin *plugin;
	struct grpc_call *call;
	struct job *job;
	struct wire_allocate request; /* owned */
};

static void free_allocating(struct allocating *a)
{
	a->plugin->allocating--;
	wire_allocate_clear(&a->request);
	free(a);
}

/* The kubelet has gone, or its connection. */
static void forget_allocating(void *what)
{
	struct allocating *a = what;

	job_cancel(a->job);
	free_allocating(a);
}

/* Without memory a device that goes is missing in the list, and not unhealthy. */
static void note_given(struct resource_plugin *p, const struct wire_allocate *request)
{
	int64_t now = ctx_mono_ms();
	struct err e;

	for (size_t i = 0; i < request->n; i++) {
		for (size_t k = 0; k < request->of[i].n; k++)
			(void)!given_add(&p->given, request->of[i].id[k], now, &e);
	}
	given_settle(&p->given, INT64_MIN);
}

static void allocate_done(void *arg, const struct json *text, const struct err *why)
{
	struct allocating *a = arg;
	struct resource_plugin *p = a->plugin;
	auto_ask_allocated struct ask_allocated all = { .n = 0 };
	struct err e;

	if (!why && ask_allocate_read(text, a->request.n, &all, &e))
		why = &e;
	if (why) {
		plugin_calls_refuse(p, a->call, "Allocate", why);
	} else {
		note_given(p, &a->request);
		p->allocated++;
		plugin_calls_answer(a->call, wire_allocate_answer(all.of, all.n));
	}
	free_allocating(a);
}

static int start_allocate(struct resource_plugin *p, struct allocating *a, struct err *e)
{
	static const struct resource_devices none = { .n = 0 };
	auto_free char *input = ask_allocate(p->conf, p->devices ? p->devices : &none, &a->request);
	const struct job_conf conf = { "Allocate",  p->place->allocate, input,
				       ALLOCATE_MS, allocate_done,      a };

	return input ? job_start(p->place->jobs, &conf, &a->job, e) : err_nomem(e);
}

static int begin_allocate(struct resource_plugin *p, struct grpc_call *call, const uint8_t *message,
			  size_t len, struct err *e)
{
	struct allocating *a;

	if (p->allocating >= ALLOCATING_MAX)
		return err_set(e, ERR_AGAIN, 0, "%d calls run already", ALLOCATING_MAX);
	a = calloc(1, sizeof(*a));
	if (!a)
		return err_nomem(e);
	a->plugin = p;
	a->call = call;
	p->allocating++;
	if (wire_allocate_decode(message, len, &a->request, e) || start_allocate(p, a, e)) {
		free_allocating(a);
		return -1;
	}
	grpc_call_later(call, forget_allocating, a);
	return 0;
}

static void call_allocate(void *arg, struct grpc_call *call, const uint8_t *message, size_t len)
{
	struct err e;

	if (begin_allocate(arg, call, message, len, &e))
		plugin_calls_refuse(arg, call, "Allocate", &e);
}

const struct grpc_service *plugin_calls_service(void)
{
#define CALL(name) "/v1beta1.DevicePlugin/" name
	static const struct grpc_method methods[] = {
		{ CALL("GetDevicePluginOptions"), call_options },
		{ CALL("ListAndWatch"), call_watch },
		{ CALL("GetPreferredAllocation"), call_preferred },
		{ CALL("Allocate"), call_allocate },
		{ NULL, NULL },
	};
	static const struct grpc_service service = { methods, WIRE_REQUEST_MAX, CALLS_MAX };

	return &service;
}
