/* SPDX-License-Identifier: Apache-2.0 */
/*
 * plugins.h: looks from time to time whether the CNI folder still has the programs that
 * railhead-install put there. Images of other projects have a macvlan, too.
 *
 * A folder without a receipt of railhead-install is not looked at. While an install or a removal
 * runs, or if one was cut off, nothing is compared. If railhead-install has chained the plugin
 * railhead in the pod network, it stays there as long as the program does.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_PLUGINS_H
#define RAILHEAD_RAILHEADD_WATCH_PLUGINS_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"

struct event_base;
struct events;
struct plugin_watch;

/* Everything is borrowed. */
struct plugin_watch_conf {
	struct event_base *base;
	const struct ctx *ctx;
	struct events *events;    /* NULL: only the log says it */
	const char *folder;       /* the CNI folder, an absolute path */
	const char *restore_from; /* a folder with the programs, to put them back; NULL: never */
	int64_t every;            /* ms between two looks */
	const char *chain; /* the folder whose pod network keeps the plugin railhead; NULL: none */
};

/* plugin_watch_new - the first look begins with the loop. plugin_watch_free - NULL is fine. */
int plugin_watch_new(const struct plugin_watch_conf *conf, struct plugin_watch **out,
		     struct err *e) must_check;
void plugin_watch_free(struct plugin_watch *w);

/* plugin_watch_status - add "plugins" to obj, see railhead-agent.sock(5); w NULL: false. */
int plugin_watch_status(const struct plugin_watch *w, struct json *obj, struct err *e) must_check;

#endif
