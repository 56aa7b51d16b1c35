/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hint.h: what railhead-ipam tells the node agent after an ADD and a DEL, without an answer.
 *
 * A hint is one datagram of JSON to <run_dir>/hint.sock:
 *
 *	{"version": 1, "after": "add", "outcome": "done", "micros": 420}
 *
 * It says that something has changed, and how long that took. How many addresses are left is not in
 * it: the agent reads that in the store of the node, which no lost, late or forged hint can
 * falsify. A datagram and not a request, because hints must not take the places of ADDs that wait
 * for addresses.
 */
#ifndef RAILHEAD_IPAM_ALLOC_HINT_H
#define RAILHEAD_IPAM_ALLOC_HINT_H

#include "lib/base/ctx.h"

#define HINT_SOCKET  "hint.sock" /* in the folder of what lives as long as the boot */
#define HINT_VERSION 1
#define HINT_MAX     256 /* bytes of a datagram */

enum hint_after { HINT_ADD, HINT_DEL };
enum hint_outcome { HINT_DONE, HINT_FULL, HINT_FAILED };
#define HINT_OUTCOMES 3

struct hint {
	enum hint_after after;
	enum hint_outcome outcome;
	uint32_t micros; /* the time in the store of the node, with a wait for the agent */
};

/* hint_outcome_name - "done", "full" or "failed". */
const char *hint_outcome_name(enum hint_outcome outcome);

/* hint_write - *h as text; its length. Pure. */
size_t hint_write(const struct hint *h, char out[HINT_MAX]);

/*
 * hint_read - the hint in a datagram. ERR_DECODE, ERR_CONFIG, ERR_FIELD: it is none. ERR_VERSION: a
 * newer one. Members that are not known are ignored. Pure.
 */
int hint_read(const char *text, size_t len, struct hint *out, struct err *e) must_check;

/*
 * hint_send - send *h, or drop it: if no agent listens, if it has not read so many others, or for
 * any other reason. It never waits. Who listens is not checked: the folder is root's alone, and a
 * hint has nothing that must be hidden.
 */
void hint_send(const struct ctx *ctx, const struct hint *h);

#endif
