/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.h: the driver railhead.io of dynamic resource allocation: its sockets for the kubelet, and
 * the slices of this node.
 *
 * The kubelet finds the driver by a socket in its folder plugins_registry, after each of its own
 * starts, too. All work is done by children. Two requests of one claim are done one after the
 * other.
 */
#ifndef RAILHEAD_RAILHEADD_CLAIMS_DRIVER_H
#define RAILHEAD_RAILHEADD_CLAIMS_DRIVER_H

#include "railheadd/claims/jobs.h"

struct event_base;
struct claims_driver;

#define DRIVER_REGISTRY "plugins_registry"       /* in the kubelet's folder */
#define DRIVER_REGISTER CLAIM_DRIVER "-reg.sock" /* in there */
#define DRIVER_FOLDER   "plugins/" CLAIM_DRIVER  /* in the kubelet's folder */
#define DRIVER_SOCKET   "dra.sock"               /* in there */

/* Everything is borrowed. Tests have jobs of their own; NULL: those of jobs.h. */
struct claims_driver_conf {
	struct event_base *base;
	const char *kubelet; /* its folder */
	struct jobs_place place;
	int (*prepare)(const struct jobs_place *p, const struct dra_request *r);
	int (*unprepare)(const struct jobs_place *p, const struct dra_request *r);
	int (*publish)(const struct jobs_place *p, const struct jobs_published *last, bool look);
	int (*tell)(const struct jobs_place *p);
};

/* claims_driver_new - it begins with the loop. claims_driver_free - NULL is fine. */
int claims_driver_new(const struct claims_driver_conf *conf, struct claims_driver **out,
		      struct err *e) must_check;
void claims_driver_free(struct claims_driver *d);

#endif
