/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c: numbers, hexadecimal digits, UTF-8, and the names that CNI allows. */
#include "lib/base/parse.h"

#include <string.h>

int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out)
{
	uint64_t v = 0;

	if (*s == '\0')
		return -1;
	for (; *s; s++) {
		if (*s < '0' || *s > '9')
			return -1;
		if (__builtin_mul_overflow(v, (uint64_t)10, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*s - '0'), &v))
			return -1;
	}
	if (v < min || v > max)
		return -1;
	*out = v;
	return 0;
}

int hex_digit_lower(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

int hex_digit(char c)
{
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : hex_digit_lower(c);
}

int hex_octet(const char *s)
{
	int high = hex_digit(s[0]), low = high < 0 ? -1 : hex_digit(s[1]);

	return low < 0 ? -1 : high << 4 | low;
}

char *hex_octet_put(char *p, uint8_t octet)
{
	*p++ = HEX_DIGITS[octet >> 4];
	*p++ = HEX_DIGITS[octet & 15];
	*p = '\0';
	return p;
}

size_t hex_take(const char *s, size_t most, uint32_t *out)
{
	size_t n = 0;
	uint32_t v = 0;

	for (int d; n < most && (d = hex_digit(s[n])) >= 0; n++)
		v = v << 4 | (uint32_t)d;
	*out = v;
	return n;
}

size_t utf8_char(const char *text, size_t len)
{
	const uint8_t *s = (const uint8_t *)text;
	uint8_t c = len ? s[0] : 0xff;
	size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
	/* RFC 3629 section 4: the second byte excludes overlong forms, surrogates, > U+10FFFF. */
	uint8_t low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
	uint8_t high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;

	if (n > len || (n > 1 && (s[1] < low || s[1] > high)))
		return 0;
	for (size_t i = 2; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	return n;
}

size_t utf8_prefix(const char *s, size_t len)
{
	size_t i = 0, n;

	while (i < len) {
		uint64_t word;

		/* nearly all text is ASCII: eight at a time */
		if (len - i >= sizeof(word)) {
			memcpy(&word, s + i, sizeof(word));
			if (!(word & UINT64_C(0x8080808080808080))) {
				i += sizeof(word);
				continue;
			}
		}
		n = utf8_char(s + i, len - i);
		if (n == 0)
			break;
		i += n;
	}
	return i;
}

bool utf8_valid(const char *s, size_t len)
{
	return utf8_prefix(s, len) == len;
}

/* The code point of the well-formed character of n bytes at s. */
static uint32_t utf8_decode(const uint8_t *s, size_t n)
{
	uint32_t c = n > 1 ? s[0] & (0x7fu >> n) : s[0];

	for (size_t i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3f);
	return c;
}

/* White_Space of Unicode, as the skel asks for it. */
static bool is_space(uint32_t c)
{
	return (c >= 0x09 && c <= 0x0d) || c == 0x20 || c == 0x85 || c == 0xa0 || c == 0x1680 ||
	       (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 || c == 0x202f ||
	       c == 0x205f || c == 0x3000;
}

const char *ifname_problem(const char *name)
{
	size_t len = strnlen(name, IFNAME_LEN), n;

	if (len == 0)
		return "interface name is empty";
	if (len >= IFNAME_LEN)
		return "interface name is too long";
	if (!strcmp(name, ".") || !strcmp(name, ".."))
		return "interface name is . or ..";
	if (!utf8_valid(name, len))
		return "interface name is not UTF-8 text";
	for (size_t i = 0; i < len; i += n) {
		n = utf8_char(name + i, len - i);
		uint32_t c = utf8_decode((const uint8_t *)name + i, n);

		if (c == '/' || c == ':' || is_space(c))
			return "interface name contains / or : or whitespace characters";
		if (c < 0x20 || c == 0x7f)
			return "interface name contains control characters";
		if (c == '%')
			return "interface name contains %, where the kernel would put a number";
	}
	return NULL;
}

static bool id_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
	       c == '_' || c == '.' || c == '-';
}

bool id_valid(const char *s)
{
	if (!id_char(*s) || *s == '_' || *s == '.' || *s == '-')
		return false;
	while (id_char(*s))
		s++;
	return *s == '\0';
}

bool slice_next(struct slice *rest, char sep, struct slice *out)
{
	if (!rest->p)
		return false;
	const char *end = memchr(rest->p, sep, rest->len);
	if (!end) {
		*out = *rest;
		*rest = (struct slice){ 0 };
		return true;
	}
	*out = (struct slice){ rest->p, (size_t)(end - rest->p) };
	*rest = (struct slice){ end + 1, rest->len - out->len - 1 };
	return true;
}

bool slice_same(struct slice a, struct slice b)
{
	return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

bool slice_is(struct slice s, const char *text)
{
	return slice_same(s, (struct slice){ text, strlen(text) });
}

bool slice_begins(struct slice s, const char *text)
{
	size_t len = strlen(text);

	return s.len >= len && slice_is((struct slice){ s.p, len }, text);
}

int slice_copy(struct slice s, char *buf, size_t size)
{
	if (s.len >= size || (s.len > 0 && memchr(s.p, '\0', s.len)))
		return -1;
	if (s.len > 0)
		memcpy(buf, s.p, s.len);
	buf[s.len] = '\0';
	return 0;
}
