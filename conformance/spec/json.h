/* SPDX-License-Identifier: Apache-2.0 */
/* json.h: values by path. "ips>0>address": keys and indices, '>' between them. */
#ifndef CONFORMANCE_SPEC_JSON_H
#define CONFORMANCE_SPEC_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>

/* NULL where there is none. */
cJSON *jget(const cJSON *tree, const char *path);
/* "" where there is no string. */
const char *jstr(const cJSON *tree, const char *path);
/* -1 where there is no number. */
double jnum(const cJSON *tree, const char *path);
int jlen(const cJSON *tree, const char *path);
/* Takes value; objects on the way are made. */
void jset(cJSON *tree, const char *path, cJSON *value);
void jdel(cJSON *tree, const char *path);
/* Whole text, one document, blanks around it allowed; NULL otherwise. */
cJSON *jparse(const char *text);
char *jtext(const cJSON *tree);

#endif
