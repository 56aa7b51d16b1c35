/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h: what can be asked for through the socket, see railhead-agent.sock(5).
 */
#ifndef RAILHEAD_RAILHEADD_CALLS_H
#define RAILHEAD_RAILHEADD_CALLS_H

#include "ipam/alloc/histogram.h"
#include "railheadd/devices/status.h"
#include "railheadd/pools/driver.h"
#include "railheadd/pools/reclaim.h"
#include "railheadd/watch/neighbours.h"
#include "railheadd/watch/plugins.h"
#include "railheadd/watch/rails.h"
#include "railheadd/watch/repairer.h"
#include "railheadd/watch/transports.h"
#include "railheadd/pools/reserved.h"
#include "railheadd/hints.h"
#include "railheadd/server.h"

struct cluster_store;
struct event_base;
struct nodes;

/* What the calls are about; repairer NULL: the agent repairs nothing. */
struct calls_to {
	struct driver *driver;
	struct event_base *base;
	struct cluster_store *store; /* that of the driver; NULL: none */
	struct nodes *nodes;
	struct repairer *repairer;
	struct plugin_watch *plugins;       /* NULL: the agent does not look at them */
	struct rail_watch *rails;           /* NULL: the same */
	struct transport_watch *transports; /* NULL: the same */
	struct neighbour_watch *neighbours; /* NULL: the same */
	struct devices_conf devices;
	struct reserved *reserved; /* NULL: no cluster store */
	struct histogram *latency; /* of ADDs, one for each enum hint_outcome */
	const char *node;          /* this one */
};

/* calls_answer - a server_fn whose arg is a const struct calls_to. */
void calls_answer(void *arg, struct server_request *r, const struct agent_call *call);

/* calls_hint - the same for hints_conf: the agent looks at its pools now, and counts an ADD. */
void calls_hint(void *arg, const struct hint *h);

#endif
