/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run.h: the commands of rdma-probe, and what they share.
 *
 * To add one: a file with its `const struct cmd probe_x`, a line here, one in the table of
 * main.c, one in docs/man/rdma-probe.8 and one in packaging/bash-completion/rdma-probe.
 */
#ifndef RAILHEAD_RDMA_PROBE_RUN_H
#define RAILHEAD_RDMA_PROBE_RUN_H

#include "lib/cli/cmd.h"
#include "rdma/probe/conf.h"
#include "rdma/probe/measure.h"

/* The exit status beside that of cmd.h; documented in rdma-probe(8). */
enum probe_status {
	PROBE_WRONG = 3,       /* data came out wrong */
	PROBE_NOTHING = 4,     /* no device, port, GID or permission to test with */
	PROBE_UNSUPPORTED = 5, /* dmabuf: a device does not support it */
	PROBE_UNKNOWN = 6,     /* dmabuf: for some devices the answer is unknown */
	PROBE_OUTLIERS = 7,    /* job: the rails do not carry it */
	PROBE_INCOMPLETE = 8,  /* job: not all ranks came */
};

extern const struct cmd probe_list, probe_dmabuf, probe_serve, probe_connect, probe_job;

/* probe_conf - the options of a run, which main() read. */
static inline const struct conf *probe_conf(const struct cmd_run *p)
{
	return p->own;
}

/* ---- report.c ---- */

/* report_run - print the results of a client, as text or JSON. */
int report_run(const struct out *o, const struct run *r, const struct peer *peer,
	       struct err *e) must_check;

#endif
