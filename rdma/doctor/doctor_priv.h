/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_priv.h: an examination in progress, and the checks of each file doctor*.c. */
#ifndef RAILHEAD_RDMA_DOCTOR_DOCTOR_PRIV_H
#define RAILHEAD_RDMA_DOCTOR_DOCTOR_PRIV_H

#include "rdma/doctor/doctor.h"

struct exam {
	const struct probe_data *facts;
	struct findings out;
};

/* exam_add - add a finding, valid until the next; never NULL. subject "": the whole pod. */
struct finding *exam_add(struct exam *x, const char *check, const char *subject,
			 enum finding_state state);

/* exam_port - the probe data of the rail's port; borrowed. */
const struct port_data *exam_port(const struct exam *x, const struct rdma_rail *r);

/*
 * doctor_pod.c: exam_mode - the RDMA mode. exam_access - character devices and locked memory.
 * exam_qos - quality of service of one rail, called name. exam_traffic_class - of all rails.
 */
void exam_mode(struct exam *x);
void exam_access(struct exam *x);
void exam_qos(struct exam *x, const struct rdma_rail *r, const char *name);
void exam_traffic_class(struct exam *x);
/* doctor_counters.c: exam_counters - the counters of the port of one rail, called name. */
void exam_counters(struct exam *x, const struct rdma_rail *r, const char *name);

#endif
