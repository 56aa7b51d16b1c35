/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base64.h: base64 of RFC 4648, section 4, with padding. Pure.
 */
#ifndef RAILHEAD_LIB_BASE_BASE64_H
#define RAILHEAD_LIB_BASE_BASE64_H

#include "lib/base/base.h"

/* Characters of n bytes in base64, without the NUL; and most bytes of n characters. */
#define BASE64_CHARS(n) (((n) + 2) / 3 * 4)
#define BASE64_BYTES(n) ((n) / 4 * 3)

/* base64_encode - write BASE64_CHARS(len) characters and NUL to out. Returns out. */
char *base64_encode(const void *data, size_t len, char *out);

/*
 * base64_decode - the bytes of len characters. out has room for BASE64_BYTES(len) bytes. Returns
 * how many were written. -1: the text is not whole groups of four characters, padded only at the
 * end; out is then undefined.
 */
ssize_t base64_decode(const char *text, size_t len, void *out) must_check;

#endif
