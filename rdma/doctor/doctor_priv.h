/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_priv.h: what doctor*.c share. */
#ifndef RAILHEAD_RDMA_DOCTOR_DOCTOR_PRIV_H
#define RAILHEAD_RDMA_DOCTOR_DOCTOR_PRIV_H

#include "rdma/doctor/doctor.h"

struct exam {
	const struct probe_data *facts;
	struct findings out;
};

/* exam_add - one more finding, valid until the next; never NULL. subject "": the whole pod. */
struct finding *exam_add(struct exam *x, const char *check, const char *subject,
			 enum finding_state state);

/* exam_port - the findings of the rail's port. */
const struct port_data *exam_port(const struct exam *x, const struct rdma_rail *r);

/* The mode; character devices and memory; quality of service of a rail, and of the whole. */
void exam_mode(struct exam *x);
void exam_access(struct exam *x);
void exam_qos(struct exam *x, const struct rdma_rail *r, const char *name);
void exam_traffic_class(struct exam *x);
/* What the port counts. */
void exam_counters(struct exam *x, const struct rdma_rail *r, const char *name);

#endif
