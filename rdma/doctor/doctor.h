/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h: what is wrong with RDMA in a pod, from probe data. Pure.
 *
 * Each finding has its evidence, and unless all is well what follows from it and what to do. What
 * cannot be seen from where the data were read is unknown, with the reason as evidence.
 */
#ifndef RAILHEAD_RDMA_DOCTOR_DOCTOR_H
#define RAILHEAD_RDMA_DOCTOR_DOCTOR_H

#include "lib/cli/finding.h"
#include "rdma/doctor/probe_data.h"

/*
 * doctor_examine - the checks: devices, rail, port, gid, neighbour, mtu, mode, uverbs, rdma-cm,
 * memlock, pfc, trust, traffic-class, retries, sequence, congestion, link-down, counters.
 * railctl(8) says what each means.
 */
int doctor_examine(const struct probe_data *f, struct findings *out, struct err *e) must_check;

#endif
