/* SPDX-License-Identifier: Apache-2.0 */
/* near.h: the word that a person meant who wrote another one. Pure. */
#ifndef RAILHEAD_LIB_BASE_NEAR_H
#define RAILHEAD_LIB_BASE_NEAR_H

#include <stdbool.h>

/*
 * near_word - for "did you mean": true when candidate is nearer to word than *best was (which
 * starts NULL) and near enough to be meant at all. Then *best is set to it.
 */
bool near_word(const char *word, const char *candidate, const char **best);

/*
 * near_slip - key is not known, but so near to it that it was certainly meant: one letter more or
 * less, another one, or two neighbours swapped; in a key of nine letters two such slips. Many words
 * of three letters are so near to each other: of those only one letter at the end counts. Case does
 * not count. "_rails" is a comment.
 */
bool near_slip(const char *key, const char *known);

#endif
