/* SPDX-License-Identifier: Apache-2.0 */
/*
 * allocate.h: which devices of a resource a container gets, and what it gets with them. The calls
 * of the kubelet GetPreferredAllocation and Allocate, without the kubelet.
 */
#ifndef RAILHEAD_RAILHEADD_RESOURCES_ALLOCATE_H
#define RAILHEAD_RAILHEADD_RESOURCES_ALLOCATE_H

#include "railheadd/resources/resources.h"

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
 * than size. Pure.
 */
int resource_preferred(const struct resource_devices *d, const struct resource_preference *q,
		       const char **out, size_t *n, struct err *e) must_check;

struct resource_pair {
	char *name, *value;
};
struct resource_mount {
	char *container_path, *host_path;
	bool read_only;
};
struct resource_node {
	char *path;              /* on the host and in the container */
	const char *permissions; /* of "rwm"; static */
};

/* A ContainerAllocateResponse. Arrays and strings are owned, if not said otherwise. */
struct resource_allocation {
	struct resource_pair *env, *annotation;
	size_t n_env, n_annotations;
	struct resource_mount *mount;
	size_t n_mounts;
	struct resource_node *node; /* each path once */
	size_t n_nodes;
	char **cdi; /* "vendor/class=name", for cdi_devices */
	size_t n_cdi;
};

/* Request of Allocate, for one container. All members are borrowed. */
struct resource_request {
	const struct resource_set *set;
	size_t resource;                     /* its number in the set */
	const struct resource_devices *look; /* its devices as last seen */
	const char *const *id;
	size_t n;
};

/*
 * resources_allocate - fill *out, which the caller clears. Reads the files of /dev of each device
 * again, since numbers change when RDMA devices move. Writes device-information files, and CDI
 * files if the resource is so configured. The caller is in the host's network namespace. It takes
 * milliseconds, unless another program holds locks of the kernel. It may run in a child: see
 * resource_allocation_to_json(). A repeated call is fine. After a failure, files that were written
 * may stay. ERR_NOTFOUND: an id is not one of r->look, or its device is gone. ERR_STATE: the
 * resource needs a file of /dev that a device does not have. ERR_IO, ERR_KERNEL.
 */
int resources_allocate(const struct ctx *ctx, const struct resource_request *r,
		       struct resource_allocation *out, struct err *e) must_check;
void resource_allocation_clear(struct resource_allocation *a);
#define auto_resource_allocation auto_clean(resource_allocation_clear)

/* resource_allocation_to_json, _from_json - as those of a look. Both pure. */
struct json *resource_allocation_to_json(const struct resource_allocation *a);
int resource_allocation_from_json(const struct json *j, struct resource_allocation *out,
				  struct err *e) must_check;

/*
 * resources_publish - make our device-information and CDI files those of a look: call it after a
 * look that differs from the last one, and at start. l: after resource_devices_keep(), so that
 * files of devices that pods have stay. A device that cannot be read now keeps its files. May run
 * in a child. ERR_IO, ERR_KERNEL, ERR_FORBIDDEN; then some files may be of the earlier look.
 */
int resources_publish(const struct ctx *ctx, const struct resource_set *s,
		      const struct resource_look *l, struct err *e) must_check;

#endif
