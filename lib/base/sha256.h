/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h: SHA-256 of a short text, for ids that another person must not be able to choose. Pure.
 * Source: FIPS 180-4.
 */
#ifndef RAILHEAD_LIB_BASE_SHA256_H
#define RAILHEAD_LIB_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN 32

/* sha256 - the digest of len bytes. */
void sha256(const void *data, size_t len, uint8_t out[SHA256_LEN]);

#endif
