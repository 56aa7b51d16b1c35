/* SPDX-License-Identifier: Apache-2.0 */
/* attach.h: the key "host" in ADD, in CHECK, and in a DEL that has no record. */
#ifndef RAILHEAD_CNI_HOSTVETH_ATTACH_H
#define RAILHEAD_CNI_HOSTVETH_ATTACH_H

#include "cni/hostveth/hostveth.h"

/* One attachment, with all of its interfaces. */
struct attach_host {
	struct hostveth_sides sides; /* borrowed, and so is conf */
	const struct hostveth_conf *conf;
	struct cni_result ips;     /* owned: of all interfaces; interface: the master's number */
	struct hostveth_node node; /* owned: what their masters have */
	struct json *note;         /* owned; NULL: nothing is on record */
	int ifindex;               /* of the first interface in the pod */
};

/*
 * attach_host_take - one more interface with its addresses; master: on the node, 0: none, or not on
 * the node. Changes nothing. attach_host_refuse - as hostveth_refuse(), for all that were taken.
 * attach_host_clear - frees what is owned.
 */
int attach_host_take(struct attach_host *h, int ifindex, int master, const struct cni_result *ips,
		     struct err *e) must_check;
int attach_host_refuse(const struct attach_host *h, bool pool, struct err *e) must_check;
void attach_host_clear(struct attach_host *h);

/*
 * attach_host_note - sets h->note, which the record must have before attach_host_apply().
 * attach_host_undo - the inverse of the latter, whatever it reached.
 */
int attach_host_note(struct attach_host *h, struct err *e) must_check;
int attach_host_apply(const struct attach_host *h, struct err *e) must_check;
int attach_host_undo(const struct attach_host *h, struct err *e) must_check;

/* attach_host_remove_of - for a DEL that has no record: by the addresses of an interface of the
 * pod. at: without the node. */
int attach_host_remove_of(const struct hostveth_sides *at, int ifindex, struct err *e) must_check;

/* attach_host_check - note: of the record; NULL is success. ERR_STATE names what is missing. */
int attach_host_check(const struct attach_host *h, const struct json *note,
		      struct err *e) must_check;

#endif
