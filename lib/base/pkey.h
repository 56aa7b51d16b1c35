/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pkey.h: partition keys of InfiniBand (IBTA 1.5 section 10.9). Pure.
 *
 * The low 15 bits name the partition; partition 0 does not exist. The high bit says that a port is
 * a full member of it; limited members cannot talk to each other.
 */
#ifndef RAILHEAD_LIB_BASE_PKEY_H
#define RAILHEAD_LIB_BASE_PKEY_H

#include "lib/base/base.h"

#define PKEY_FULL_MEMBER 0x8000u
#define PKEY_STR_LEN     7 /* "0x8001" and NUL */

/* pkey_is_valid - it has 16 bits and names a partition: 0x0001 to 0x7fff, or that with 0x8000. */
bool pkey_is_valid(uint64_t v);

/* pkey_partition - without the bit of the membership: what two keys of one partition share. */
static inline uint16_t pkey_partition(uint16_t pkey)
{
	return (uint16_t)(pkey & ~PKEY_FULL_MEMBER);
}

/*
 * pkey_parse - "0x8001", as sysfs and ib-kubernetes write it, in either case, or the same number in
 * decimal. -1 and *out unchanged of any other text, and where the key is not valid.
 */
int pkey_parse(const char *s, uint16_t *out) must_check;

/* pkey_format - as sysfs prints it: "0x8001", always 4 digits. Returns out. */
char *pkey_format(uint16_t pkey, char out[PKEY_STR_LEN]);

#endif
