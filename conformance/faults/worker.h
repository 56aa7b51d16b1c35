/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h: what the kinds of cases share. */
#ifndef CONFORMANCE_FAULTS_WORKER_H
#define CONFORMANCE_FAULTS_WORKER_H

#include "conformance/faults/trace.h"

/* Print every case there is, one a line, then ".". */
void plan_print(struct world *w);

/* ---- scenes: something around the call is wrong (scenes.c) ---- */

/* scene_run - run the scene that the fault names, and judge what it left. */
void scene_run(struct world *w, const struct fault *f, struct judgement *j);
/* NULL after the last; the i-th scene as "VERB PROGRAM CALL:WHAT". */
const char *scene_name(size_t i, enum cni_command *cmd, enum target *target);

/* ---- races (race.c) ---- */

/* race_run - start many processes at the same time, and judge what they left. */
void race_run(struct world *w, const struct fault *f, struct judgement *j);
/* race_name - the i-th race and its number of rounds; NULL after the last. */
const char *race_name(size_t i, unsigned *rounds);

/* ---- actions while a call is stopped (action.c) ---- */

/* false: there is none of that name. */
bool action_find(struct world *w, const char *name, struct inject *in);
const char *action_name(size_t i, enum cni_command cmd);
/* Wait for what an action has started; its own promises are judged. */
void action_end(struct world *w, struct text *why);

/* ---- the rest of a case (worker.c) ---- */

/* recover - do what a runtime does after the fault. attached: the call succeeded. Returns false,
 * and appends the reasons to why, if a call of the recovery failed. */
bool recover(struct world *w, const struct fault *f, bool attached, struct text *why);
/* is_clean - is the state as before the case? `when` begins each line of why. */
bool is_clean(struct world *w, const char *when, struct text *why);
/* whole_cycle - ADD, CHECK and DEL must succeed and leave nothing. */
bool whole_cycle(struct world *w, enum target target, struct text *why);

#endif
