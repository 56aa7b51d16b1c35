/* SPDX-License-Identifier: Apache-2.0 */
/* allocate.h: what a container gets with its devices: Allocate, without the kubelet. */
#ifndef RAILHEAD_RAILHEADD_DEVICES_ALLOCATE_H
#define RAILHEAD_RAILHEADD_DEVICES_ALLOCATE_H

#include "railheadd/devices/resources.h"

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
 * milliseconds, unless another program holds locks of the kernel. A repeated call is fine. After a
 * failure, files that were written may stay. ERR_NOTFOUND: an id is not one of r->look, or its
 * device is gone. ERR_STATE: the resource needs a file of /dev that a device does not have. ERR_IO,
 * ERR_KERNEL.
 */
int resources_allocate(const struct ctx *ctx, const struct resource_request *r,
		       struct resource_allocation *out, struct err *e) must_check;
void resource_allocation_clear(struct resource_allocation *a);
#define auto_resource_allocation auto_clean(resource_allocation_clear)

/*
 * resources_publish - make our device-information and CDI files those of a look: call it after a
 * look that differs from the last one, and at start. l: after resource_devices_keep(), so that
 * files of devices that pods have stay. A device that cannot be read now keeps its files. ERR_IO,
 * ERR_KERNEL, ERR_FORBIDDEN; then some files may be of the earlier look. bin: the folder of CNI
 * plugins on the host, for slots of rails.
 * resources_published - there may be such files, perhaps of an agent before this one.
 */
int resources_publish(const struct ctx *ctx, const struct resource_set *s,
		      const struct resource_look *l, const char *bin, struct err *e) must_check;
bool resources_published(const struct ctx *ctx);

#endif
