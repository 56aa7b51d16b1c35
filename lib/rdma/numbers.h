/* SPDX-License-Identifier: Apache-2.0 */
/*
 * numbers.h: an RDMA device gets other character devices than those that a pod has since before its
 * ADD.
 *
 * The kernel recreates the character devices of a device that moves or whose driver is bound, and
 * gives them the lowest free numbers. After a failed ADD, or a DEL, the device keeps its new
 * numbers. The runtime repeats ADD for the same pod with the old ones. So the first ADD of a pod
 * notes them in <run_dir>/numbers/<bus address>, where they stay until another pod has the device.
 */
#ifndef RAILHEAD_LIB_RDMA_NUMBERS_H
#define RAILHEAD_LIB_RDMA_NUMBERS_H

#include "lib/json/json.h"
#include "lib/rdma/bus.h"

/* What follows if a device gets other character devices: an error, or a warning. */
enum rdma_renumbered { RDMA_RENUMBERED_FAIL, RDMA_RENUMBERED_REPORT };

/* The values of the key "renumbered", for a table of fields. */
extern const struct json_enum rdma_reactions[];

/* The device of a pod. Pointers are borrowed. */
struct rdma_numbers {
	const struct ctx *ctx; /* the program's own */
	const struct log *log;
	const char *bus; /* address of the device */
	const char *pod; /* its UID, or its container */
	enum rdma_renumbered renumbered;
};

/*
 * rdma_numbers_check - before a change: note the numbers of the device for this pod, unless an
 * earlier ADD of it noted them. ERR_STATE with a remedy: the device does not have those any more.
 * Nothing is noted or compared if other numbers are only reported. The caller holds rdma_lock().
 */
int rdma_numbers_check(const struct rdma_numbers *n, const struct rdma_chardevs *now,
		       struct err *e) must_check;

/*
 * rdma_numbers_judge - after a change: 0 if the numbers are the same; else a warning in the log
 * that begins with what ("VF 0000:3b:02.0"), or ERR_STATE with a remedy. Pure except for the log.
 */
int rdma_numbers_judge(const struct rdma_numbers *n, const struct rdma_chardevs *was,
		       const struct rdma_chardevs *now, const char *what, struct err *e) must_check;

#endif
