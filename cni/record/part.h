/* SPDX-License-Identifier: Apache-2.0 */
/* part.h: the interfaces in a record. */
#ifndef RAILHEAD_CNI_RECORD_PART_H
#define RAILHEAD_CNI_RECORD_PART_H

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

/*
 * record_read_part - the interface with this key: of a record of its own, or of that of an ADD that
 * made several. *whole is the record, and empty after an error; *part borrows from it, so keep it
 * where it is. ERR_NOTFOUND (errnum ENOENT): there is none.
 */
int record_read_part(const struct ctx *ctx, const struct record_key *key, struct record *whole,
		     struct record *part, struct err *e) must_check;

#endif
