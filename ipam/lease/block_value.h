/* SPDX-License-Identifier: Apache-2.0 */
/*
 * block_value.h: the blocks and the node itself as values in the store. Pure.
 *
 *	b/<scope>/<start>    {"state": "granted", "token": "<16 hex digits>", "epoch": "3"}
 *	l/<scope>/<address>  the same for a loan
 *	m/node               {"holder", "boot", "epoch", "giveUntil", "uid", "version", "beats"}
 *
 * A block also has "since" if it is contested or lost, and "lent" if it lends addresses. A granted
 * one with loans has the state "lending", which older versions refuse. A loan also has "at", so
 * many after the start of its block, and "lender". The node may have "frozen" and "strays".
 *
 * Numbers with more digits than a JSON number keeps are texts. giveUntil is absent if nothing
 * limits the time, frozen if nothing is frozen, strays if it is false.
 */
#ifndef RAILHEAD_IPAM_LEASE_BLOCK_VALUE_H
#define RAILHEAD_IPAM_LEASE_BLOCK_VALUE_H

#include "ipam/block/record.h"
#include "ipam/lease/lease.h"

/*
 * block_value_parse - the record with this key. ERR_STORE: the key is not that of a block, or the
 * text is not a block; the message has key and value. block_value_print - the text of a record; the
 * caller frees it; NULL: no memory. block_value_key - its key.
 */
int block_value_parse(const char *key, const char *text, struct block_record *out,
		      struct err *e) must_check;
char *block_value_print(const struct block_record *r);
void block_value_key(const struct block_key *b, struct key *out);

/*
 * block_value_lends - what the record with this key lends. A record without loans is not decoded:
 * out->n is 0 then, and the key is not set. block_value_print_lending - as block_value_print(),
 * with the loans.
 */
int block_value_lends(const char *key, const char *text, struct lending *out,
		      struct err *e) must_check;
char *block_value_print_lending(const struct block_record *r, const struct lending *l);

/* block_state_name - "granted", as in the record. */
const char *block_state_name(enum block_state s);

/* node_value_parse, node_value_print - the same for the node. NULL (no record yet) is all zero. */
int node_value_parse(const char *text, struct node_record *out, struct err *e) must_check;
char *node_value_print(const struct node_record *r);

/*
 * block_identity - the identity of o's pod and interface, for a pool whose addresses move. "": the
 * runtime named no pod, or a name that no pod of Kubernetes has.
 */
void block_identity(const struct owner *o, char out[IDENTITY_LEN]);

#endif
