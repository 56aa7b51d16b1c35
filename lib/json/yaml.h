/* SPDX-License-Identifier: Apache-2.0 */
/* yaml.h: prints a tree as YAML, for files that people read and kubectl applies. */
#ifndef RAILHEAD_LIB_JSON_YAML_H
#define RAILHEAD_LIB_JSON_YAML_H

#include "lib/json/json.h"

/*
 * json_print_yaml - one document without a separator, with a line break at the end; freed with
 * free(). A string that YAML could take for another type, or that has a special character, is in
 * double quotes. So the text means the same in YAML 1.1 and 1.2. NULL: no memory.
 */
char *json_print_yaml(const struct json *n);

#endif
