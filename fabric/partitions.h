/* SPDX-License-Identifier: Apache-2.0 */
/*
 * partitions.h: railhead's section of opensm's partitions.conf. Pure.
 *
 *	# railhead: begin ...
 *	railhead=0x0001,ipoib : 0x0200000000000a01=full ; # gpu-1 id-1 net1
 *	# railhead: end
 *
 * A line is one membership, and its comment is the owner: node, container, interface. opensm joins
 * all definitions that have one key. Text outside the section never changes.
 */
#ifndef RAILHEAD_FABRIC_PARTITIONS_H
#define RAILHEAD_FABRIC_PARTITIONS_H

#include "fabric/message.h"

/* partitions_are_ruled - the file has a rule for the default partition, 0x7fff. */
bool partitions_are_ruled(const char *text);

struct partitions_edited {
	char *text;  /* the whole file; the caller frees it */
	size_t kept; /* lines that SM_REMOVE left, because they have another owner */
};

/*
 * partitions_edit - the file after the message. ipoib: the lines of SM_ADD have the flag. A section
 * without lines is removed. ERR_CONFIG: the section is damaged.
 */
int partitions_edit(const char *text, const struct sm_message *m, bool ipoib,
		    struct partitions_edited *out, struct err *e) must_check;

#endif
