/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_event.h: what people shall read about a pod, a node or a pool in the cluster, beside the
 * object: an Event of Kubernetes. (What a watch reports is called a change in this project.)
 */
#ifndef RAILHEAD_CLUSTER_STORE_CLUSTER_EVENT_H
#define RAILHEAD_CLUSTER_STORE_CLUSTER_EVENT_H

#include "lib/base/base.h"

#define CLUSTER_EVENT_NOTE_LEN 1024 /* Kubernetes takes no longer ones */

struct cluster_event {
	uint64_t id;        /* random: one event that is sent twice is one event */
	int64_t at;         /* ns since 1970 */
	const char *node;   /* that tells it */
	const char *reason; /* "BlockLost": a word for programs */
	const char *action; /* "Keep": what the node did, or does now */
	const char *note;   /* a sentence for people */
	bool warning;
	/* What it is about: this pod; pod "": the node. uid "": not known. */
	const char *namespace, *pod, *uid;
	bool of_pool; /* pod is the name of a shared pool */
};

#endif
