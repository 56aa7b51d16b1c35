// SPDX-License-Identifier: Apache-2.0
/*
 * Replaces GUIDs, MACs, GIDs and serial numbers by others of their kind. Equal values stay equal.
 * The key is not stored, so that the original values cannot be found.
 */
#include <string.h>

#include "lib/base/parse.h"

#include "topo/capture/priv.h"
#include "topo/read/pcicap.h"

#define CAP_SERIAL 0x0003 /* PCI Express base specification 7.9.3 */

/* SipHash-2-4 (Aumasson, Bernstein 2012), of one block of at most 8 bytes. */
static uint64_t rotate_left(uint64_t x, int n)
{
	return x << n | x >> (64 - n);
}

static void sip_rounds(uint64_t v[4], int n)
{
	while (n--) {
		v[0] += v[1];
		v[2] += v[3];
		v[1] = rotate_left(v[1], 13) ^ v[0];
		v[3] = rotate_left(v[3], 16) ^ v[2];
		v[0] = rotate_left(v[0], 32);
		v[2] += v[1];
		v[0] += v[3];
		v[1] = rotate_left(v[1], 17) ^ v[2];
		v[3] = rotate_left(v[3], 21) ^ v[0];
		v[2] = rotate_left(v[2], 32);
	}
}

static uint64_t siphash(const uint64_t key[2], uint64_t value, uint64_t len)
{
	uint64_t v[4] = { key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d,
			  key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573 };
	const uint64_t block[2] = { value, len << 56 };

	for (size_t i = 0; i < 2; i++) {
		v[3] ^= block[i];
		sip_rounds(v, 2);
		v[0] ^= block[i];
	}
	v[2] ^= 0xff;
	sip_rounds(v, 4);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* Replace bytes; equal bytes become equal bytes under one key. */
static void hide_bytes(const uint64_t key[2], uint8_t *b, size_t len)
{
	while (len) {
		size_t n = len < 8 ? len : 8;
		uint64_t value = 0;
		memcpy(&value, b, n);
		/* nothing is what it was */
		value = value ? siphash(key, value, n) | 1 : 0;
		memcpy(b, &value, n);
		b += n;
		len -= n;
	}
}

/* The digits to replace, at most 64. In a GID: the last 16, or the last 8 of an IPv4 address. */
static size_t find_digits(const char *text, const char *at[64])
{
	size_t n = 0, skip = 0;

	for (; *text && n < 64; text++) {
		if (hex_digit(*text) >= 0)
			at[n++] = text;
	}
	if (n != 32 || !strchr(at[0], ':'))
		return n;
	bool v4 = *at[20] == 'f' && *at[21] == 'f' && *at[22] == 'f' && *at[23] == 'f';
	for (size_t i = 0; v4 && i < 20; i++)
		v4 = *at[i] == '0';
	skip = v4 ? 24 : 16;
	memmove(at, at + skip, (n - skip) * sizeof(*at));
	return n - skip;
}

void hide_text(const uint64_t key[2], char *text)
{
	const char *at[64];
	uint8_t bytes[32] = { 0 };
	size_t n = find_digits(text, at) & ~(size_t)1;

	for (size_t i = 0; i < n; i += 2)
		bytes[i / 2] = (uint8_t)(hex_digit(*at[i]) << 4 | hex_digit(*at[i + 1]));
	hide_bytes(key, bytes, n / 2);
	for (size_t i = 0; i < n; i++)
		text[at[i] - text] = HEX_DIGITS[i % 2 ? bytes[i / 2] & 0xf : bytes[i / 2] >> 4];
}

void hide_config(const uint64_t key[2], uint8_t *bytes, size_t len)
{
	size_t at;

	if (pcicap_find_ext((struct pci_config){ bytes, len }, CAP_SERIAL, &at) == PCICAP_FOUND &&
	    at + 12 <= len)
		hide_bytes(key, bytes + at + 4, 8);
}
