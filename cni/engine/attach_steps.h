/* SPDX-License-Identifier: Apache-2.0 */
/* attach_steps.h: steps of ADD that concern a master on demand (cni/uplink): attach_demand.c. */
#ifndef RAILHEAD_CNI_ENGINE_ATTACH_STEPS_H
#define RAILHEAD_CNI_ENGINE_ATTACH_STEPS_H

#include "lib/base/err.h"

struct attach; /* of attach.h */

/* attach_check_demand - the configuration of it; success if it is not on demand. Pure. */
int attach_check_demand(const struct attach *a, struct err *e) must_check;

/* attach_find_on_demand - fill a->master. ADD and STATUS: as it is, or as it would be. CHECK: it is
 * there. */
int attach_find_on_demand(struct attach *a, struct err *e) must_check;

/*
 * attach_take_master - for ADD, behind the first record; a master that is not on demand is left
 * alone. *changed is set if a->master has another number than before. attach_give_masters - the
 * inverse for the undo stack, of the whole attachment: arg is its struct attach.
 */
int attach_take_master(struct attach *a, bool *changed, struct err *e) must_check;
int attach_give_masters(void *arg, struct err *e);

/*
 * attach_explain_master - why the kernel refused an interface on the master: ERR_AGAIN if that is
 * one on demand which ends at this moment. Else e stays.
 */
void attach_explain_master(const struct attach *a, struct err *e);

#endif
