/* SPDX-License-Identifier: Apache-2.0 */
/* assign.h: the devices of each resource, from the functions of the host. Pure. */
#ifndef RAILHEAD_RAILHEADD_DEVICES_ASSIGN_H
#define RAILHEAD_RAILHEADD_DEVICES_ASSIGN_H

#include "railheadd/devices/function_priv.h"

/* function_place - set bridge, gpu_distance and link_up of f from a machine. */
void function_place(struct function *f, const struct topo_machine *m);

/* functions_assign - the devices of each resource of s. A function is a device of the first
 * resource that selects it; shared resources leave it to others, too. */
int functions_assign(const struct functions *all, const struct resource_set *s,
		     struct resource_look *out, struct err *e) must_check;

/* function_has_userspace_driver - such a driver gives a function no interface. */
bool function_has_userspace_driver(const struct function *f);

/* function_health - set healthy, why and busy of d, a device of r that is f. */
void function_health(const struct resource_conf *r, const struct function *f,
		     struct resource_device *d);

/* shared_health - the same of a copy of r, which has the functions f[0] to f[n - 1]. */
void shared_health(const struct resource_conf *r, const struct functions *all,
		   const struct function *const *f, size_t n, struct resource_device *d);

#endif
