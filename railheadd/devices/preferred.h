/* SPDX-License-Identifier: Apache-2.0 */
/* preferred.h: which available devices a container should get: GetPreferredAllocation. Pure. */
#ifndef RAILHEAD_RAILHEADD_DEVICES_PREFERRED_H
#define RAILHEAD_RAILHEADD_DEVICES_PREFERRED_H

#include "railheadd/devices/resources.h"

/* Request of GetPreferredAllocation, for one container. All members are borrowed. */
struct resource_preference {
	const char *const *available;
	size_t n_available; /* must is part of available */
	const char *const *must;
	size_t n_must;
	size_t size; /* how many to choose */
};

/*
 * resource_preferred - choose q->size of the available ids, or all if there are fewer. The ids of
 * must come first. Each next id has the PF of which the fewest are chosen, then the switch. Among
 * equals the nearest to a GPU is chosen, then a PF of which the fewest are in use, then the lowest
 * address. Ids that d lacks come last. The result does not depend on the order of ids in q. out has
 * room for q->size pointers, which point into q. *n is the number of them. ERR_FIELD: must is more
 * than size.
 */
int resource_preferred(const struct resource_devices *d, const struct resource_preference *q,
		       const char **out, size_t *n, struct err *e) must_check;

#endif
