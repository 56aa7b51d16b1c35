/* SPDX-License-Identifier: Apache-2.0 */
/*
 * long.h: longer texts than json.h takes, from servers that we ask and from the kubelet.
 */
#ifndef RAILHEAD_LIB_JSON_LONG_H
#define RAILHEAD_LIB_JSON_LONG_H

#include "lib/json/json.h"

#define JSON_LONG_SIZE (8 * 1024 * 1024)

/* json_parse_long - json_parse() with the limit JSON_LONG_SIZE instead of JSON_MAX_SIZE. */
int json_parse_long(const char *text, size_t len, const char *what, struct json **out,
		    struct err *e) must_check;

#endif
