/* SPDX-License-Identifier: Apache-2.0 */
/* resource_plugin_priv.h: the state of one resource, for its own files. */
#ifndef RAILHEAD_RAILHEADD_DEVICES_RESOURCE_PLUGIN_PRIV_H
#define RAILHEAD_RAILHEADD_DEVICES_RESOURCE_PLUGIN_PRIV_H

#include "railheadd/devices/given.h"
#include "railheadd/devices/resource_plugin.h"
#include "railheadd/devices/grpc_server.h"
#include "railheadd/devices/watchers.h"
#include "railheadd/watch/look.h"

struct resource_plugin {
	const struct plugin_place *place;
	char name[RESOURCE_NAME_LEN];
	char endpoint[PLUGIN_SOCKET_NAME_LEN];
	const struct resource_set *set;
	size_t number;                          /* in set */
	const struct resource_devices *devices; /* NULL: not known yet, and set neither */

	/* the server */
	struct grpc_listener listener;
	struct watchers watchers;      /* calls of ListAndWatch */
	struct given given;            /* the devices that pods may have */
	int64_t first_list, last_list; /* of the kubelet's lists of pods, when asked for; 0: none */
	uint64_t allocated, refused;

	/* the registration */
	struct timer *timer;        /* the next attempt */
	struct child *registration; /* the call of the kubelet */
	struct stat kubelet;        /* its socket as last seen */
	struct stat asked;          /* the same at the last attempt */
	bool registered;
	int64_t unwatched_since; /* ctx_mono_ms() */
	int64_t patience;        /* ms without a watch, before it registers again */
	int64_t next_try;
	int64_t pause; /* ms until the next attempt, after a failure */
	uint64_t registrations;
	char said[LOOK_SAID_LEN]; /* the last error; "": none */
};

/* resource_plugin_changed - its status differs. */
void resource_plugin_changed(const struct resource_plugin *p);

/* plugin_calls_service - what the kubelet can call; the argument is the resource. */
const struct grpc_service *plugin_calls_service(void);

/* plugin_calls_push - the list of devices to everyone who watches it. */
void plugin_calls_push(struct resource_plugin *p);

#endif
