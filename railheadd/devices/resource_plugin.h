/* SPDX-License-Identifier: Apache-2.0 */
/*
 * resource_plugin.h: the device plugin of one resource: its socket, its registration, and the calls
 * of the kubelet. A registration runs in a child, see slow.h. An allocation is done at once.
 *
 * It registers again when the kubelet's socket is another one, and when its own socket was removed.
 * It also does so if the kubelet has not watched the devices for a while. Attempts that fail become
 * rarer.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_RESOURCE_PLUGIN_H
#define RAILHEAD_RAILHEADD_DEVICES_RESOURCE_PLUGIN_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"
#include "railheadd/devices/resources.h"

#define KUBELET_SOCKET "kubelet.sock"
/* Seconds that an allocation may take, and the files about devices. Then SIGALRM ends the program,
 * and its end is the answer. */
#define BLOCKED_S 15

struct slow_call;

/* The surroundings that all resources share; borrowed. */
struct plugin_place {
	struct event_base *base;
	const struct ctx *ctx;
	const char *kubelet;   /* the folder with the sockets */
	struct timer *changed; /* to be activated when a status differs */
	int (*call_register)(const struct slow_call *call); /* slow_register, or a test's */
	int64_t unlisted_ms;  /* so long lists may lack a device that a pod has */
	int64_t unwatched_ms; /* so long the kubelet may watch no devices; twice that the next time
			       */
};

struct resource_plugin;

/* resource_plugin_new - without devices, and not registered before resource_plugin_step. */
int resource_plugin_new(const struct plugin_place *place, const char *name,
			struct resource_plugin **out, struct err *e) must_check;
void resource_plugin_free(struct resource_plugin *p);
/* resource_plugin_retire - free it, and tell the kubelet before that the resource has no devices. A
 * kubelet that only loses the socket keeps the capacity for five minutes. */
void resource_plugin_retire(struct resource_plugin *p);
const char *resource_plugin_name(const struct resource_plugin *p);

/*
 * resource_plugin_listed - the ids that pods have by a list of the kubelet, len bytes of its API.
 * `at` is the time at which it was asked, before the look that found the devices d. An id that no
 * list has had for place->unlisted_ms is forgotten. ERR_IO, ERR_NOMEM.
 */
struct resource_list {
	const uint8_t *pods;
	size_t len;
	int64_t at;
};
int resource_plugin_listed(struct resource_plugin *p, const struct resource_list *list,
			   const struct resource_devices *d, struct err *e) must_check;

/* resource_plugin_keep - resource_devices_keep() with the devices that pods may have. Once lists
 * have had the time to name all pods, resource_devices_outside(), too. */
int resource_plugin_keep(const struct resource_plugin *p, struct resource_devices *d,
			 struct err *e) must_check;

/*
 * resource_plugin_set - it is number i of set, with these devices; both are borrowed until the next
 * call of this function. The kubelet gets the list if it differs. True: it does, or its HCAs do, or
 * it is the first one.
 */
bool resource_plugin_set(struct resource_plugin *p, const struct resource_set *set, size_t i,
			 const struct resource_devices *d);

/*
 * resource_plugin_step - serve and register if that is not so: once it has devices, then from time
 * to time, and after files of the kubelet's folder came or went.
 */
void resource_plugin_step(struct resource_plugin *p);

/* resource_plugin_status - add members of its state to o, see railhead-agent.sock(5). -1: no
 * memory. */
int resource_plugin_status(const struct resource_plugin *p, struct json *o) must_check;

#endif
