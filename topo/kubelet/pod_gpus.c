/* SPDX-License-Identifier: Apache-2.0 */
/* pod_gpus.c: which PCI functions the devices of a pod are. */
#include "topo/kubelet/pod_gpus.h"

#include "topo/kubelet/gpu_find.h"

/* ---- devices to GPUs ---- */

static int pod_gpus_add_gpu(struct pod_gpus *g, struct pci_addr addr, struct err *e)
{
	for (size_t i = 0; i < g->n; i++)
		if (pci_same(g->gpu[i], addr))
			return 0;
	if (g->n == POD_GPUS_MAX)
		return err_set(e, ERR_CONFIG, 0, "the pod has more than %d GPUs", POD_GPUS_MAX);
	g->gpu[g->n++] = addr;
	return 0;
}

static int refuse_device(const struct pod_device *d, struct err *e)
{
	if (e->code != ERR_NOTFOUND)
		return -1;
	e->code = ERR_CONFIG;
	err_wrap(e, "%s: the GPU of the pod's device \"%s\" is unknown", d->owner, d->id);
	return err_hint(e, "name the GPUs in args.cni.gpus, or remove near");
}

/* No file has the serial number of a Gaudi. But a pod that has all of them has each one. */
static int add_gaudis(const struct ctx *ctx, const struct pod_devices *devices, struct pod_gpus *g,
		      struct err *e)
{
	const struct pod_device *first = NULL;
	struct pci_addr all[POD_GPUS_MAX];
	size_t n = 0;

	for (size_t i = devices->n; i-- > 0;) {
		if (gpu_id_of(&devices->device[i]).kind != GPU_ID_GAUDI)
			continue;
		first = &devices->device[i];
		n++;
	}
	ssize_t there = n ? gpu_find_gaudis(ctx, all, POD_GPUS_MAX, e) : 0;
	if (there < 0)
		return -1;
	if ((size_t)there == n && n <= POD_GPUS_MAX) {
		for (size_t i = 0; i < n; i++)
			if (pod_gpus_add_gpu(g, all[i], e))
				return -1;
		return 0;
	}
	err_set(e, ERR_NOTFOUND, 0,
		"no file shows its serial number, and the pod has %zu of %zd Gaudis", n, there);
	return refuse_device(first, e);
}

int pod_gpus_of(const struct ctx *ctx, const struct pod_devices *devices, struct pod_gpus *out,
		struct err *e)
{
	auto_gpu_files struct gpu_files files = { .ctx = ctx };
	struct pod_gpus g = { .n = 0 };
	struct pci_addr addr;

	for (size_t i = 0; i < devices->n; i++) {
		const struct pod_device *d = &devices->device[i];
		const struct gpu_id id = gpu_id_of(d);
		if (id.kind == GPU_ID_NONE || id.kind == GPU_ID_GAUDI)
			continue;
		if (gpu_find(&files, &id, &addr, e))
			return refuse_device(d, e);
		if (pod_gpus_add_gpu(&g, addr, e))
			return -1;
	}
	if (add_gaudis(ctx, devices, &g, e))
		return -1;
	*out = g;
	return 0;
}

/* ---- the call ---- */

int pod_devices_ask(const struct kubelet_at *kubelet, const struct pod_query *query,
		    struct pod_devices *out, struct err *e)
{
	auto_grpc_answer struct grpc_answer a = { .len = 0 };

	if (pod_list_ask(kubelet, &a, e))
		return err_hint(e, "is the kubelet running, and does it have this socket? "
				   "podResources in railhead.json names another one");
	if (pod_resources_decode(a.message, a.len, query, out, e) == 0)
		return 0;
	if (e->code == ERR_NOTFOUND)
		e->code = ERR_AGAIN;
	return err_wrap(e, "%s", kubelet->socket);
}

int pod_gpus_ask(const struct ctx *ctx, const struct kubelet_at *kubelet, struct pod_name pod,
		 struct pod_gpus *out, struct err *e)
{
	const struct pod_query query = { .pod = pod, .wanted = gpu_id_is_gpu };
	auto_pod_devices struct pod_devices devices = { .n = 0 };

	return pod_devices_ask(kubelet, &query, &devices, e) || pod_gpus_of(ctx, &devices, out, e)
		       ? -1
		       : 0;
}
