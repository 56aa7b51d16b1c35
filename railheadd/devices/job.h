/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h: a function in a child whose output is collected without waiting: a driver or a kubelet
 * that hangs delays neither the agent nor its other jobs.
 *
 * The child gets a text as its input. Its output is a text; see job_say() for an error. After the
 * deadline it is killed, and the job ends with an error at once, even if the kernel holds the
 * child. Children that the kernel holds have a limit, beyond which no job starts.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_JOB_H
#define RAILHEAD_RAILHEADD_DEVICES_JOB_H

#include "lib/json/json.h"

struct event_base;
struct jobs;
struct job;

#define JOB_OUTPUT_MAX JSON_LONG_SIZE /* bytes */
#define JOBS_HELD_MAX  4
#define JOB_HELD_MS    1000 /* a killed child that has not ended by then hangs in the kernel */

/* The end of a job: its answer, borrowed, or why there is none: then answer is NULL. */
typedef void (*job_done)(void *arg, const struct json *answer, const struct err *why);

struct job_conf {
	const char *name;  /* of the child, for people; static */
	int (*run)(void);  /* see exec_req */
	const char *input; /* read until job_start returns */
	int timeout_ms;
	job_done done;
	void *arg;
};

/* jobs_new - base is borrowed. jobs_free - without a call of done; NULL is fine. */
int jobs_new(struct event_base *base, struct jobs **out, struct err *e) must_check;
void jobs_free(struct jobs *all);

/*
 * job_start - done is called once, later. ERR_BUSY: the kernel holds too many earlier children;
 * ERR_DELEGATE: no child could be made; ERR_NOMEM. job_cancel - kill it, without a call of done;
 * NULL is fine.
 */
int job_start(struct jobs *all, const struct job_conf *conf, struct job **out,
	      struct err *e) must_check;
void job_cancel(struct job *j);

/*
 * job_say - in the child: print the answer, or the error if answer is NULL. Returns the exit
 * status. A child that prints neither has failed.
 */
int job_say(const struct json *answer, const struct err *why);

#endif
