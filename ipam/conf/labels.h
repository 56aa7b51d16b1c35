/* SPDX-License-Identifier: Apache-2.0 */
/*
 * labels.h: labels of a node, and which nodes a pool is for. Pure.
 *
 * Labels are an object of texts: {"leaf": "g3", "example.org/rack": "7"}. Names and values have the
 * form of Kubernetes:
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#syntax-and-character-set
 *
 * The key "nodes" of a pool says which labels a node must have, each with one value or with several
 * that will do: {"leaf": ["g3", "g4"], "example.org/rack": "7"}.
 */
#ifndef RAILHEAD_IPAM_CONF_LABELS_H
#define RAILHEAD_IPAM_CONF_LABELS_H

#include "lib/base/text.h"
#include "lib/json/json.h"

#define LABEL_NAME_MAX     63  /* bytes, of a name behind its prefix and of a value */
#define LABEL_PREFIX_MAX   253 /* bytes */
#define LABELS_MAX         256 /* labels of a node. Ours */
#define LABELS_PER_POOL    16  /* labels that a pool asks for. Ours */
#define LABEL_VALUES_MAX   256 /* values of one of them. Ours */
#define LABEL_OF_NODE_NAME "kubernetes.io/hostname" /* each node has it: its name */

/* label_is_name, label_is_value - the text has the form of one. */
bool label_is_name(const char *text);
bool label_is_value(const char *text);

/*
 * labels_check - whether n is an object of labels; NULL: there are none. selector_check - whether n
 * is the value of the key "nodes"; NULL: every node. ERR_DECODE, ERR_CONFIG: the message has
 * `where`, the name of the label and its value.
 */
int labels_check(const struct json *n, const char *where, struct err *e) must_check;
int selector_check(const struct json *n, const char *where, struct err *e) must_check;

/* selector_matches - a node with these labels is one of those. Both are checked already. */
bool selector_matches(const struct json *selector, const struct json *labels);

/*
 * selector_print - append "leaf=g3 or g4, example.org/rack=7". labels_print_asked - append the
 * labels of a node that the selector asks for: "leaf=g1, no label example.org/rack".
 */
void selector_print(const struct json *selector, struct text *out);
void labels_print_asked(const struct json *selector, const struct json *labels, struct text *out);

#endif
