/* SPDX-License-Identifier: Apache-2.0 */
/* plugins.c: looks, and which resources they lead to. */
#include "railheadd/devices/plugins.h"

#include <event2/event.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "railheadd/devices/ask.h"
#include "railheadd/devices/child.h"
#include "railheadd/devices/folder_watch.h"
#include "railheadd/devices/resource_plugin.h"
#include "railheadd/devices/allocate.h"

#define LOOK_LIMIT_MS 60000
#define UNLISTED_MS   60000 /* a kubelet has listed all pods so long after its start */
#define UNWATCHED_MS  10000 /* a kubelet asks for the devices at once, unless it is slow */
#define IDLE_MS       10000 /* between looks without a resource, or after one that failed */
#define STEP_MS       5000  /* what inotify does not see is noticed then */

struct device_plugins {
	struct device_plugins_conf conf;
	struct device_plugins_jobs run;
	char folder[PATH_MAX]; /* of configurations */
	struct plugin_place place;
	struct jobs *jobs;
	struct folder_watch *watch;
	struct event *look_timer, *step_timer;
	struct job *look, *publish; /* NULL: none runs */
	bool unpublished;           /* the devices differ from their files */
	int64_t began, took;        /* ms; of the last look */
	uint64_t looks;
	struct ask_seen seen; /* of the last look that went well */
	struct resource_plugin *plugin[RESOURCES_MAX];
	size_t n;
	char said[sizeof(((struct err *)0)->msg)]; /* the error of the last look; "": none */
};

static void plugins_arm(struct event *timer, int64_t ms)
{
	const struct timeval t = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	(void)event_add(timer, &t);
}

/* The same error again is not said again. */
static void plugins_say(struct device_plugins *d, const struct err *e)
{
	if (strcmp(e->msg, d->said) != 0)
		log_error(&d->conf.ctx->log, "device plugin: %s%s%s", e->msg,
			  *e->detail ? ": " : "", e->detail);
	memcpy(d->said, e->msg, sizeof(d->said));
}

/* ---- what a look found ---- */

static struct resource_plugin *plugins_take_plugin(struct device_plugins *d, const char *name,
						   struct err *e)
{
	for (size_t i = 0; i < d->n; i++) {
		if (!strcmp(resource_plugin_name(d->plugin[i]), name))
			return d->plugin[i];
	}
	if (d->n == RESOURCES_MAX) {
		err_set(e, ERR_CONFIG, 0, "more than %d resources", RESOURCES_MAX);
		return NULL;
	}
	if (resource_plugin_new(&d->place, name, &d->plugin[d->n], e))
		return NULL;
	return d->plugin[d->n++];
}

static bool plugins_has_name(const struct ask_seen *s, const char *name)
{
	json_each (x, s->set) {
		if (!strcmp(json_text(x, "name"), name))
			return true;
	}
	return false;
}

/* True: there were some. */
static bool drop_others(struct device_plugins *d, const struct ask_seen *now)
{
	size_t n = 0, before = d->n;

	for (size_t i = 0; i < d->n; i++) {
		if (plugins_has_name(now, resource_plugin_name(d->plugin[i]))) {
			d->plugin[n++] = d->plugin[i];
			continue;
		}
		log_info(&d->conf.ctx->log, "device plugin %s: no file configures it any more",
			 resource_plugin_name(d->plugin[i]));
		resource_plugin_retire(d->plugin[i]);
	}
	d->n = n;
	return n != before;
}

static bool has_note(const struct resource_look *l, const char *note)
{
	for (size_t i = 0; i < l->n_notes; i++) {
		if (!strcmp(l->note[i], note))
			return true;
	}
	return false;
}

static void log_notes(const struct device_plugins *d, const struct resource_look *now)
{
	for (size_t i = 0; i < now->n_notes; i++) {
		if (!has_note(&d->seen.look, now->note[i]))
			log_info(&d->conf.ctx->log, "device plugin: %s", now->note[i]);
	}
}

static void plugins_publish(struct device_plugins *d);

/* A failed one is made again after the next look. */
static void published(void *arg, const struct json *answer, const struct err *why)
{
	struct device_plugins *d = arg;

	(void)answer;
	d->publish = NULL;
	if (why) {
		d->unpublished = true;
		log_error(&d->conf.ctx->log, "device plugin: files about devices: %s", why->msg);
	} else if (d->unpublished) {
		plugins_publish(d);
	}
}

static void plugins_publish(struct device_plugins *d)
{
	auto_free char *input = d->publish ? NULL : ask_publish(&d->seen);
	const struct job_conf conf = { "files about devices", d->run.publish, input,
				       LOOK_LIMIT_MS,         published,      d };
	struct err e;

	if (d->publish)
		return;
	if (input ? job_start(d->jobs, &conf, &d->publish, &e) : err_nomem(&e))
		log_error(&d->conf.ctx->log, "device plugin: files about devices: %s", e.msg);
	else
		d->unpublished = false;
}

/* A list that failed changes nothing: the ids of the one before are still known. */
static int keep_devices(const struct device_plugins *d, struct resource_plugin *p,
			const struct json *given, struct resource_devices *devices, struct err *e)
{
	const struct json *ids = json_get(given, resource_plugin_name(p));

	return (ids && resource_plugin_listed(p, ids, devices, d->began, e)) ||
			       resource_plugin_keep(p, devices, e)
		       ? -1
		       : 0;
}

static void log_unlisted(const struct device_plugins *d, const struct ask_seen *now)
{
	if (*now->unlisted && strcmp(now->unlisted, d->seen.unlisted) != 0)
		log_warn(&d->conf.ctx->log,
			 "device plugin: it is not known which devices pods have: %s",
			 now->unlisted);
	else if (!*now->unlisted && *d->seen.unlisted)
		log_info(&d->conf.ctx->log, "device plugin: the kubelet lists the pods again");
}

/* *now becomes what was seen last. Plugins that are new stay without devices after a failure. */
static int take_look(struct device_plugins *d, struct ask_seen *now, struct err *e)
{
	struct resource_plugin *of[RESOURCES_MAX];
	const struct json *conf[RESOURCES_MAX];
	struct ask_seen before = d->seen;
	size_t n = 0;

	/* First, so that there is room for the new ones. Files depend on configurations, too. */
	d->unpublished |= drop_others(d, now) || !json_same(before.set, now->set);
	json_each (x, now->set) {
		of[n] = plugins_take_plugin(d, json_text(x, "name"), e);
		if (!of[n] || keep_devices(d, of[n], now->given, &now->look.of[n], e))
			return -1;
		conf[n++] = x;
	}
	log_notes(d, &now->look);
	log_unlisted(d, now);
	for (size_t i = 0; i < n; i++)
		d->unpublished |= resource_plugin_set(of[i], conf[i], &now->look.of[i]);
	d->seen = *now;
	*now = before;
	for (size_t i = 0; i < n; i++)
		resource_plugin_step(of[i]);
	if (d->unpublished)
		plugins_publish(d);
	return 0;
}

static void plugins_looked(void *arg, const struct json *answer, const struct err *why)
{
	auto_ask_seen struct ask_seen now = { .set = NULL };
	struct device_plugins *d = arg;
	struct err e;

	d->look = NULL;
	d->took = ctx_mono_ms() - d->began;
	if (!why && (ask_look_read(answer, &now, &e) || take_look(d, &now, &e)))
		why = &e;
	if (why)
		plugins_say(d, why);
	else
		d->said[0] = '\0';
	d->looks += !why;
	plugins_arm(d->look_timer, why || !d->n ? IDLE_MS : d->seen.interval * INT64_C(1000));
}

/* ---- when ---- */

/* No child only to find that there is nothing to do. Files of the agent before go first. */
static bool plugins_is_needed(const struct device_plugins *d)
{
	return d->n || access(d->folder, F_OK) == 0 ||
	       (!d->seen.set && resources_published(d->conf.ctx));
}

static void plugins_look(evutil_socket_t fd, short what, void *arg)
{
	struct device_plugins *d = arg;
	auto_free char *input = plugins_is_needed(d) ? ask_look(d->folder, d->conf.kubelet) : NULL;
	const struct job_conf conf = { "look at devices", d->run.look,    input,
				       LOOK_LIMIT_MS,     plugins_looked, d };
	struct err e;

	(void)fd;
	(void)what;
	d->began = ctx_mono_ms();
	if (input && job_start(d->jobs, &conf, &d->look, &e) == 0)
		return;
	if (plugins_is_needed(d)) {
		if (!input)
			(void)err_nomem(&e);
		plugins_say(d, &e);
	}
	plugins_arm(d->look_timer, IDLE_MS);
}

static void step(void *arg)
{
	struct device_plugins *d = arg;

	(void)folder_watch_renew(d->watch);
	for (size_t i = 0; i < d->n; i++)
		resource_plugin_step(d->plugin[i]);
}

static void step_again(evutil_socket_t fd, short what, void *arg)
{
	struct device_plugins *d = arg;

	(void)fd;
	(void)what;
	step(d);
	plugins_arm(d->step_timer, STEP_MS);
}

/* ---- begin, end, status ---- */

static int plugins_start(struct device_plugins *d, struct err *e)
{
	struct event_base *base = d->conf.base;
	const struct folder_watch_conf watch = { base, d->conf.kubelet, step, d };

	if (jobs_new(base, &d->jobs, e) || folder_watch_new(&watch, &d->watch, e))
		return -1;
	d->place = (struct plugin_place){
		.base = base,
		.ctx = d->conf.ctx,
		.jobs = d->jobs,
		.kubelet = d->conf.kubelet,
		.allocate = d->run.allocate,
		.call_register = d->run.call_register,
		.unwatched_ms = UNWATCHED_MS,
		.unlisted_ms = d->conf.unlisted_ms ? d->conf.unlisted_ms : UNLISTED_MS,
	};
	d->look_timer = evtimer_new(base, plugins_look, d);
	d->step_timer = evtimer_new(base, step_again, d);
	if (!d->look_timer || !d->step_timer)
		return err_nomem(e);
	plugins_arm(d->look_timer, 0);
	plugins_arm(d->step_timer, STEP_MS);
	return 0;
}

int device_plugins_new(const struct device_plugins_conf *conf, struct device_plugins **out,
		       struct err *e)
{
	static const struct device_plugins_jobs usual = { child_look, child_publish, child_allocate,
							  child_register };
	struct device_plugins *d = calloc(1, sizeof(*d));

	if (!d)
		return err_nomem(e);
	d->conf = *conf;
	d->run = conf->jobs ? *conf->jobs : usual;
	(void)snprintf(d->folder, sizeof(d->folder), "%s%s",
		       conf->folder ? conf->folder : conf->ctx->etc_dir,
		       conf->folder ? "" : "/" RESOURCES_DIR);
	if (plugins_start(d, e)) {
		device_plugins_free(d);
		return -1;
	}
	*out = d;
	return 0;
}

void device_plugins_free(struct device_plugins *d)
{
	if (!d)
		return;
	for (size_t i = 0; i < d->n; i++)
		resource_plugin_free(d->plugin[i]);
	folder_watch_free(d->watch);
	if (d->look_timer)
		event_free(d->look_timer);
	if (d->step_timer)
		event_free(d->step_timer);
	jobs_free(d->jobs);
	ask_seen_clear(&d->seen);
	free(d);
}

static int plugins_add_status(const struct device_plugins *d, struct json *o)
{
	struct json *list;

	if (json_add_str(o, "folder", d->folder) || json_add_str(o, "kubelet", d->conf.kubelet) ||
	    json_add_int(o, "looks", (int64_t)d->looks) ||
	    json_add_num(o, "lookSeconds", (double)d->took / 1000) ||
	    json_add_known(o, "error", d->said) || json_add_known(o, "podsError", d->seen.unlisted))
		return -1;
	list = json_add_array(o, "resources");
	for (size_t i = 0; list && i < d->n; i++) {
		struct json *x = json_push_object(list);

		if (!x || resource_plugin_status(d->plugin[i], x))
			return -1;
	}
	return list ? 0 : -1;
}

int device_plugins_status(const struct device_plugins *d, struct json *obj, struct err *e)
{
	struct json *o;

	if (!d)
		return json_add_bool(obj, "devicePlugin", false) ? err_nomem(e) : 0;
	o = json_add_object(obj, "devicePlugin");
	return o && plugins_add_status(d, o) == 0 ? 0 : err_nomem(e);
}
