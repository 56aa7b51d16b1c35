/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fakes.h: three fake plugins for the tests of the engine: one makes its interface (macvlan on its
 * master), one moves it (the host's "dev"), one follows. For test programs only.
 *
 * Each hook adds its name to FAKE_TRACE, with what is on record at that moment:
 * "create[adding,device]". What a fake takes is a file, so that a killed ADD leaves it taken.
 */
#ifndef RAILHEAD_CNI_TESTING_FAKES_H
#define RAILHEAD_CNI_TESTING_FAKES_H

#include "cni/engine/attach.h"

#define FAKE_TRACE    "/mnt/trace"
#define FAKE_TAKEN    "/mnt/taken"    /* the device of the one that moves */
#define FAKE_FOLLOWED "/mnt/followed" /* what the one that follows changes */

extern const struct attach_type fake_maker, fake_mover, fake_follower;

struct fakes {
	/* What the test sets. */
	const struct cni_call *call;      /* the one at work, for restore */
	const char *fails_at, *killed_at; /* names of hooks; NULL: none */
	int states;                       /* of the one that follows: begun, and not cleared */
};
extern struct fakes fakes;

/* fake_has - whether a file is there. */
bool fake_has(const char *path);

#endif
