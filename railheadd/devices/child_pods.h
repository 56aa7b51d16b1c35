/* SPDX-License-Identifier: Apache-2.0 */
/* child_pods.h: the devices that pods have, as the kubelet lists them. For the child of a look. */
#ifndef RAILHEAD_RAILHEADD_DEVICES_CHILD_PODS_H
#define RAILHEAD_RAILHEADD_DEVICES_CHILD_PODS_H

#include "railheadd/devices/resources.h"

/*
 * child_pods_add - add "given" to answer: a list of ids for each resource of set, also of those
 * that the agent before this one gave. If the kubelet cannot be asked, add "unlisted", which says
 * why: the look is good all the same. folder: of the sockets of device plugins. -1: no memory.
 */
int child_pods_add(const struct ctx *ctx, const struct resource_set *set, const char *folder,
		   struct json *answer) must_check;

#endif
