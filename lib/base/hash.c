/* SPDX-License-Identifier: Apache-2.0 */
/* hash.c: one byte at a time; what is hashed here has tens of bytes. */
#include "lib/base/hash.h"

#include <string.h>

#define PRIME UINT64_C(0x100000001b3)

uint64_t hash_add(uint64_t h, const void *bytes, size_t len)
{
	const uint8_t *b = bytes;

	for (size_t i = 0; i < len; i++)
		h = (h ^ b[i]) * PRIME;
	return h;
}

uint64_t hash_add_text(uint64_t h, const char *text)
{
	return hash_add(h, text, strlen(text));
}
