/* SPDX-License-Identifier: Apache-2.0 */
/*
 * markup.h: text from elsewhere in XML and HTML, between tags or in an attribute with quotes.
 *
 * Nothing of the text becomes markup. Bytes that are not UTF-8, or not allowed there, become
 * '?', and so do characters that change the direction of writing.
 */
#ifndef RAILHEAD_LIB_CLI_MARKUP_H
#define RAILHEAD_LIB_CLI_MARKUP_H

#include <stdio.h>

#include "lib/base/base.h"

/* markup_put - write the escaped text. */
void markup_put(const char *text, FILE *to);

/* markup_put_short - write at most n characters; a longer text ends with an ellipsis. */
#define MARKUP_SHORT_MAX 240
void markup_put_short(const char *text, size_t n, FILE *to);

#endif
