/* SPDX-License-Identifier: Apache-2.0 */
/* worker.h: what the kinds of cases share. */
#ifndef CONFORMANCE_FAULTS_WORKER_H
#define CONFORMANCE_FAULTS_WORKER_H

#include "conformance/faults/trace.h"

/* Print every case there is, one a line, then ".". */
void plan_print(struct world *w);

/* ---- scenes: something around the call is wrong (scenes.c) ---- */

void scene_run(struct world *w, const struct fault *f, struct judgement *j);
/* NULL after the last; the i-th scene as "VERB PROGRAM CALL:WHAT". */
const char *scene_name(size_t i, enum verb *verb, enum target *target);

/* ---- races (race.c) ---- */

void race_run(struct world *w, const struct fault *f, struct judgement *j);
const char *race_name(size_t i, unsigned *rounds);

/* ---- actions while a call is stopped (action.c) ---- */

/* false: there is none of that name. */
bool action_find(struct world *w, const char *name, struct inject *in);
const char *action_name(size_t i, enum verb verb);
/* Wait for what an action has started; its own promises are judged. */
void action_end(struct world *w, struct text *why);

/* ---- the rest of a case (worker.c) ---- */

bool recover(struct world *w, const struct fault *f, bool attached, struct text *why);
bool is_clean(struct world *w, const char *when, struct text *why);
bool whole_cycle(struct world *w, enum target target, struct text *why);

#endif
