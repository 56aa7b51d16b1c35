/* SPDX-License-Identifier: Apache-2.0 */
/* node.h: the state of the node as metrics; see railhead-metrics(5). Pure. */
#ifndef RAILHEAD_RAILHEADD_METRICS_NODE_H
#define RAILHEAD_RAILHEADD_METRICS_NODE_H

#include "lib/json/json.h"
#include "railheadd/metrics/exposition.h"

/*
 * node_metrics_add - status is that of the agent (railhead-agent.sock(5)), pools the list of
 * admin_pools(), networks that of admin_networks(). Members that are missing give no sample.
 */
void node_metrics_add(struct exposition *x, const struct json *status, const struct json *pools,
		      const struct json *networks);

/* node_metrics_add_latency - how long ADDs took; one histogram for each enum hint_outcome. */
void node_metrics_add_latency(struct exposition *x, const struct histogram *latency);

#endif
