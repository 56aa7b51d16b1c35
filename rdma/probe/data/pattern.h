/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h: the bytes of a message, which its receiver knows beforehand. Pure.
 *
 * Every message has bytes of its own, so that one that was never written, was written twice, or is
 * another's is found like one whose bytes were changed.
 */
#ifndef RAILHEAD_RDMA_PROBE_DATA_PATTERN_H
#define RAILHEAD_RDMA_PROBE_DATA_PATTERN_H

#include "lib/base/base.h"

/* pattern_key - of message number n in stream (which phase, which direction) of a run's seed. */
uint64_t pattern_key(uint64_t seed, uint32_t stream, uint64_t n);

/* pattern_fill - len bytes at buf, which is aligned to 8. */
void pattern_fill(void *buf, size_t len, uint64_t key);

/* The first byte that is wrong, and how many are. */
struct pattern_fault {
	size_t offset, wrong;
	uint8_t want, got;
};

/* pattern_check - true when all len bytes at buf are those of key; else *fault is filled. */
bool pattern_check(const void *buf, size_t len, uint64_t key, struct pattern_fault *fault);

#endif
