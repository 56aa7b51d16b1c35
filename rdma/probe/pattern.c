/* SPDX-License-Identifier: Apache-2.0 */
/* pattern.c: computes and compares the bytes of a message, eight at a time. */
#include "rdma/probe/pattern.h"

#include <string.h>

#define GOLDEN 0x9e3779b97f4a7c15u /* 2^64 / golden ratio: successive multiples are far apart */

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014): each input bit changes half the output. */
static uint64_t splitmix64(uint64_t x)
{
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

uint64_t pattern_key(uint64_t seed, uint32_t stream, uint64_t n)
{
	return splitmix64(splitmix64(seed + GOLDEN * (stream + 1)) + GOLDEN * (n + 1));
}

void pattern_fill(void *buf, size_t len, uint64_t key)
{
	uint8_t *p = buf;

	for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
		uint64_t word = splitmix64(key + GOLDEN * i);
		memcpy(p + i, &word, len - i < sizeof(word) ? len - i : sizeof(word));
	}
}

static void compare_bytes(const uint8_t *got, const uint8_t *want, size_t len, size_t at,
			  struct pattern_fault *fault)
{
	for (size_t i = 0; i < len; i++) {
		if (got[i] == want[i])
			continue;
		if (fault->wrong++ == 0) {
			fault->offset = at + i;
			fault->want = want[i];
			fault->got = got[i];
		}
	}
}

bool pattern_check(const void *buf, size_t len, uint64_t key, struct pattern_fault *fault)
{
	const uint8_t *p = buf;
	struct pattern_fault found = { 0 };

	for (size_t i = 0; i < len; i += sizeof(uint64_t)) {
		uint64_t word = splitmix64(key + GOLDEN * i);
		size_t n = len - i < sizeof(word) ? len - i : sizeof(word);
		if (memcmp(p + i, &word, n) != 0)
			compare_bytes(p + i, (const uint8_t *)&word, n, i, &found);
	}
	if (!found.wrong)
		return true;
	*fault = found;
	return false;
}
