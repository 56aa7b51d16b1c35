/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.h: what the files of `rdma-probe job` share.
 *
 * Every rank has one process, and each test of a rank a child of its own: a device that hangs, or a
 * driver that crashes, ends that test alone. Rank 0 has a second process, which leads.
 */
#ifndef RAILHEAD_RDMA_PROBE_JOB_H
#define RAILHEAD_RDMA_PROBE_JOB_H

#include "rdma/device/counters.h"
#include "rdma/job/msg.h"
#include "rdma/probe/run.h"

/* ---- job_link.c: a connection between a rank and rank 0 ---- */

struct job_link {
	int fd;    /* -1: closed */
	bool root; /* this end is rank 0 */
	bool keyed;
	const uint8_t *secret; /* SHA256_LEN bytes, borrowed */
	uint8_t nonces[2 * JOB_NONCE];
	struct job_way in, out;
	uint8_t *buf; /* the frame that is read */
	size_t n, room;
};

/*
 * job_link_open - take over fd, and send the own nonce. job_link_read - what is there, without
 * waiting: 1 a message, 0 not yet, -1 the connection has ended or is not one of this job.
 */
int job_link_open(struct job_link *l, int fd, bool root, const uint8_t *secret,
		  struct err *e) must_check;
int job_link_read(struct job_link *l, struct job_msg *out, struct err *e) must_check;
int job_link_send(struct job_link *l, const struct job_msg *m, struct err *e) must_check;
void job_link_close(struct job_link *l);
#define auto_job_link auto_clean(job_link_close)

/* ---- job_facts.c: what this rank says of itself ---- */

/* How to open a rail: an address of RoCE, or a device of InfiniBand. */
struct job_own_rail {
	struct ip address; /* family IP_NONE: by the device */
	char device[JOB_NAME];
	unsigned port;
	struct verbs_gpu gpu; /* for tests of rates; address 0: memory of the host */
	struct {
		char device[JOB_NAME], netdev[IFNAME_LEN];
		uint32_t port;
		struct port_counters first; /* by job_facts() */
	} count;
};

struct job_own {
	struct job_msg join;
	struct job_own_rail rails[JOB_RAILS]; /* in the order of join.rails */
};

/* job_facts - read the rails of this network namespace. ERR_UNAVAILABLE: there are none. */
int job_facts(const struct ctx *ctx, const struct conf *c, struct job_own *out,
	      struct err *e) must_check;

/* job_counted - "counted link errors +14, link down +1": since job_facts(); "": nothing.
 * JOB_BLIND: sysfs of this namespace does not have them. */
#define JOB_BLIND "shows its pod no counters"
void job_counted(const struct ctx *ctx, const struct job_own_rail *rail, char out[JOB_TEXT]);

/* job_throttled - how often the CPU limit of the own cgroup stopped processes so far; 0 if the
 * kernel does not say. */
uint64_t job_throttled(void);

/* ---- job_memory.c: memory of GPUs ---- */

enum job_memory { JOB_MEMORY_HOST, JOB_MEMORY_AUTO, JOB_MEMORY_CUDA };

/* Calls of the CUDA driver API; each returns 0 or an error number. */
struct job_cuda {
	int (*init)(unsigned flags);
	int (*count)(int *n);
	int (*get)(int *gpu, int n);
	int (*bus)(char *out, int size, int gpu);
	int (*retain)(void **context, int gpu);
	int (*enter)(void *context);
	int (*alloc)(uint64_t *address, size_t len);
	int (*export)(void *fd, uint64_t address, size_t len, int type, unsigned long long flags);
};

/*
 * job_cuda_load - find them in libcuda. False: it is not here, or too old for dma-bufs.
 * job_memory_get - for each rail the memory of a GPU that is near, and in its .memory what was
 * taken: "GPU 0000:17:00.0", or "host: " and why. cuda NULL: there is no CUDA. must: without it the
 * rail has a problem. Returns a process that holds the memory, for the caller to end; 0: none.
 */
bool job_cuda_load(struct job_cuda *out);
pid_t job_memory_get(const struct job_cuda *cuda, const struct ctx *ctx, struct job_own *own,
		     bool must);

/* ---- job_flow.c: one test ---- */

/*
 * job_flow - run the test that `prepare` describes over the rail. fd: to the process of the rank, a
 * socket of packets that are struct job_msg. Sends JOB_READY and, in any case, JOB_RESULT.
 */
void job_flow(const struct conf *c, const struct job_own_rail *rail, const struct job_msg *prepare,
	      int fd);

/* ---- the two sides ---- */

struct job_conf {
	const struct conf *conf;
	const char *rank0; /* "HOST" or "HOST:PORT" */
	const char *node;  /* NULL: as the environment says */
	uint32_t rank, ranks;
	uint8_t secret[SHA256_LEN];
	int gather_ms, test_ms;
	char *leaves;    /* lines "NODE RAIL LEAF", which are changed; or NULL */
	bool in_use;     /* test reach alone, also where processes use the rails */
	double min_rate; /* bytes a second; 0: rates only warn */
	enum job_memory memory;
	uint32_t labels; /* flow labels across leaves, up to JOB_LABELS; 0: that is not tested */
};

/* job_rank_run - join, run tests, and return the last message of rank 0. */
int job_rank_run(const struct job_conf *c, const struct ctx *ctx, struct job_msg *end,
		 struct err *e) must_check;

/* A rank, as rank 0 knows it. */
struct job_member {
	struct job_link link;
	bool joined, dead;
	char node[JOB_NAME], host[JOB_NAME];
	char version[JOB_NAME];
	char busy[JOB_TEXT];
	bool blind;             /* the rank does not know who uses its rails */
	char why[JOB_TEXT];     /* dead: the reason */
	struct job_rail *rails; /* owned */
	size_t n_rails;
};

#define JOB_LABELS 32u

struct job_case {
	struct judge_test test;
	uint32_t label; /* 0, or of a test of flow labels: the judge does not know it */
	struct judge_result result;
	char text[JOB_TEXT]; /* why a rank could not run it */
};

#define JOB_NOTES 3

struct job_root {
	const struct job_conf *conf;
	int listening;
	pid_t own;                  /* the process of rank 0 itself; 0: it has ended */
	struct job_member *members; /* ranks */
	uint32_t joined;
	char names[JOB_RAILS][JOB_NAME]; /* interfaces: the rails of the job */
	size_t n_rails;
	struct judge_rank *ranks; /* facts for the judge */
	char (*leaves)[JOB_NAME]; /* names by number */
	size_t n_leaves;
	struct job_case *cases;
	size_t n_cases, at;              /* at: first one of the batch */
	uint32_t refused;                /* connections that were not of this job */
	char notes[JOB_NOTES][JOB_TEXT]; /* what was not looked at, and why */
	size_t n_notes;
	struct judge *judge;
	const struct judge_finding *findings;
	size_t n_findings;
	bool in_time; /* the tests were not cut short */
	double seconds;
	int64_t when;    /* of the end, ns since 1970 */
	uint32_t status; /* enum cmd_status, or one of enum probe_status */
};

/* job_root_run - gather, test, judge. *r has all that is known, also on error.
 * job_root_end - tell all ranks how it ended, and close. job_root_clear - free. */
int job_root_run(struct job_root *r, struct err *e) must_check;
void job_root_end(struct job_root *r, const char *text);
void job_root_clear(struct job_root *r);
/* job_gather - job_gather.c: wait for the ranks; 0 also if some are missing. */
int job_gather(struct job_root *r, struct err *e) must_check;
/* job_tell_judge - fill r->ranks, r->names and r->leaves by what the ranks said. */
int job_tell_judge(struct job_root *r, struct err *e) must_check;

/* job_busy - a rank whose rails are in use, so that nothing is tested; NULL: none. */
const struct job_member *job_busy(const struct job_root *r);

/* job_fails - a finding ends with a failure: by its cause, or as its rate is below --min-gbps. */
bool job_fails(const struct job_root *r, const struct judge_finding *f);

/*
 * What the flow labels of a rail got between two ranks of different leaves: of each the slower
 * direction, and none that failed. Rates in bytes a second.
 */
struct job_labels {
	uint16_t a, b; /* ranks */
	size_t n;      /* labels; 0: the rail was not tested so, or all failed */
	size_t failed; /* labels more */
	double slowest, median, fastest;
	size_t low; /* labels below half of the median */
};

/*
 * job_labels_run - job_labels.c: load each rail with one flow label after the other. Each label has
 * another UDP port of RoCE v2, from which switches choose the path. job_labels_of - of a rail.
 */
int job_labels_run(struct job_root *r, struct err *e) must_check;
void job_labels_of(const struct job_root *r, unsigned rail, struct job_labels *out);

/* job_batch - run n tests at once, as new cases of *r. label: of their queue pairs, or 0. */
struct job_batch {
	const struct judge_test *tests;
	size_t n;
	uint32_t run_ms, label;
};
int job_batch(struct job_root *r, const struct job_batch *of, struct err *e) must_check;

/* job_show - print the verdict. job_summary - in one line. */
int job_show(const struct out *out, const struct job_root *r, struct err *e) must_check;
void job_summary(const struct job_root *r, char out[JOB_TEXT]);

#endif
