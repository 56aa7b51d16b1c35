/* SPDX-License-Identifier: Apache-2.0 */
/*
 * typos.h: a text of JSON in which a person mistyped one key: for formats whose reader must not
 * pass over a slip in silence.
 */
#ifndef RAILHEAD_LIB_TESTING_TYPOS_H
#define RAILHEAD_LIB_TESTING_TYPOS_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the reader says something about the text: it refuses it, or warns of a key. */
typedef bool (*typos_fn)(const char *text, void *arg);

/*
 * typos_all_told - mistype each key of text at each letter: another one, dropped, doubled, swapped
 * with the next. A key that text has as well is not a typo, nor is one of also (NULL-terminated:
 * keys that mean something else). A list such as of sysctls has no known keys: they are in also,
 * too. Returns how many texts were tried; aborts the test with the first of which the reader said
 * nothing.
 */
size_t typos_all_told(const char *text, const char *const *also, typos_fn fn, void *arg);

#endif
