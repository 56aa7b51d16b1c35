/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha256.h: SHA-256, for ids that another person must not be able to choose, and HMAC with it.
 * Pure. Sources: FIPS 180-4, RFC 2104.
 */
#ifndef RAILHEAD_LIB_BASE_SHA256_H
#define RAILHEAD_LIB_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

#define SHA256_LEN   32
#define SHA256_BLOCK 64

struct sha256 {
	uint32_t state[8];
	uint64_t len; /* bytes added */
	uint8_t block[SHA256_BLOCK];
};

/* sha256 - the digest of len bytes. The others: of several pieces, one after the other. */
void sha256(const void *data, size_t len, uint8_t out[SHA256_LEN]);
void sha256_begin(struct sha256 *h);
void sha256_add(struct sha256 *h, const void *data, size_t len);
void sha256_end(struct sha256 *h, uint8_t out[SHA256_LEN]);

/* sha256_hmac_begin - then add pieces to m->inner with sha256_add(). A longer key is hashed first.
 */
struct sha256_hmac {
	struct sha256 inner, outer;
};
void sha256_hmac_begin(struct sha256_hmac *m, const uint8_t key[SHA256_LEN]);
void sha256_hmac_end(struct sha256_hmac *m, uint8_t out[SHA256_LEN]);

#endif
