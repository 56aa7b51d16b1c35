/* SPDX-License-Identifier: Apache-2.0 */
/* attach_add.h: what an ADD has done so far. For attach_add.c and attach_undo.c only. */
#ifndef RAILHEAD_CNI_ENGINE_ATTACH_ADD_H
#define RAILHEAD_CNI_ENGINE_ATTACH_ADD_H

#include "cni/engine/attach_priv.h"

struct add {
	struct attach a;
	struct delegate ipam;
	struct cni_result from_ipam;
	struct record record;
	struct probe_answer probe;
	bool change_stays;    /* what create did could not be taken back */
	bool lease_stays;     /* the IPAM could not release it, or not yet that of an earlier ADD */
	struct json *routing; /* owned; of the record */
	struct attach_host host;
	char mac[HW_ADDR_STR_LEN];
	/* The interfaces: this one, or several, which share its record, its IPAM and its undo
	 * stack. If they are several, from_ipam of each has its share. */
	struct add *part; /* owned if they are several */
	size_t n_parts;
	struct add *whole; /* of one of several: all of them; else itself */
	struct attach_parts parts;
	struct json *on_record; /* owned; the parts for the record */
};

void add_clear(struct add *s);

/*
 * ---- inverses, for the undo stack: arg is the struct add ----
 *
 * Run last first. While the interface stays, its address must stay taken. While either stays, the
 * record does, too: the runtime's DEL, GC and repair go by it.
 */
int add_undo_record(void *arg, struct err *e);
int add_undo_ipam(void *arg, struct err *e);
int add_undo_change(void *arg, struct err *e); /* of an interface made or moved, or a claim */
int add_undo_rules(void *arg, struct err *e);
int add_undo_host(void *arg, struct err *e);

#endif
