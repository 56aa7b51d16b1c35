/* SPDX-License-Identifier: Apache-2.0 */
/*
 * parse.h: bounded parsers of small values. Pure: no I/O, no allocation, no locale.
 *
 * They return 0, or -1 and leave the output alone; the caller knows the key and words the error.
 */
#ifndef RAILHEAD_LIB_BASE_PARSE_H
#define RAILHEAD_LIB_BASE_PARSE_H

#include "lib/base/base.h"

#define IFNAME_LEN 16 /* IFNAMSIZ: 15 bytes and NUL */
#define HEX_DIGITS "0123456789abcdef"

/* parse_u64 - decimal digits only: no sign, no space, no empty string, min <= value <= max. */
int parse_u64(const char *s, uint64_t min, uint64_t max, uint64_t *out) must_check;

/* hex_digit - the value of a hexadecimal digit, -1 of any other character. */
int hex_digit(char c);       /* either case */
int hex_digit_lower(char c); /* 0 to 9, a to f */

/* hex_octet - the value of the two digits at s, either case; -1: there are not two. */
int hex_octet(const char *s);

/* hex_octet_put - write two digits at p, lower case, and NUL behind them. Returns p + 2. */
char *hex_octet_put(char *p, uint8_t octet);

/* hex_take - the digits at s, either case, at most 8. Returns how many they are; 0: *out is 0. */
size_t hex_take(const char *s, size_t most, uint32_t *out);

/* utf8_valid - well-formed UTF-8 of RFC 3629: no surrogates, no overlong forms, <= U+10FFFF. */
bool utf8_valid(const char *s, size_t len);
/* utf8_char - bytes of the well-formed character at the start of text, 1 to 4; 0 if there is none.
 */
size_t utf8_char(const char *text, size_t len);
/* utf8_prefix - how many of the bytes are well-formed before the first one that is not. */
size_t utf8_prefix(const char *s, size_t len);

/*
 * ifname_problem - why an interface name is refused, or NULL if it is good. The words are those of
 * the CNI skel. Three more rules: no '%' (the kernel takes "net%d" for a pattern and renames), no
 * control characters, and only UTF-8, because JSON cannot have other bytes.
 */
const char *ifname_problem(const char *name);

/* id_valid - ^[a-zA-Z0-9][a-zA-Z0-9_.-]*$, the CNI rule for container ids and network names. */
bool id_valid(const char *s);

/* A piece of a longer string; not NUL-terminated. */
struct slice {
	const char *p;
	size_t len;
};

/*
 * slice_next - cut the next piece off *rest at sep. Returns false when *rest is used up (p NULL);
 * "a;;b" yields "a", "", "b".
 */
bool slice_next(struct slice *rest, char sep, struct slice *out);

/* slice_same - both have the same bytes. slice_is - it is the text. slice_begins - it begins with
 * it.
 */
bool slice_same(struct slice a, struct slice b);
bool slice_is(struct slice s, const char *text);
bool slice_begins(struct slice s, const char *text);

/* slice_copy - copy into a buffer with NUL. -1 if it does not fit or holds a NUL. */
int slice_copy(struct slice s, char *buf, size_t size) must_check;

#endif
