/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_priv.h: what the files of the simulated fabric share. */
#ifndef RAILHEAD_RDMA_TESTING_FABRIC_PRIV_H
#define RAILHEAD_RDMA_TESTING_FABRIC_PRIV_H

#include "rdma/testing/fabric.h"

/* fabric_mix - a hash of x. */
uint64_t fabric_mix(uint64_t x);

/* fabric_below - the next random number below n. fabric_between - from low up to high. */
uint64_t fabric_below(struct fabric *f, uint64_t n);
double fabric_between(struct fabric *f, double low, double high);

/* fabric_fits - is it the cause that a finding must name? */
bool fabric_fits(const struct fabric_truth *t, enum judge_cause cause);

/* fabric_leaf - of an end. */
uint16_t fabric_leaf(const struct fabric *f, size_t rank, size_t rail);

/* fabric_touches - does the place that was planted hold this end? */
bool fabric_touches(const struct fabric *f, const struct judge_end *place, size_t rank,
		    size_t rail);

/* fabric_is_faulty - does any place that was planted hold this end? */
bool fabric_is_faulty(const struct fabric *f, size_t rank, size_t rail);

#endif
