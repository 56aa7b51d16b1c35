/* SPDX-License-Identifier: Apache-2.0 */
/* resource_plugin.c: the socket of a resource, and its registration with the kubelet. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/sys/timer.h"
#include "railheadd/devices/resource_plugin_priv.h"
#include "railheadd/devices/slow.h"
#include "topo/kubelet/pod_resources.h"

#define PAUSE_MIN_MS     100
#define PAUSE_MAX_MS     30000
#define UNWATCHED_MAX_MS 300000
#define SHOWN_MAX        8 /* unhealthy devices in the log at a time */

void resource_plugin_changed(const struct resource_plugin *p)
{
	timer_now(p->place->changed);
}

static void resource_plugin_say(struct resource_plugin *p, const struct err *e)
{
	char topic[sizeof(p->name) + 16];

	(void)snprintf(topic, sizeof(topic), "device plugin %s", p->name);
	look_note_error(&p->place->ctx->log, topic, e, p->said);
}

static void resource_plugin_fail(struct resource_plugin *p, const struct err *e)
{
	/* A kubelet that has just started does not listen yet at the socket that we see. */
	if (p->pause > PAUSE_MIN_MS)
		resource_plugin_say(p, e);
	resource_plugin_changed(p);
	p->next_try = ctx_mono_ms() + p->pause;
	(void)timer_arm(p->timer, p->pause);
	p->pause = p->pause * 2 < PAUSE_MAX_MS ? p->pause * 2 : PAUSE_MAX_MS;
}

static void try_soon(struct resource_plugin *p)
{
	p->registered = false;
	p->pause = PAUSE_MIN_MS;
	p->next_try = 0;
}

/* ---- the registration ---- */

static void kubelet_socket(const struct resource_plugin *p, char out[PATH_MAX])
{
	(void)snprintf(out, PATH_MAX, "%s/" KUBELET_SOCKET, p->place->kubelet);
}

static void registration_done(void *arg, enum child_end how, const char *text, size_t len)
{
	const struct slow_answer answer = { "call of the kubelet", how, text, len };
	struct resource_plugin *p = arg;
	struct err e;

	if (slow_ended(&answer, NULL, NULL, &e)) {
		err_wrap(&e, "Register");
		resource_plugin_fail(p, &e);
		return;
	}
	/* Another kubelet may have started meanwhile. */
	p->registered = plugin_socket_same(&p->asked, &p->kubelet);
	p->registrations++;
	p->pause = PAUSE_MIN_MS;
	p->unwatched_since = ctx_mono_ms();
	p->said[0] = '\0';
	log_info(&p->place->ctx->log, "device plugin %s: registered with the kubelet", p->name);
	resource_plugin_changed(p);
	resource_plugin_step(p);
}

static int register_in_child(const void *arg)
{
	const struct resource_plugin *p = arg;
	char socket[PATH_MAX];

	kubelet_socket(p, socket);
	return p->place->call_register(&(struct slow_call){ socket, p->endpoint, p->name });
}

static int start_registration(struct resource_plugin *p, struct err *e)
{
	p->asked = p->kubelet;
	return child_start(p->registration, e);
}

/* Note whether the kubelet is the one that has registered us. False: there is none. */
static bool look_at_kubelet(struct resource_plugin *p, const char *path)
{
	struct stat now;

	if (stat(path, &now)) {
		try_soon(p);
		return false;
	}
	if (!plugin_socket_same(&now, &p->kubelet)) {
		try_soon(p);
		p->patience = p->place->unwatched_ms;
		p->kubelet = now;
	}
	if (p->registered && !p->watchers.n && ctx_mono_ms() - p->unwatched_since > p->patience) {
		log_warn(&p->place->ctx->log,
			 "device plugin %s: the kubelet does not watch the devices any more; "
			 "another plugin may have registered the resource",
			 p->name);
		try_soon(p);
		p->patience =
			p->patience * 2 < UNWATCHED_MAX_MS ? p->patience * 2 : UNWATCHED_MAX_MS;
	}
	return true;
}

void resource_plugin_step(struct resource_plugin *p)
{
	struct grpc_server_conf conf = { .base = p->place->base,
					 .ctx = p->place->ctx,
					 .service = plugin_calls_service(),
					 .arg = p };
	char kubelet[PATH_MAX];
	struct err e;

	if (!p->devices)
		return;
	if (p->listener.server && !plugin_socket_is_there(&p->listener.socket)) {
		grpc_unlisten(&p->listener);
		try_soon(p);
	}
	if (!p->listener.server && ctx_mono_ms() >= p->next_try &&
	    grpc_listen(p->place->kubelet, p->endpoint, &conf, &p->listener, &e)) {
		resource_plugin_fail(p, &e);
		return;
	}
	kubelet_socket(p, kubelet);
	if (!look_at_kubelet(p, kubelet) || !p->listener.server || child_runs(p->registration) ||
	    p->registered)
		return;
	if (ctx_mono_ms() >= p->next_try && start_registration(p, &e))
		resource_plugin_fail(p, &e);
}

static void resource_plugin_timer(void *arg)
{
	resource_plugin_step(arg);
}

/* ---- the devices ---- */

static size_t count_healthy(const struct resource_devices *d)
{
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		n += d->device[i].healthy;
	return n;
}

/* Mostly the device has its place of before, so the whole is not searched for each. */
static bool was_unhealthy(const struct resource_devices *before, const struct resource_device *d,
			  size_t at)
{
	const struct resource_device *x = NULL;

	if (before && at < before->n && strcmp(before->device[at].id, d->id) == 0)
		x = &before->device[at];
	else if (before)
		x = resource_devices_find(before, d->id);
	return x && !x->healthy;
}

static void log_devices(const struct resource_plugin *p, const struct resource_devices *now)
{
	const struct log *log = &p->place->ctx->log;
	unsigned shown = 0;

	log_info(log, "device plugin %s: %zu devices, %zu of them healthy", p->name, now->n,
		 count_healthy(now));
	for (size_t i = 0; i < now->n && shown < SHOWN_MAX; i++) {
		const struct resource_device *d = &now->device[i];

		if (d->healthy || was_unhealthy(p->devices, d, i))
			continue;
		log_warn(log, "device plugin %s: device %s is unhealthy: %s", p->name, d->id,
			 d->why);
		shown++;
	}
}

static bool same_hcas(const struct resource_devices *a, const struct resource_devices *b)
{
	if (a->n_hcas != b->n_hcas)
		return false;
	for (size_t i = 0; i < a->n_hcas; i++) {
		if (strcmp(a->hca[i].addr, b->hca[i].addr) != 0 ||
		    strcmp(a->hca[i].name, b->hca[i].name) != 0)
			return false;
	}
	return true;
}

bool resource_plugin_set(struct resource_plugin *p, const struct resource_set *set, size_t i,
			 const struct resource_devices *d)
{
	bool differs = !p->devices || !resource_devices_same(p->devices, d);

	/* The kubelet sees only the copies of a shared resource, and not their HCAs. */
	bool files_differ = differs || !same_hcas(p->devices, d);

	if (differs)
		log_devices(p, d);
	p->set = set;
	p->number = i;
	p->devices = d;
	if (differs)
		plugin_calls_push(p);
	return files_differ;
}

int resource_plugin_keep(const struct resource_plugin *p, struct resource_devices *d, struct err *e)
{
	auto_free const char **ids = calloc(p->given.n + 1, sizeof(*ids));

	if (!ids)
		return err_nomem(e);
	for (size_t i = 0; i < p->given.n; i++)
		ids[i] = p->given.id[i].id;
	if (resource_devices_keep(d, ids, p->given.n, e))
		return -1;
	if (p->first_list && p->last_list - p->first_list >= p->place->unlisted_ms)
		resource_devices_outside(d);
	return 0;
}

struct listing {
	struct resource_plugin *plugin;
	int64_t at;
};

static int take_listed(void *arg, const char *resource, const char *id, struct err *e)
{
	const struct listing *l = arg;

	return strcmp(resource, l->plugin->name) == 0 ? given_list(&l->plugin->given, id, l->at, e)
						      : 0;
}

int resource_plugin_listed(struct resource_plugin *p, const struct resource_list *list,
			   const struct resource_devices *d, struct err *e)
{
	struct listing l = { p, list->at };
	int64_t since = INT64_MIN;
	int rc;

	for (size_t i = 0; i < d->n + d->n_maybe; i++) {
		if (d->device[i].attached || d->device[i].busy)
			given_in_use(&p->given, d->device[i].id, list->at);
	}
	rc = pod_resources_each(list->pods, list->len, take_listed, &l, e);
	if (rc == 0) {
		p->last_list = list->at;
		if (!p->first_list)
			p->first_list = list->at;
		since = list->at - p->place->unlisted_ms;
	}
	given_settle(&p->given, since);
	return rc;
}

/* ---- begin, end, status ---- */

static void resource_plugin_watched(void *arg)
{
	struct resource_plugin *p = arg;

	p->unwatched_since = ctx_mono_ms();
	resource_plugin_changed(p);
}

int resource_plugin_new(const struct plugin_place *place, const char *name,
			struct resource_plugin **out, struct err *e)
{
	struct resource_plugin *p = calloc(1, sizeof(*p));
	/* The child has a deadline of its own, and says more. */
	const struct child_conf registration = { .base = place->base,
						 .path = "railhead-devices-register",
						 .run = register_in_child,
						 .deadline_ms = SLOW_REGISTER_MS + 5000,
						 .text_max = SLOW_ANSWER_MAX,
						 .done = registration_done,
						 .arg = p };

	if (!p)
		return err_nomem(e);
	p->place = place;
	p->listener.socket.fd = -1;
	p->pause = PAUSE_MIN_MS;
	p->patience = place->unwatched_ms;
	watchers_init(&p->watchers);
	p->watchers.changed = resource_plugin_watched;
	p->watchers.arg = p;
	(void)snprintf(p->name, sizeof(p->name), "%s", name);
	plugin_socket_name(name, p->endpoint);
	p->timer = timer_new(place->base, resource_plugin_timer, p);
	if (!p->timer || child_new(&registration, &p->registration, e)) {
		resource_plugin_free(p);
		return err_nomem(e);
	}
	*out = p;
	return 0;
}

void resource_plugin_free(struct resource_plugin *p)
{
	if (!p)
		return;
	child_free(p->registration);
	grpc_unlisten(&p->listener);
	timer_free(p->timer);
	watchers_clear(&p->watchers);
	given_clear(&p->given);
	free(p);
}

void resource_plugin_retire(struct resource_plugin *p)
{
	p->devices = NULL;
	plugin_calls_push(p);
	resource_plugin_free(p);
}

const char *resource_plugin_name(const struct resource_plugin *p)
{
	return p->name;
}

int resource_plugin_status(const struct resource_plugin *p, struct json *o)
{
	size_t n = p->devices ? p->devices->n : 0;
	size_t healthy = p->devices ? count_healthy(p->devices) : 0;

	return json_add_str(o, "name", p->name) || json_add_int(o, "healthy", (int64_t)healthy) ||
			       json_add_int(o, "unhealthy", (int64_t)(n - healthy)) ||
			       json_add_bool(o, "registered", p->registered) ||
			       json_add_bool(o, "watched", p->watchers.n > 0) ||
			       json_add_int(o, "registrations", (int64_t)p->registrations) ||
			       json_add_int(o, "allocated", (int64_t)p->allocated) ||
			       json_add_int(o, "refused", (int64_t)p->refused) ||
			       json_add_known(o, "error", p->said)
		       ? -1
		       : 0;
}
