/* SPDX-License-Identifier: Apache-2.0 */
/* ib.h: the table of `railctl rdma list --ib`, and texts that all its tables share. Pure. */
#ifndef RAILHEAD_RAILCTL_RDMA_IB_H
#define RAILHEAD_RAILCTL_RDMA_IB_H

#include "lib/cli/out.h"
#include "rdma/inventory/inventory.h"

#define RDMA_IB_COLUMNS 11
extern const struct out_column rdma_ib_columns[RDMA_IB_COLUMNS];

/* rdma_ib_row - add a row of these columns for a port of InfiniBand, and none for another port. */
int rdma_ib_row(struct out_table *t, const struct inv_device *d, const struct inv_port *p,
		struct err *e) must_check;

/* rdma_rate_text - "100G", "2.5G"; NULL for 0, which is not known. Returns out. */
const char *rdma_rate_text(uint32_t mbps, char out[16]);
/* rdma_number_text - the digits of n; NULL for a negative number. Returns out. */
#define RDMA_NUMBER_LEN 24
const char *rdma_number_text(int64_t n, char out[RDMA_NUMBER_LEN]);

#endif
