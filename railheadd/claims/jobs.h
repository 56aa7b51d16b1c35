/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.h: what children do: prepare claims, end them, publish the rails, show what became of them.
 * Each has its own connection to the API server, and reads the credentials itself. What a Prepare
 * needs has mostly been read before: ahead.h.
 *
 * They answer by slow_say().
 */
#ifndef RAILHEAD_RAILHEADD_CLAIMS_JOBS_H
#define RAILHEAD_RAILHEADD_CLAIMS_JOBS_H

#include "railheadd/claims/dra.h"
#include "railheadd/conf/agent_conf.h"
#include "railheadd/devices/slow.h"
#include "topo/read/rail_list.h"

/* The surroundings of all jobs; borrowed. */
struct jobs_place {
	const struct ctx *ctx;
	const struct agent_conf_kube *kube;
	const char *node;
	const char *bin;                      /* the folder of CNI plugins, on the host */
	const struct delegate_builtin *rails; /* NULL: the plugin is executed */
	const struct agent_conf_groups *groups;
	bool listens; /* the agent of the node does, for LLDP */
};

#define JOBS_PREPARE_MS 41000 /* the kubelet waits 45 s, of which reading ahead may take 2 s */
#define JOBS_WAIT_MS    30000 /* of which a job waits for a free address, or the API server */

/* job_prepare, job_unprepare - answer the bytes of a message. They return the exit status. */
int job_prepare(const struct jobs_place *p, const struct dra_request *r);
int job_unprepare(const struct jobs_place *p, const struct dra_request *r);

/*
 * job_end - nothing of the claim is left on this node. One that was never prepared is success. -1:
 * it may be prepared still.
 */
int job_end(const struct jobs_place *p, const struct dra_claim *c, struct err *e) must_check;

/* job_restore - write CDI files of attached claims again that were removed or changed. note gets
 * a text for the log, if one cannot be written or compared. */
void job_restore(const struct jobs_place *p, char *note, size_t len);

/* Facts that one publication keeps for the next. */
enum jobs_feature { FEATURE_UNKNOWN, FEATURE_OFF, FEATURE_ON };
struct jobs_published {
	uint64_t devices;                              /* a hash; 0: none */
	enum jobs_feature sharing, counting, tainting; /* of the API server */
	/* Rates of rails by number, in gbps: of the last look, and as published. 0: not known. */
	uint32_t seen[RAIL_NUMBER_MAX + 1], gbps[RAIL_NUMBER_MAX + 1];
	unsigned writes;   /* of this publication */
	char node_uid[64]; /* "": not known */
	char note[256];    /* for the log; "": none */
};

/*
 * job_publish - job_restore(); if the rails are not those of last, or look is true: compare them
 * with the slices of the API server, and write those that differ. Answers a struct jobs_published,
 * and behind it the message dra_health() of all devices.
 */
int job_publish(const struct jobs_place *p, const struct jobs_published *last, bool look);

/*
 * job_tell - make an Event of its pod for each refusal of the gate, whose file then goes. Write the
 * status of each attached claim that has another one by now. Answers 0 bytes. claim_shown - the
 * folder that remembers which status was written, by UIDs of claims. Pure.
 */
int job_tell(const struct jobs_place *p);
void claim_shown(const struct ctx *ctx, char out[PATH_MAX]);

#endif
