/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h: rdma-probe's commands.
 *
 * To add one: a file with its `const struct probe_cmd probe_x`, a line here, one in main.c's table,
 * one in docs/man/rdma-probe.8 and one in packaging/bash-completion/rdma-probe.
 */
#ifndef RAILHEAD_RDMA_PROBE_RUN_RUN_H
#define RAILHEAD_RDMA_PROBE_RUN_RUN_H

#include "lib/cli/out.h"
#include "rdma/probe/run/conf.h"
#include "rdma/probe/run/measure.h"

/* The exit status; documented in rdma-probe(8). */
enum probe_status {
	PROBE_OK = 0,
	PROBE_FAILED = 1,
	PROBE_USAGE = 2,
	PROBE_WRONG = 3,       /* data came out wrong */
	PROBE_NOTHING = 4,     /* no device, port, GID or permission to test with */
	PROBE_UNSUPPORTED = 5, /* dmabuf: a device cannot */
	PROBE_UNKNOWN = 6,     /* dmabuf: of no device it is known that it can or cannot */
	PROBE_OUTLIERS = 7,    /* --all-pairs: something is slower than the rest */
};

struct probe {
	struct out out;
	struct opts opts;
	struct conf conf;
	const struct probe_cmd *cmd; /* NULL: none yet */
	enum probe_status status;    /* set by a command that ends well with a status of its own */
};

#define PROBE_TABLES 5
struct probe_cmd {
	const char *name;
	const char *words; /* what follows the options, for help; NULL: nothing */
	const char *summary, *about;
	const struct opt *opts[PROBE_TABLES]; /* NULL-terminated */
	unsigned max_words;
	int (*run)(struct probe *p, struct err *e);
};

extern const struct probe_cmd probe_list, probe_dmabuf, probe_serve, probe_connect, probe_allreduce;

/* probe_usage - the command line is wrong. Returns -1. */
int probe_usage(struct probe *p, struct err *e, const char *fmt, ...) printf_like(3, 4);

/* probe_read_peers - the file of --peers or --all-pairs, "-" for standard input. */
int probe_read_peers(const char *path, uint16_t port, struct peers *out, struct err *e) must_check;

/* connect_pairs.c: --all-pairs. */
int probe_all_pairs(struct probe *p, struct err *e) must_check;

/* ---- report.c ---- */

/* report_run - what a client measured. */
int report_run(const struct out *o, const struct run *r, const struct peer *peer,
	       struct err *e) must_check;

/* report_flow - {"bytes", "ns", "bytesPerSecond"} in obj; -1: no memory. */
int report_flow(struct json *obj, const char *key, struct wire_flow f) must_check;

#endif
