/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h: finds errors of RDMA in a pod, from probe data. Pure.
 *
 * Each finding has its evidence. If it is not ok, it also has the effect and the remedy. If the
 * data do not show something, its finding is unknown, with the reason as evidence.
 */
#ifndef RAILHEAD_DIAG_DOCTOR_H
#define RAILHEAD_DIAG_DOCTOR_H

#include "lib/cli/finding.h"
#include "diag/probe_data.h"

/*
 * doctor_check - run all checks: devices, rail, port, gid, neighbour, nccl-gid, mtu, mode, uverbs,
 * rdma-cm, memlock, transport, pfc, trust, lossless, retries, sequence, congestion, link-errors,
 * link-down, counters. Of the job's settings: nccl-version, nccl-net, nccl-hca, ucx-devices,
 * ucx-transports, nvshmem-hca, mooncake-devices, mooncake-gid, mooncake-tcp, traffic-class. Ports
 * of InfiniBand have sm, lid, guid, pkey in place of those that only RoCE has. railctl(8) explains
 * each. findings_clear() frees *out. ERR_NOMEM.
 */
int doctor_check(const struct probe_data *f, struct findings *out, struct err *e) must_check;

#endif
