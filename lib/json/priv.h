/* SPDX-License-Identifier: Apache-2.0 */
/*
 * priv.h: the check of JSON text that json.c runs before cJSON parses it. For lib/json
 * only.
 */
#ifndef RAILHEAD_LIB_JSON_PRIV_H
#define RAILHEAD_LIB_JSON_PRIV_H

#include "lib/base/err.h"

/* Longest number text: unpatched releases of cJSON 1.7 cut longer ones. */
#define JSON_MAX_NUMBER 63

/*
 * json_scan - refuse all but one RFC 8259 value with white space around it, within the depth of
 * json.h. ERR_DECODE. cJSON then reads the text as the RFC defines it. cJSON alone also accepts
 * "01", "1.", control characters in strings and as white space, "\u0000", and text behind the
 * value.
 */
int json_scan(const char *text, size_t len, const char *what, struct err *e) must_check;

/*
 * json_build - the tree of a text that json_scan() took. Only memory can be lacking then:
 * ERR_NOMEM.
 */
struct json;
int json_build(const char *text, size_t len, struct json **out, struct err *e) must_check;

#endif
