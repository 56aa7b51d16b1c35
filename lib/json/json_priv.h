/* SPDX-License-Identifier: Apache-2.0 */
/* json_priv.h: what the json*.c files share among themselves. */
#ifndef RAILHEAD_LIB_JSON_JSON_PRIV_H
#define RAILHEAD_LIB_JSON_JSON_PRIV_H

#include "lib/base/err.h"

/* Longest number text: unpatched releases of cJSON 1.7 cut longer ones. */
#define JSON_MAX_NUMBER 63

/*
 * json_scan - refuse all but one RFC 8259 value with white space around it, within the limits of
 * json.h. ERR_DECODE. What passes is read by cJSON as the RFC means it; cJSON alone also takes
 * "01", "1.", control characters in strings and as white space, "\u0000", and anything that
 * follows.
 */
int json_scan(const char *text, size_t len, const char *what, struct err *e) must_check;

#endif
