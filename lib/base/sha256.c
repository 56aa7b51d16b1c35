/* SPDX-License-Identifier: Apache-2.0 */
/* sha256.c: SHA-256 and HMAC, without tables of tricks: the texts are short. */
#include "lib/base/sha256.h"

#include <string.h>

/* Fractional parts of the cube roots of the first 64 primes (FIPS 180-4 section 4.2.2). */
static const uint32_t k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static uint32_t rotate(uint32_t x, unsigned n)
{
	return x >> n | x << (32 - n);
}

static void sha256_add_block(uint32_t state[8], const uint8_t *p)
{
	uint32_t w[64], s[8];

	for (size_t i = 0; i < 16; i++, p += 4)
		w[i] = (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	for (size_t i = 16; i < 64; i++) {
		uint32_t a = w[i - 15], b = w[i - 2];

		w[i] = w[i - 16] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) + w[i - 7] +
		       (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
	}
	memcpy(s, state, sizeof(s));
	for (size_t i = 0; i < 64; i++) {
		uint32_t e = s[4], a = s[0];
		uint32_t t1 = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
			      ((e & s[5]) ^ (~e & s[6])) + k[i] + w[i];
		uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
			      ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));

		memmove(s + 1, s, 7 * sizeof(*s));
		s[4] += t1;
		s[0] = t1 + t2;
	}
	for (size_t i = 0; i < 8; i++)
		state[i] += s[i];
}

void sha256_begin(struct sha256 *h)
{
	*h = (struct sha256){ .state = { 0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f,
					 0x9b05688c, 0x1f83d9ab, 0x5be0cd19 } };
}

void sha256_add(struct sha256 *h, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++) {
		h->block[h->len++ % SHA256_BLOCK] = p[i];
		if (h->len % SHA256_BLOCK == 0)
			sha256_add_block(h->state, h->block);
	}
}

void sha256_end(struct sha256 *h, uint8_t out[SHA256_LEN])
{
	static const uint8_t end = 0x80, zero = 0;
	uint64_t bits = h->len * 8;
	uint8_t length[8];

	for (size_t i = 0; i < sizeof(length); i++)
		length[i] = (uint8_t)(bits >> (56 - 8 * i));
	sha256_add(h, &end, 1);
	while (h->len % SHA256_BLOCK != SHA256_BLOCK - sizeof(length))
		sha256_add(h, &zero, 1);
	sha256_add(h, length, sizeof(length));
	for (size_t i = 0; i < SHA256_LEN; i++)
		out[i] = (uint8_t)(h->state[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256(const void *data, size_t len, uint8_t out[SHA256_LEN])
{
	struct sha256 h;

	sha256_begin(&h);
	sha256_add(&h, data, len);
	sha256_end(&h, out);
}

void sha256_hmac_begin(struct sha256_hmac *m, const uint8_t key[SHA256_LEN])
{
	uint8_t pad[SHA256_BLOCK];

	for (size_t i = 0; i < SHA256_BLOCK; i++)
		pad[i] = (uint8_t)((i < SHA256_LEN ? key[i] : 0) ^ 0x5c);
	sha256_begin(&m->outer);
	sha256_add(&m->outer, pad, sizeof(pad));
	for (size_t i = 0; i < SHA256_BLOCK; i++)
		pad[i] ^= 0x5c ^ 0x36;
	sha256_begin(&m->inner);
	sha256_add(&m->inner, pad, sizeof(pad));
}

void sha256_hmac_end(struct sha256_hmac *m, uint8_t out[SHA256_LEN])
{
	uint8_t digest[SHA256_LEN];

	sha256_end(&m->inner, digest);
	sha256_add(&m->outer, digest, sizeof(digest));
	sha256_end(&m->outer, out);
}
