/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod_resources.h: which devices the kubelet gave a pod: the answer of its pod-resources API. Pure.
 */
#ifndef RAILHEAD_TOPO_KUBELET_POD_RESOURCES_H
#define RAILHEAD_TOPO_KUBELET_POD_RESOURCES_H

#include "lib/base/err.h"

#define POD_OWNER_LEN  320 /* a domain of 253 bytes, a slash, a name of 63 */
#define POD_DEVICE_LEN 128

/* A device of some container of the pod. */
struct pod_device {
	char owner[POD_OWNER_LEN]; /* a resource such as "nvidia.com/gpu", or a claim's driver */
	char id[POD_DEVICE_LEN];   /* as the device plugin or the driver calls it */
	bool claimed;              /* by a claim of dynamic resource allocation */
};

struct pod_devices {
	struct pod_device *device; /* owned; each once */
	size_t n;
};

void pod_devices_clear(struct pod_devices *d);
#define auto_pod_devices auto_clean(pod_devices_clear)

struct pod_name {
	const char *ns, *name;
};

/* A filter says whether a device counts. Its names may be longer than struct pod_device has room
 * for. */
typedef bool (*pod_device_filter)(const char *owner, const char *id, bool claimed);

struct pod_query {
	struct pod_name pod;
	pod_device_filter wanted;
};

/*
 * pod_resources_decode - the devices in an answer of List that the query asks for; the
 * others may have any number and any names. ERR_NOTFOUND: the answer does not have the pod;
 * ERR_AGAIN: it has two of this name, as when a pod of a StatefulSet was deleted by force;
 * ERR_CONFIG: the pod has more than 4096 such devices; ERR_IO: a name of one is too long, or the
 * answer cannot be decoded, or not within 64 MiB; ERR_NOMEM.
 */
int pod_resources_decode(const uint8_t *bytes, size_t len, const struct pod_query *query,
			 struct pod_devices *out, struct err *e) must_check;

/* A device that a device plugin gave to a container of some pod; the names are borrowed. -1: e is
 * set, and no further one is wanted. */
typedef int (*pod_resources_fn)(void *arg, const char *resource, const char *id, struct err *e);

/*
 * pod_resources_each - call fn for each device in an answer of List, those of claims excepted.
 * ERR_IO, ERR_NOMEM as above, or the error of fn.
 */
int pod_resources_each(const uint8_t *bytes, size_t len, pod_resources_fn fn, void *arg,
		       struct err *e) must_check;

#endif
