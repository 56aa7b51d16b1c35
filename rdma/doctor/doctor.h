/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h: what is wrong with RDMA in a pod, from probe data. Pure.
 *
 * Each finding has its evidence, and unless all is well what follows from it and what to do. What
 * cannot be seen from where the data were read is unknown, with the reason as evidence.
 */
#ifndef RAILHEAD_RDMA_DOCTOR_DOCTOR_H
#define RAILHEAD_RDMA_DOCTOR_DOCTOR_H

#include "rdma/doctor/probe_data.h"

enum finding_state { FINDING_OK, FINDING_WARN, FINDING_FAIL, FINDING_UNKNOWN };

/* finding_state_name - "ok", "warn", "fail", "unknown". */
const char *finding_state_name(enum finding_state s);

#define FINDING_TEXT_LEN 320

struct finding {
	const char *check;           /* static, the word that users see: "gid" */
	char subject[RAIL_PORT_LEN]; /* "mlx5_0:1", "net1"; "" of the whole pod */
	enum finding_state state;
	char evidence[FINDING_TEXT_LEN];
	char consequence[FINDING_TEXT_LEN]; /* "" when all is well, as the next */
	char remedy[FINDING_TEXT_LEN];
};

struct findings {
	struct finding *finding; /* owned */
	size_t n;
};

/*
 * doctor_examine - the checks: devices, rail, port, gid, neighbour, mtu, mode, uverbs, rdma-cm,
 * memlock, pfc, trust, traffic-class, retries, sequence, congestion, link-down, counters.
 * railctl(8) says what each means.
 */
int doctor_examine(const struct probe_data *f, struct findings *out, struct err *e) must_check;

void findings_clear(struct findings *f);
#define auto_findings auto_clean(findings_clear)

/* findings_worst - fail before warn before unknown before ok. */
enum finding_state findings_worst(const struct findings *f);

#endif
