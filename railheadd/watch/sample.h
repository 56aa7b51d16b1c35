/* SPDX-License-Identifier: Apache-2.0 */
/* sample.h: the counters of all RDMA ports and cards of this host, with the pods that have them. */
#ifndef RAILHEAD_RAILHEADD_WATCH_SAMPLE_H
#define RAILHEAD_RAILHEADD_WATCH_SAMPLE_H

#include "lib/base/ctx.h"
#include "lib/json/json.h"
#include "lib/sys/netns.h"

#define SAMPLE_ATTACHMENTS_MAX 8192
#define SAMPLE_PORTS_MAX       1024
#define SAMPLE_COUNTERS_MAX    128 /* of one folder of one port */
#define SAMPLE_INTERFACES_MAX  256

/* ctx is borrowed. sysfs_of: as netns_sysfs(); tests have their own. */
struct sample_from {
	const struct ctx *ctx;
	int (*sysfs_of)(const struct netns *ns, const struct netns *host, struct err *e);
};

/*
 * sample_take - read everything once. The caller is in the host's network namespace. The caller
 * frees *out:
 *
 *	{"attachments": [{"plugin", "network", "container", "interface", "namespace", "pod",
 *			  "chained", "device", "port", "own"}],
 *	 "ports": [{"device", "port", "namespace", "pod", "trouble": {"retry": n, ...},
 *		    "counters": {NAME: n}, "hw_counters": {NAME: n}}],
 *	 "interfaces": [{"interface", "carrierDown", "pfcSent": [8], "pfcReceived": [8],
 *			 "driver": {NAME: n}}],
 *	 "cards": [{"pf", "interface", "vfs", "most", "used"}], "leftOut": n}
 *
 * Members that are not known are missing. A port has namespace and pod ("": not known, or the
 * host's) only if one pod alone has it: the device is in its namespace, or the interface of the
 * port is. own says so for an attachment; without own others may use the port, too. leftOut counts
 * what exceeds the limits above. Unreadable values are left out. The errors are ERR_NOMEM and
 * those of opening sockets.
 */
int sample_take(const struct sample_from *from, struct json **out, struct err *e) must_check;

/* sample_keeps_counter - whether a driver's statistic is about pauses or congestion. Pure. */
bool sample_keeps_counter(const char *name);

#endif
