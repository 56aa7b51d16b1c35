/* SPDX-License-Identifier: Apache-2.0 */
/*
 * traffic_class.h: the traffic class that NVIDIA's own driver (DOCA-OFED) sets on a port, in the
 * file tc/PORT/traffic_class of the RDMA device.
 *
 * It replaces the class of every RoCE queue pair that becomes ready through the kernel. Queue pairs
 * made through DevX keep the class that their program gives: those of NCCL's GIN (GDAKI), of
 * NVSHMEM's IBGDA, and of UCX's rc_x and dc_x (openucx/ucx pull request 11108).
 */
#ifndef RAILHEAD_LIB_RDMA_TRAFFIC_CLASS_H
#define RAILHEAD_LIB_RDMA_TRAFFIC_CLASS_H

#include "lib/base/err.h"

/*
 * traffic_class_parse - the number in the file: "106", or "Global tclass=106". -1: none is set;
 * *out stays the same.
 */
int traffic_class_parse(const char *text, uint8_t *out) must_check;

#define TRAFFIC_CLASS_PATH_LEN 160
/* traffic_class_path - the file of a port, relative to sysfs. Returns out. */
char *traffic_class_path(const char *device, uint32_t port, char out[TRAFFIC_CLASS_PATH_LEN]);

/*
 * traffic_class_read - the class of a port; 0: none is set, or the driver has no such file. The
 * only error is ERR_NOMEM.
 */
int traffic_class_read(const char *sysfs, const char *device, uint32_t port, uint8_t *out,
		       struct err *e) must_check;

#endif
