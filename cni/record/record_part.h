/* SPDX-License-Identifier: Apache-2.0 */
/* record_part.h: the interfaces in a record. */
#ifndef RAILHEAD_CNI_RECORD_RECORD_PART_H
#define RAILHEAD_CNI_RECORD_RECORD_PART_H

#include "cni/record/record.h"

/*
 * The interfaces of an attachment. One ADD may make several; they have one record, with one key.
 * record_parts - how many. record_part - *out is r with key.ifname, plugin, master, numbers, device
 * and routing of the i-th of them, and borrows from r. A record with one interface is its own part.
 * record_add_part - one more for r->parts. -1: no memory. Pure.
 */
size_t record_parts(const struct record *r);
void record_part(const struct record *r, size_t i, struct record *out);
int record_add_part(struct json *list, const struct record *part) must_check;

#endif
