/* SPDX-License-Identifier: Apache-2.0 */
/* plugins.c: looks, and which resources they lead to. */
#include "railheadd/devices/plugins.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/sys/timer.h"
#include "railheadd/devices/allocate.h"
#include "railheadd/devices/assign.h"
#include "railheadd/watch/folder.h"
#include "railheadd/watch/look.h"
#include "railheadd/devices/resource_plugin.h"
#include "railheadd/devices/slots.h"
#include "railheadd/devices/slow.h"

#define LOOK_LIMIT_MS 60000
#define UNLISTED_MS   60000 /* a kubelet has listed all pods so long after its start */
#define UNWATCHED_MS  10000 /* a kubelet asks for the devices at once, unless it is slow */
#define IDLE_MS       10000 /* between looks without a resource, or after one that failed */
#define STEP_MS       5000  /* what inotify does not see is noticed then */

struct device_plugins {
	struct device_plugins_conf conf;
	char folder[PATH_MAX]; /* of configurations */
	struct plugin_place place;
	struct folder_watch *watch;
	struct timer *look_timer, *step_timer, *changed;
	struct child *look, *ends; /* ends: of pods with slots of rails */
	struct resource_set *next; /* of the look that runs */
	bool unpublished;          /* the devices differ from their files */
	int64_t began, took;       /* ms; of the last look */
	uint64_t looks;
	/* Of the last look that went well: */
	struct resource_set *set;
	struct resource_look seen;
	char unlisted[sizeof(((struct err *)0)->msg)]; /* why it is not known which devices pods
							  have; "": it is */
	struct resource_plugin *plugin[RESOURCES_MAX];
	size_t n;
	char said[LOOK_SAID_LEN]; /* the error of the last look; "": none */
};

static void plugins_changed(void *arg)
{
	const struct device_plugins *d = arg;

	if (d->conf.changed)
		d->conf.changed(d->conf.arg);
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

static bool plugins_has_name(const struct resource_set *s, const char *name)
{
	for (size_t i = 0; i < resource_count(s); i++) {
		if (!strcmp(resource_name(s, i), name))
			return true;
	}
	return false;
}

/* True: there were some. */
static bool drop_others(struct device_plugins *d)
{
	size_t n = 0, before = d->n;

	for (size_t i = 0; i < d->n; i++) {
		if (plugins_has_name(d->next, resource_plugin_name(d->plugin[i]))) {
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
		if (!has_note(&d->seen, now->note[i]))
			log_info(&d->conf.ctx->log, "device plugin: %s", now->note[i]);
	}
}

/* After a failure it is done again with the next look. */
static void plugins_publish(struct device_plugins *d)
{
	struct err e;

	(void)alarm(BLOCKED_S);
	d->unpublished = resources_publish(d->conf.ctx, d->set, &d->seen, d->conf.bin, &e) != 0;
	(void)alarm(0);
	if (d->unpublished)
		log_error(&d->conf.ctx->log, "device plugin: files about devices: %s", e.msg);
}

/* A list that failed changes nothing: the ids of the one before are still known. */
static int keep_devices(const struct device_plugins *d, struct resource_plugin *p,
			struct slow_found *found, struct resource_devices *devices, struct err *e)
{
	const struct resource_list list = { found->pods, found->n_pods, d->began };
	struct err why;

	if (!*found->unlisted && resource_plugin_listed(p, &list, devices, &why)) {
		if (why.code == ERR_NOMEM)
			return err_nomem(e);
		memcpy(found->unlisted, why.msg, sizeof(found->unlisted));
	}
	return resource_plugin_keep(p, devices, e);
}

static void log_unlisted(const struct device_plugins *d, const char *now)
{
	if (*now && strcmp(now, d->unlisted) != 0)
		log_warn(&d->conf.ctx->log,
			 "device plugin: it is not known which devices pods have: %s", now);
	else if (!*now && *d->unlisted)
		log_info(&d->conf.ctx->log, "device plugin: the kubelet lists the pods again");
}

/* d->next and its devices become what was seen last. Plugins that are new stay without devices
 * after a failure. */
static int take_look(struct device_plugins *d, struct slow_found *found, struct err *e)
{
	auto_resource_look struct resource_look now = { .n = 0 };
	struct resource_plugin *of[RESOURCES_MAX];
	const struct resource_look before = d->seen;
	struct resource_set *set_before = d->set;

	if (functions_assign(&found->functions, d->next, &now, e))
		return -1;
	/* CDI files of slots depend on the rails of the node, too. Others are compared. */
	d->unpublished |= resource_set_has_rails(d->next);
	/* First, so that there is room for the new ones. Files depend on configurations, too. */
	d->unpublished |= drop_others(d) || !set_before || !resource_set_same(set_before, d->next);
	for (size_t i = 0; i < now.n; i++) {
		of[i] = plugins_take_plugin(d, resource_name(d->next, i), e);
		if (!of[i] || keep_devices(d, of[i], found, &now.of[i], e))
			return -1;
	}
	log_notes(d, &now);
	log_unlisted(d, found->unlisted);
	memcpy(d->unlisted, found->unlisted, sizeof(d->unlisted));
	for (size_t i = 0; i < now.n; i++)
		d->unpublished |= resource_plugin_set(of[i], d->next, i, &now.of[i]);
	d->seen = now;
	d->set = d->next;
	now = before;
	d->next = set_before;
	for (size_t i = 0; i < d->seen.n; i++)
		resource_plugin_step(of[i]);
	if (d->unpublished)
		plugins_publish(d);
	return 0;
}

static void plugins_look_end(struct device_plugins *d, const struct err *why)
{
	if (why)
		look_note_error(&d->conf.ctx->log, "device plugin", why, d->said);
	else
		d->said[0] = '\0';
	d->looks += !why;
	resource_set_free(d->next);
	d->next = NULL;
	timer_now(d->changed);
	(void)timer_arm(d->look_timer,
			why || !d->n ? IDLE_MS : resources_interval(d->set) * INT64_C(1000));
}

static void plugins_looked(void *arg, enum child_end how, const char *text, size_t len)
{
	const struct slow_answer answer = { "look at devices", how, text, len };
	auto_slow_found struct slow_found found = { .n_pods = 0 };
	struct device_plugins *d = arg;
	struct err e;
	int rc;

	d->took = ctx_mono_ms() - d->began;
	rc = slow_look_ended(&answer, &found, &e) || take_look(d, &found, &e);
	plugins_look_end(d, rc ? &e : NULL);
}

/* ---- pods with slots of rails ---- */

static int end_in_child(const void *arg)
{
	const struct device_plugins *d = arg;

	return slots_end(d->conf.bin, d->conf.rails);
}

static void plugins_ended(void *arg, enum child_end how, const char *text, size_t len)
{
	const struct slow_answer answer = { "end of pods with rails", how, text, len };
	const struct device_plugins *d = arg;
	struct err e;

	if (slow_ended(&answer, NULL, NULL, &e))
		log_error(&d->conf.ctx->log, "device plugin: %s", e.msg);
}

/* Pods may have slots of a resource that no file configures any more. */
static void plugins_end_slots(struct device_plugins *d)
{
	struct err e;

	if (!child_runs(d->ends) && slots_are_there(d->conf.ctx) && child_start(d->ends, &e))
		log_error(&d->conf.ctx->log, "device plugin: end of pods with rails: %s", e.msg);
}

/* ---- when ---- */

/* No child only to find that there is nothing to do. Files of the program before go first. */
static bool plugins_is_needed(const struct device_plugins *d)
{
	return d->n || access(d->folder, F_OK) == 0 ||
	       (!d->set && resources_published(d->conf.ctx));
}

/* Each look reads the configurations again: a change needs no restart. */
static int start_look(struct device_plugins *d, struct err *e)
{
	if (child_runs(d->look))
		return err_set(e, ERR_BUSY, 0,
			       "look at devices: the one before hangs in the "
			       "kernel");
	if (resources_load(d->conf.ctx, d->folder, &d->next, e))
		return -1;
	if (resource_count(d->next))
		return child_start(d->look, e);
	return take_look(d, &(struct slow_found){ .n_pods = 0 }, e);
}

static void plugins_look(void *arg)
{
	struct device_plugins *d = arg;
	struct err e;

	d->began = ctx_mono_ms();
	plugins_end_slots(d);
	if (!plugins_is_needed(d))
		(void)timer_arm(d->look_timer, IDLE_MS);
	else if (start_look(d, &e))
		plugins_look_end(d, &e);
	else if (!child_runs(d->look))
		plugins_look_end(d, NULL);
}

static void step(void *arg)
{
	struct device_plugins *d = arg;

	(void)folder_watch_renew(d->watch);
	for (size_t i = 0; i < d->n; i++)
		resource_plugin_step(d->plugin[i]);
}

static void step_again(void *arg)
{
	struct device_plugins *d = arg;

	step(d);
	(void)timer_arm(d->step_timer, STEP_MS);
}

static int look_in_child(const void *arg)
{
	const struct device_plugins *d = arg;

	return d->conf.look ? d->conf.look(d->conf.kubelet)
			    : slow_look(d->conf.kubelet, d->conf.claims);
}

/* ---- begin, end, status ---- */

static int plugins_start(struct device_plugins *d, struct err *e)
{
	const struct device_plugins_conf *c = &d->conf;
	const struct folder_watch_conf watch = { c->base, c->kubelet, step, d };
	const struct child_conf look = { .base = c->base,
					 .path = "railhead-devices-look",
					 .run = look_in_child,
					 .deadline_ms = LOOK_LIMIT_MS,
					 .text_max = SLOW_ANSWER_MAX,
					 .done = plugins_looked,
					 .arg = d };

	const struct child_conf ends = { .base = c->base,
					 .path = "railhead-devices-end",
					 .run = end_in_child,
					 .deadline_ms = LOOK_LIMIT_MS,
					 .text_max = SLOW_ANSWER_MAX,
					 .done = plugins_ended,
					 .arg = d };

	if (child_new(&look, &d->look, e) || child_new(&ends, &d->ends, e) ||
	    folder_watch_new(&watch, &d->watch, e))
		return -1;
	d->look_timer = timer_new(c->base, plugins_look, d);
	d->step_timer = timer_new(c->base, step_again, d);
	d->changed = timer_new(c->base, plugins_changed, d);
	if (!d->look_timer || !d->step_timer || !d->changed)
		return err_nomem(e);
	d->place = (struct plugin_place){
		.base = c->base,
		.ctx = c->ctx,
		.kubelet = c->kubelet,
		.changed = d->changed,
		.call_register = c->call_register ? c->call_register : slow_register,
		.unwatched_ms = UNWATCHED_MS,
		.unlisted_ms = c->unlisted_ms ? c->unlisted_ms : UNLISTED_MS,
	};
	timer_now(d->changed);
	(void)timer_arm(d->look_timer, 0);
	(void)timer_arm(d->step_timer, STEP_MS);
	return 0;
}

int device_plugins_new(const struct device_plugins_conf *conf, struct device_plugins **out,
		       struct err *e)
{
	struct device_plugins *d = calloc(1, sizeof(*d));

	if (!d)
		return err_nomem(e);
	d->conf = *conf;
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
	timer_free(d->look_timer);
	timer_free(d->step_timer);
	timer_free(d->changed);
	child_free(d->look);
	child_free(d->ends);
	resource_look_clear(&d->seen);
	resource_set_free(d->set);
	resource_set_free(d->next);
	free(d);
}

int device_plugins_status(const struct device_plugins *d, struct json *o)
{
	struct json *list;

	if (json_add_str(o, "folder", d->folder) || json_add_str(o, "kubelet", d->conf.kubelet) ||
	    json_add_int(o, "looks", (int64_t)d->looks) ||
	    json_add_num(o, "lookSeconds", (double)d->took / 1000) ||
	    json_add_known(o, "error", d->said) || json_add_known(o, "podsError", d->unlisted))
		return -1;
	list = json_add_array(o, "resources");
	for (size_t i = 0; list && i < d->n; i++) {
		struct json *x = json_push_object(list);

		if (!x || resource_plugin_status(d->plugin[i], x))
			return -1;
	}
	return list ? 0 : -1;
}
