/* SPDX-License-Identifier: Apache-2.0 */
/* collect.h: the metrics of this moment. */
#ifndef RAILHEAD_RAILHEADD_METRICS_COLLECT_H
#define RAILHEAD_RAILHEADD_METRICS_COLLECT_H

#include "railheadd/devices/status.h"
#include "railheadd/pools/driver.h"
#include "railheadd/metrics/sampler.h"
#include "railheadd/watch/plugins.h"
#include "railheadd/watch/rails.h"
#include "railheadd/watch/repairer.h"
#include "railheadd/watch/transports.h"

/* Everything is borrowed. repairer NULL: the agent repairs nothing. */
struct collect_from {
	struct driver *driver;
	const struct repairer *repairer;
	const struct plugin_watch *plugins;       /* NULL: it does not look at the CNI folder */
	const struct rail_watch *rails;           /* NULL: it does not look at the rails */
	const struct transport_watch *transports; /* NULL: nor at their pods */
	const struct devices_conf *devices;
	struct ipam *ipam;
	const struct histogram *latency; /* of ADDs, one for each enum hint_outcome */
	const struct sampler *sampler;
};

/*
 * collect_metrics - a listener_fn whose arg is a const struct collect_from. It reads a few records
 * of each pool, and no lease. The devices are those of the sampler, while it calls ready().
 */
char *collect_metrics(void *arg, bool open, struct err *e);

#endif
