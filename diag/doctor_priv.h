/* SPDX-License-Identifier: Apache-2.0 */
/* doctor_priv.h: a run of the doctor, and the checks that other files have. */
#ifndef RAILHEAD_DIAG_DOCTOR_PRIV_H
#define RAILHEAD_DIAG_DOCTOR_PRIV_H

#include "diag/doctor.h"

struct doctor {
	const struct probe_data *data;
	struct findings out;
};

/* doctor_add - add a finding, valid until the next; never NULL. subject "": the whole pod. */
struct finding *doctor_add(struct doctor *doc, const char *check, const char *subject,
			   enum finding_state state);

/* The evidence of a finding that needs a process of the pod, if there is none. */
extern const char doctor_from_outside[];

/* doctor_port - the probe data of the rail's port; borrowed. */
const struct port_data *doctor_port(const struct doctor *doc, const struct rdma_rail *r);

/* doctor_is_lossy - the fabric of the rail has no PFC, as the caller or a file says. */
bool doctor_is_lossy(const struct doctor *doc, const struct rdma_rail *r);

/*
 * doctor_pod.c: doctor_check_mode - the RDMA mode. doctor_check_access - character devices and
 * locked memory. doctor_check_qos - quality of service of one rail, called name.
 */
void doctor_check_mode(struct doctor *doc);
void doctor_check_access(struct doctor *doc);
void doctor_check_qos(struct doctor *doc, const struct rdma_rail *r, const char *name);
#define DOCTOR_LIST_LEN 32
/* doctor_list - the bits that are set, as "3, 5" with the separator ", "; "none". Returns out. */
const char *doctor_list(unsigned bits, const char *separator, char out[DOCTOR_LIST_LEN]);

/* doctor_lossless.c: doctor_check_lossless - from the class of NCCL's packets to their PFC. */
void doctor_check_lossless(struct doctor *doc, const struct rdma_rail *r, const char *name);
/*
 * doctor_class.c: doctor_check_traffic_class - the traffic classes of NCCL, UCX and NVSHMEM.
 * doctor_nccl_class - the class that NCCL_IB_TC gives to packets, 0 to 255. -1: it gives none, so
 * that the class is the one of the communicator (ncclConfig_t.trafficClass), else 0.
 */
void doctor_check_traffic_class(struct doctor *doc);
int doctor_nccl_class(const struct job_vars *j);
/* doctor_own_gid - the RoCE v2 GID that a rail should use, borrowed; NULL: it has none. */
const struct inv_gid *doctor_own_gid(const struct rdma_rail *r);

/*
 * doctor_nccl.c: doctor_nccl_has - whether a rule holds in the version of the job; a version that
 * is not proved counts as the newest. doctor_check_nccl_version - NCCL's version, if it is known.
 * doctor_check_nccl_gid
 * - the GID that NCCL takes on one rail, called name.
 */
bool doctor_nccl_has(const struct probe_data *data, enum lib_rule rule);
void doctor_check_nccl_gid(struct doctor *doc, const struct rdma_rail *r, const char *name);
void doctor_check_nccl_version(struct doctor *doc);
/* doctor_settings.c: doctor_check_settings - settings that keep NCCL from the rails. */
void doctor_check_settings(struct doctor *doc);
/* doctor_is_rail - a rail of the pod has this port. */
bool doctor_is_rail(const struct probe_data *data, const struct inv_port *p);
/* doctor_lists.c: doctor_check_lists - the lists of HCAs of UCX, NVSHMEM and Mooncake. */
void doctor_check_lists(struct doctor *doc);
/* doctor_counters.c: doctor_check_counters - the counters of the port of one rail, called name. */
void doctor_check_counters(struct doctor *doc, const struct rdma_rail *r, const char *name);

/*
 * doctor_ib.c: doctor_check_ib - the InfiniBand port of one rail, called name.
 * doctor_check_ib_others - the InfiniBand ports that are not rails.
 */
void doctor_check_ib(struct doctor *doc, const struct rdma_rail *r, const char *name);
void doctor_check_ib_others(struct doctor *doc);

#endif
