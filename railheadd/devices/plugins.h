/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugins.h: the device plugin of the agent: looks at the devices from time to time, and has
 * a plugin for each resource. Without configurations it does nothing.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_PLUGINS_H
#define RAILHEAD_RAILHEADD_DEVICES_PLUGINS_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"

struct event_base;
struct device_plugins;

/* What runs in children: the functions of child.h, or those of a test. */
struct device_plugins_jobs {
	int (*look)(void), (*publish)(void), (*allocate)(void), (*call_register)(void);
};

/* Everything is borrowed. */
struct device_plugins_conf {
	struct event_base *base;
	const struct ctx *ctx;
	const char *folder;  /* of configurations; NULL: resources.d in etc_dir */
	const char *kubelet; /* the folder with the sockets of the kubelet and of device plugins */
	const struct device_plugins_jobs *jobs; /* NULL: the usual ones */
	int64_t unlisted_ms;                    /* see struct plugin_place; 0: the usual time */
};

/* device_plugins_new - the first look begins with the loop. device_plugins_free - NULL is fine. */
int device_plugins_new(const struct device_plugins_conf *conf, struct device_plugins **out,
		       struct err *e) must_check;
void device_plugins_free(struct device_plugins *d);

/* device_plugins_status - add "devicePlugin" to obj, see railhead-agent.sock(5); d NULL: false. */
int device_plugins_status(const struct device_plugins *d, struct json *obj,
			  struct err *e) must_check;

#endif
