/* SPDX-License-Identifier: Apache-2.0 */
/*
 * node_number.h: the number of a node, from the object in node.json. Pure.
 *
 * {"number": 17} or {"hostnamePattern": "gpu-(\\d+)"}, see railhead-node.json(5). A pattern is text
 * of a host name, "\d+" for digits, and once "(\d+)" for the digits of the number. It begins at the
 * beginning of the host name and ends at its end or before a dot: "gpu-(\d+)" finds 17 in "gpu-017"
 * and in "gpu-17.example.org", and nothing in "old-gpu-17" or "gpu-17b". "\d+" takes all digits
 * that follow, so a digit cannot stand behind it.
 */
#ifndef RAILHEAD_IPAM_CONF_NODE_NUMBER_H
#define RAILHEAD_IPAM_CONF_NODE_NUMBER_H

#include "lib/json/json.h"

#define NODE_PATTERN_MAX 253 /* bytes, as of a host name */

struct node_number {
	uint32_t number;
	const char *pattern; /* that found it, borrowed from the object; NULL: "number" */
};

/*
 * node_number_decode - the number in the object n for the node with this host name. 1: it has only
 * labels (see node_labels.h), and *out is not set. ERR_DECODE, ERR_CONFIG with key and value: also
 * when the pattern does not match, or finds a number above 4294967295.
 */
int node_number_decode(const struct json *n, const char *hostname, struct node_number *out,
		       struct err *e) must_check;

#endif
