/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64.c: three bytes are four characters. A text has one form only: bits that belong to no byte
 * must be zero, so that decoding and encoding give the same text again.
 */
#include "lib/base/base64.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *data, size_t len, char *out)
{
	const uint8_t *p = data;
	char *to = out;

	for (; len; p += 3, len -= len < 3 ? len : 3) {
		uint32_t v = (uint32_t)p[0] << 16;

		v |= len > 1 ? (uint32_t)p[1] << 8 : 0;
		v |= len > 2 ? p[2] : 0;
		*to++ = digits[v >> 18];
		*to++ = digits[v >> 12 & 63];
		*to++ = digits[v >> 6 & 63];
		*to++ = digits[v & 63];
		for (size_t i = len; i < 3; i++)
			to[(ssize_t)i - 3] = '=';
	}
	*to = '\0';
	return out;
}

static int digit_value(char c)
{
	if (c >= 'A' && c <= 'Z')
		return c - 'A';
	if (c >= 'a' && c <= 'z')
		return c - 'a' + 26;
	if (c >= '0' && c <= '9')
		return c - '0' + 52;
	return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* The first n characters of a group as a number of 24 bits; -1: not all of them are digits. */
static int32_t group_value(const char *text, size_t n)
{
	int32_t v = 0;

	for (size_t i = 0; i < 4; i++) {
		int d = i < n ? digit_value(text[i]) : 0;

		if (d < 0)
			return -1;
		v = v << 6 | d;
	}
	return v;
}

ssize_t base64_decode(const char *text, size_t len, void *out)
{
	uint8_t *to = out;

	if (len % 4)
		return -1;
	for (; len; text += 4, len -= 4) {
		size_t pad = len > 4 || text[3] != '=' ? 0 : text[2] != '=' ? 1 : 2;
		int32_t v = group_value(text, 4 - pad);

		if (v < 0 || (v & ((1 << pad * 8) - 1)))
			return -1;
		*to++ = (uint8_t)(v >> 16);
		if (pad < 2)
			*to++ = (uint8_t)(v >> 8);
		if (pad < 1)
			*to++ = (uint8_t)v;
	}
	return to - (uint8_t *)out;
}
