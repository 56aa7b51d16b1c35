/* SPDX-License-Identifier: Apache-2.0 */
/*
 * assign_health.c: whether a device can be given to a pod. A value that is not known makes nothing
 * unhealthy, and neither does a pod of railhead that has the device.
 */
#include <stdio.h>
#include <string.h>

#include "railheadd/devices/assign.h"

/* Drivers of user space give a VF no interface, and need none of its PF. */
bool function_has_userspace_driver(const struct function *f)
{
	struct vf_place p = { .vf = "" };

	memcpy(p.driver, f->driver, sizeof(p.driver));
	return vf_has_userspace_driver(&p);
}

static bool port_is_down(const struct resource_conf *r, const struct function *f)
{
	return r->link_matters && f->link_up == TOPO_NO;
}

void function_health(const struct resource_conf *r, const struct function *f,
		     struct resource_device *d)
{
	char *why = d->why;

	*why = '\0';
	d->busy = false;
	if (!*f->driver)
		(void)snprintf(why, RESOURCE_WHY_LEN, "no driver is bound to it");
	else if (*f->pf && !*f->pf_netdev && !function_has_userspace_driver(f))
		(void)snprintf(why, RESOURCE_WHY_LEN, "its PF %s has no interface", f->pf);
	else if (port_is_down(r, f))
		(void)snprintf(why, RESOURCE_WHY_LEN, "the port %s is down", f->port);
	else if (f->use == FUNCTION_IN_USE) {
		d->busy = true;
		(void)snprintf(why, RESOURCE_WHY_LEN, "it %.180s", f->use_why);
	}
	d->healthy = !*why;
	d->attached = f->use == FUNCTION_IN_POD;
}

void shared_health(const struct resource_conf *r, const struct functions *all,
		   const struct function *const *f, size_t n, struct resource_device *d)
{
	size_t down = 0;

	for (size_t i = 0; i < n; i++)
		down += port_is_down(r, f[i]);
	d->why[0] = '\0';
	if (all->exclusive)
		(void)snprintf(d->why, sizeof(d->why),
			       "RDMA is in mode exclusive, so pods cannot share it: "
			       "rdma system set netns shared");
	else if (n == 1 && down == 1)
		(void)snprintf(d->why, sizeof(d->why), "the port %s is down", f[0]->port);
	else if (n && down == n)
		(void)snprintf(d->why, sizeof(d->why), "all of its %zu ports are down", n);
	d->healthy = !*d->why;
}
