/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugins.h: looks at the devices from time to time, and has a plugin for each resource. Without
 * configurations it does nothing.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_PLUGINS_H
#define RAILHEAD_RAILHEADD_DEVICES_PLUGINS_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"

struct event_base;
struct device_plugins;
struct delegate_builtin;
struct slow_call;

/* Everything is borrowed. */
struct device_plugins_conf {
	struct event_base *base;
	const struct ctx *ctx;
	const char *folder;  /* of configurations; NULL: resources.d in etc_dir */
	const char *kubelet; /* the folder with the sockets of the kubelet and of device plugins */
	const char *bin;     /* the folder of CNI plugins, on the host */
	const struct delegate_builtin *rails; /* NULL: the plugin is executed */
	int (*look)(const char *folder);      /* NULL: slow_look; tests have their own */
	bool claims;                          /* this program is the driver of claims, too */
	int (*call_register)(const struct slow_call *call); /* NULL: slow_register */
	int64_t unlisted_ms;        /* see struct plugin_place; 0: the usual time */
	void (*changed)(void *arg); /* the status differs; NULL: nobody asks */
	void *arg;
};

/* device_plugins_new - the first look begins with the loop. device_plugins_free - NULL is fine. */
int device_plugins_new(const struct device_plugins_conf *conf, struct device_plugins **out,
		       struct err *e) must_check;
void device_plugins_free(struct device_plugins *d);

/* device_plugins_status - add the members of "devicePlugin" to o, see railhead-agent.sock(5). -1:
 * no memory. */
int device_plugins_status(const struct device_plugins *d, struct json *o) must_check;

#endif
