/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pattern.h: the bytes of a message, which the receiver can compute. Pure.
 *
 * Each message has different bytes. So the check finds changed bytes, and also a message that was
 * never written, was written twice, or belongs elsewhere.
 */
#ifndef RAILHEAD_RDMA_PROBE_PATTERN_H
#define RAILHEAD_RDMA_PROBE_PATTERN_H

#include "lib/base/base.h"

/* pattern_key - the key of message n in a stream (a phase and a direction) of a run with this seed.
 */
uint64_t pattern_key(uint64_t seed, uint32_t stream, uint64_t n);

/* pattern_fill - write the len bytes for key to buf, which is aligned to 8. */
void pattern_fill(void *buf, size_t len, uint64_t key);

/* The offset of the first wrong byte, and the number of wrong bytes. */
struct pattern_fault {
	size_t offset, wrong;
	uint8_t want, got;
};

/* pattern_check - true if buf has the len bytes for key; else false, with *fault set. */
bool pattern_check(const void *buf, size_t len, uint64_t key, struct pattern_fault *fault);

#endif
