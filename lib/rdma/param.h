/* SPDX-License-Identifier: Apache-2.0 */
/*
 * param.h: numbers as NCCL reads them from variables (src/misc/param.cc, ncclLoadParam, 2.30).
 * Pure.
 */
#ifndef RAILHEAD_LIB_RDMA_PARAM_H
#define RAILHEAD_LIB_RDMA_PARAM_H

#include "lib/base/base.h"

/*
 * nccl_number - strtoll() of base 0, so that text without a number is 0. A text that is NULL or
 * empty, or a number that does not fit, gives unset.
 */
int64_t nccl_number(const char *text, int64_t unset);

#endif
