/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_calls.c: the calls of the kubelet. */
#include <string.h>
#include <unistd.h>

#include "railheadd/devices/resource_plugin_priv.h"
#include "railheadd/devices/wire.h"

#define CALLS_MAX 16 /* of one connection */

static void plugin_calls_refuse(struct resource_plugin *p, struct grpc_call *call, const char *what,
				const struct err *why)
{
	p->refused++;
	resource_plugin_changed(p);
	log_error(&p->place->ctx->log, "device plugin %s: %s: %s%s%s", p->name, what, why->msg,
		  *why->detail ? ": " : "", why->detail);
	grpc_call_refuse(call, why);
}

/* ---- GetDevicePluginOptions ---- */

static void call_options(void *arg, struct grpc_call *call, const uint8_t *message, size_t len)
{
	(void)arg;
	(void)message;
	(void)len;
	grpc_answer(call, wire_options());
}

/* ---- ListAndWatch ---- */

static void call_watch(void *arg, struct grpc_call *call, const uint8_t *message, size_t len)
{
	struct resource_plugin *p = arg;

	(void)message;
	(void)len;
	watchers_add(&p->watchers, call);
}

void plugin_calls_push(struct resource_plugin *p)
{
	static const struct resource_devices none = { .n = 0 };

	if (watchers_send(&p->watchers, wire_list(p->devices ? p->devices : &none)))
		log_error(&p->place->ctx->log, "device plugin %s: no memory for the list", p->name);
}

/* ---- GetPreferredAllocation ---- */

static int plugin_calls_choose(const struct resource_plugin *p, struct resource_preference *q,
			       struct wire_ids *out, struct err *e)
{
	const char **ids;
	size_t n = 0;

	/* There are not more to choose from. */
	if (q->size > q->n_available)
		q->size = q->n_available;
	ids = calloc(q->size + 1, sizeof(*ids));
	if (!ids)
		return err_nomem(e);
	out->id = ids;
	if (resource_preferred(p->devices, q, ids, &n, e))
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
		grpc_answer(call, wire_preferred_answer(choice, q.n));
	for (size_t i = 0; i < q.n; i++)
		free((void *)(uintptr_t)choice[i].id);
}

/* ---- Allocate ---- */

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

/* The answer, for each container. */
struct allocated {
	struct resource_allocation of[WIRE_CONTAINERS_MAX];
	size_t n;
};

static void allocated_clear(struct allocated *a)
{
	for (size_t i = 0; i < a->n; i++)
		resource_allocation_clear(&a->of[i]);
}

static int allocate_all(const struct resource_plugin *p, const struct wire_allocate *request,
			struct allocated *out, struct err *e)
{
	for (size_t i = 0; i < request->n; i++) {
		const struct resource_request r = { p->set, p->number, p->devices,
						    request->of[i].id, request->of[i].n };

		if (resources_allocate(p->place->ctx, &r, &out->of[i], e))
			return -1;
		out->n++;
	}
	return 0;
}

/* The kubelet asks for one pod after the other, so only the kubelet waits for this. */
static void call_allocate(void *arg, struct grpc_call *call, const uint8_t *message, size_t len)
{
	auto_clean(allocated_clear) struct allocated all = { .n = 0 };
	auto_wire_allocate struct wire_allocate request = { .n = 0 };
	struct resource_plugin *p = arg;
	struct err e;
	int rc;

	(void)alarm(BLOCKED_S);
	rc = wire_allocate_decode(message, len, &request, &e) ||
	     allocate_all(p, &request, &all, &e);
	(void)alarm(0);
	if (rc) {
		plugin_calls_refuse(p, call, "Allocate", &e);
		return;
	}
	note_given(p, &request);
	p->allocated++;
	resource_plugin_changed(p);
	grpc_answer(call, wire_allocate_answer(all.of, all.n));
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
