/* SPDX-License-Identifier: Apache-2.0 */
/*
 * diff.h: finds the differences between two machines that matter to a job: devices, distances,
 * ports, NCCL's choice and findings. Pure.
 *
 * A machine is a document of `railctl topo --json`, version 1 (docs/topo.schema.json).
 */
#ifndef RAILHEAD_DIAG_DIFF_H
#define RAILHEAD_DIAG_DIFF_H

#include "lib/cli/finding.h"

/* The most GPUs, and the most HCAs without VFs, of one machine. */
#define TOPO_DIFF_DEVICES_MAX 512

/*
 * topo_diff - add a finding for each difference, worst first; none if the machines are equal. Their
 * ids are explained in railctl(8); ids of checks are texts of the documents, so these must live as
 * long as *out.
 *
 * Devices belong together if their PCI addresses are equal; of several at one address, those of one
 * name. Other GPUs belong together by index, other HCAs by name. VFs whose PF is visible are not
 * compared, because pods take them and give them back; neither are software devices. An HCA that
 * may not be used ("considered" is false) is not expected.
 *
 * fail: a device, a distance, a port or NCCL's choice differs, or a check is worse. warn: names,
 * addresses, roles or settings differ, or a check is better. unknown: one document has no value.
 * ERR_CONFIG: a document is not of version 1. ERR_EXHAUSTED: it has too many devices. The caller
 * clears *out.
 */
enum topo_diff_what {
	TOPO_DIFF_ALL,
	TOPO_DIFF_NCCL, /* only GPUs, HCAs and NCCL's choice: for a file that NCCL wrote */
};
int topo_diff(const struct json *expected, const struct json *found, enum topo_diff_what what,
	      struct findings *out, struct err *e) must_check;

/* topo_diff_typical - the index of the machine that most others equal; of several, the first. Two
 * machines are equal if no finding of topo_diff() says otherwise than unknown. ERR_EXHAUSTED: n is
 * more than TOPO_DIFF_MACHINES_MAX. */
#define TOPO_DIFF_MACHINES_MAX 256
int topo_diff_typical(struct json *const *machine, size_t n, size_t *out, struct err *e) must_check;

#endif
