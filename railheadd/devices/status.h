/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.h: what the device plugin tells the node agent: a file in run_dir. While the program runs,
 * it has a lock beside it, so that the file of a dead one counts no more.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_STATUS_H
#define RAILHEAD_RAILHEADD_DEVICES_STATUS_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"

#define DEVICES_STATUS "devices.json" /* in run_dir */

/*
 * devices_lock - the lock of the node's device plugin, to be held as long as it runs: a descriptor.
 * ERR_BUSY: another one runs. devices_status_put - replace the file. devices_status_end - remove
 * it.
 */
int devices_lock(const struct ctx *ctx, struct err *e) must_check;
int devices_status_put(const struct ctx *ctx, const struct json *status, struct err *e) must_check;
void devices_status_end(const struct ctx *ctx);

/* Where the plugin of this node is configured; borrowed. */
struct devices_conf {
	const struct ctx *ctx;
	const char *folder;  /* of configurations; NULL: the usual one */
	const char *kubelet; /* NULL: there is no device plugin */
};

/* devices_status - for the agent: add "devicePlugin" to obj, see railhead-agent.sock(5). ERR_NOMEM.
 */
int devices_status(const struct devices_conf *conf, struct json *obj, struct err *e) must_check;

#endif
