/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slots.h: the end of pods that had a slot of rails. A device plugin is not told of it. A pod has
 * ended if its network namespace is proved gone.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_SLOTS_H
#define RAILHEAD_RAILHEADD_DEVICES_SLOTS_H

#include "lib/base/ctx.h"

struct delegate_builtin;

/* slots_are_there - some pod may have a slot of rails. */
bool slots_are_there(const struct ctx *ctx);

/* slots_end - end the claims of such pods. bin: the folder of CNI plugins. For a child, prints a
 * struct err, and returns the exit status. */
int slots_end(const char *bin, const struct delegate_builtin *rails);

#endif
