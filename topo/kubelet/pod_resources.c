/* SPDX-License-Identifier: Apache-2.0 */
/* pod_resources.c: finds one pod in the answer of List, and copies what it has. */
#include "topo/kubelet/pod_resources.h"

#include <stdio.h>
#include <string.h>
#include <topo/kubelet/pod_resources.pb-c.h>

#include "lib/base/array.h"
#include "lib/grpc/proto.h"

/* Four times the largest answer. An answer of empty messages would need far more. */
#define DECODE_MAX  ((size_t)64 << 20)
#define DEVICES_MAX 4096

typedef Kubelet__ListPodResourcesResponse list_response;

void pod_devices_clear(struct pod_devices *d)
{
	free(d->device);
	*d = (struct pod_devices){ .n = 0 };
}

static bool has_device(const struct pod_devices *d, const struct pod_device *x)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct pod_device *y = &d->device[i];
		if (y->claimed == x->claimed && !strcmp(y->owner, x->owner) &&
		    !strcmp(y->id, x->id))
			return true;
	}
	return false;
}

struct collection {
	struct pod_devices d; /* owned */
	pod_device_filter wanted;
};

/* Containers can share the device of a claim. */
static int pod_resources_add_device(struct collection *c, const char *owner, const char *id,
				    bool claimed, struct err *e)
{
	const struct array_kind kind = { sizeof(*c->d.device), DEVICES_MAX,
					 "GPU devices of one pod", ERR_CONFIG };
	struct pod_devices *d = &c->d;
	struct pod_device x = { .claimed = claimed };

	if (!c->wanted(owner, id, claimed))
		return 0;
	if (strlen(owner) >= sizeof(x.owner) || strlen(id) >= sizeof(x.id))
		return err_set(e, ERR_IO, 0,
			       "%.64s: the device \"%.64s\" has a longer name than expected", owner,
			       id);
	(void)snprintf(x.owner, sizeof(x.owner), "%s", owner);
	(void)snprintf(x.id, sizeof(x.id), "%s", id);
	if (has_device(d, &x))
		return 0;
	if (array_grow(&d->device, d->n, 1, kind, e))
		return -1;
	d->device[d->n++] = x;
	return 0;
}

static int add_container(struct collection *to, const Kubelet__ContainerResources *c, struct err *e)
{
	for (size_t i = 0; i < c->n_devices; i++) {
		const Kubelet__ContainerDevices *of = c->devices[i];
		for (size_t k = 0; k < of->n_device_ids; k++)
			if (pod_resources_add_device(to, of->resource_name, of->device_ids[k],
						     false, e))
				return -1;
	}
	for (size_t i = 0; i < c->n_dynamic_resources; i++) {
		const Kubelet__DynamicResource *claim = c->dynamic_resources[i];
		for (size_t k = 0; k < claim->n_claim_resources; k++) {
			const Kubelet__ClaimResource *x = claim->claim_resources[k];
			if (pod_resources_add_device(to, x->driver_name, x->device_name, true, e))
				return -1;
		}
	}
	return 0;
}

/* NULL: *e says why. */
static const Kubelet__PodResources *kubelet_find_pod(const list_response *all, struct pod_name pod,
						     struct err *e)
{
	const Kubelet__PodResources *found = NULL;

	for (size_t i = 0; i < all->n_pod_resources; i++) {
		const Kubelet__PodResources *p = all->pod_resources[i];
		if (strcmp(p->name, pod.name) != 0 || strcmp(p->namespace_, pod.ns) != 0)
			continue;
		if (found) {
			err_set(e, ERR_AGAIN, 0,
				"the kubelet lists two pods %s/%s: an older one has not ended",
				pod.ns, pod.name);
			return NULL;
		}
		found = p;
	}
	if (!found)
		err_set(e, ERR_NOTFOUND, 0, "the kubelet does not list the pod %s/%s", pod.ns,
			pod.name);
	return found;
}

static int copy_pod(const list_response *all, struct pod_name pod, struct collection *to,
		    struct err *e)
{
	const Kubelet__PodResources *p = kubelet_find_pod(all, pod, e);

	if (!p)
		return -1;
	for (size_t i = 0; i < p->n_containers; i++)
		if (add_container(to, p->containers[i], e))
			return -1;
	return 0;
}

/* An answer of List; NULL: e says why. */
static list_response *unpack(const uint8_t *bytes, size_t len, struct err *e)
{
	const struct proto_source from = { "the list of pods", bytes, len, DECODE_MAX };
	list_response *all =
		proto_unpack(&kubelet__list_pod_resources_response__descriptor, &from, e);

	if (!all && e->code == ERR_DECODE)
		e->code = ERR_IO;
	return all;
}

int pod_resources_decode(const uint8_t *bytes, size_t len, const struct pod_query *query,
			 struct pod_devices *out, struct err *e)
{
	struct collection to = { .wanted = query->wanted };
	list_response *all = unpack(bytes, len, e);

	if (!all)
		return -1;
	int rc = copy_pod(all, query->pod, &to, e);
	proto_free(all);
	if (rc)
		pod_devices_clear(&to.d);
	else
		*out = to.d;
	return rc;
}

static int each_of_pod(const Kubelet__PodResources *p, pod_resources_fn fn, void *arg,
		       struct err *e)
{
	for (size_t i = 0; i < p->n_containers; i++) {
		const Kubelet__ContainerResources *c = p->containers[i];

		for (size_t k = 0; k < c->n_devices; k++) {
			const Kubelet__ContainerDevices *d = c->devices[k];

			for (size_t m = 0; m < d->n_device_ids; m++) {
				if (fn(arg, d->resource_name, d->device_ids[m], e))
					return -1;
			}
		}
	}
	return 0;
}

int pod_resources_each(const uint8_t *bytes, size_t len, pod_resources_fn fn, void *arg,
		       struct err *e)
{
	list_response *all = unpack(bytes, len, e);
	int rc = all ? 0 : -1;

	for (size_t i = 0; !rc && i < all->n_pod_resources; i++)
		rc = each_of_pod(all->pod_resources[i], fn, arg, e);
	proto_free(all);
	return rc;
}
