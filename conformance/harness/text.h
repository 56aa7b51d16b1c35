/* SPDX-License-Identifier: Apache-2.0 */
/* text.h: text that grows. Running out of memory ends the program. */
#ifndef CONFORMANCE_HARNESS_TEXT_H
#define CONFORMANCE_HARNESS_TEXT_H

#include <stddef.h>

#define LIKE(fmt, arg) __attribute__((format(printf, fmt, arg)))

struct text {
	char *p; /* ends with a NUL; NULL before the first text_add */
	size_t len, cap;
};

/* Append formatted text. */
void text_add(struct text *t, const char *fmt, ...) LIKE(2, 3);
/* Append the bytes in hexadecimal. */
void text_hex(struct text *t, const void *data, size_t len);
/* Free the text; it can be used again, and is empty. */
void text_free(struct text *t);
#define auto_text __attribute__((cleanup(text_free))) struct text

/* Print "PROGRAM: message" on standard error and end with exit status 2: the test cannot go on. */
void die(const char *fmt, ...) LIKE(1, 2) __attribute__((noreturn));

#endif
