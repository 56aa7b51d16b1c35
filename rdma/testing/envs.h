/* SPDX-License-Identifier: Apache-2.0 */
/*
 * envs.h: the variables of a pod, for tests of rdma/env. For test programs only.
 *
 * Each function fails the test on error.
 */
#ifndef RAILHEAD_RDMA_TESTING_ENVS_H
#define RAILHEAD_RDMA_TESTING_ENVS_H

#include "rdma/env/env.h"

/* envs_made - the variables; the caller clears them. */
struct env envs_made(const struct rdma_inventory *v, const struct env_options *o);

/* envs_shows - all variables are these "NAME=value" lines, in this order, and have reasons. */
void envs_shows(const struct env *x, const char *want);

/* envs_warns - there are n warnings, and one has part; NULL: any. */
void envs_warns(const struct env *x, size_t n, const char *part);

#endif
