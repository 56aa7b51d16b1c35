/* SPDX-License-Identifier: Apache-2.0 */
/*
 * yaml.h: YAML documents as JSON, as Kubernetes reads them. Pure. JSON is also accepted.
 *
 * The subset: no aliases and no merge keys, because they multiply what a small text says; kubectl
 * writes none. Keys are scalars. Plain scalars become null, booleans and numbers as in YAML 1.1;
 * numbers with a leading zero, hexadecimal and infinite ones are text.
 */
#ifndef RAILHEAD_LIB_JSON_YAML_H
#define RAILHEAD_LIB_JSON_YAML_H

#include "lib/json/json.h"

#define YAML_JSON_SIZE_MAX   ((size_t)16 << 20) /* bytes */
#define YAML_JSON_VALUES_MAX 500000
#define YAML_JSON_DEPTH_MAX  JSON_MAX_DEPTH

/*
 * yaml_json_read - *out is an array of the documents; empty ones are left out. The caller frees it.
 * ERR_DECODE with the line: no YAML, not in the subset, or more than the limits above.
 */
int yaml_json_read(const char *text, size_t len, struct json **out, struct err *e) must_check;

#endif
