// SPDX-License-Identifier: Apache-2.0
/* near_pod.c: the GPUs of a pod of Kubernetes, which its kubelet knows. */
#include "lib/sys/site.h"
#include "sriov/choose/near.h"
#include "topo/kubelet/pod_gpus.h"

#define GPU "%s: \"gpu\"" /* key and value */

static int refuse_unnamed(const char *key, struct err *e)
{
	err_set(e, ERR_CONFIG, 0,
		GPU ": the GPUs of the pod are unknown: CNI_ARGS has neither GPUS nor "
		    "K8S_POD_NAME, and the configuration has no args.cni.gpus",
		key);
	return err_hint(
		e, "give their PCI addresses in one of these, or write another value for %s", key);
}

static int copy_gpus(const struct pod_gpus *from, const char *key, struct near_gpus *out,
		     struct err *e)
{
	struct near_gpus g = { .source = "kubelet" };

	if (from->n > NEAR_GPUS_MAX) {
		err_set(e, ERR_CONFIG, 0, GPU ": the pod has %zu GPUs, at most %d are allowed", key,
			from->n, NEAR_GPUS_MAX);
		return err_hint(e, "remove %s: a pod with all GPUs of a node has all its rails",
				key);
	}
	for (size_t i = 0; i < from->n; i++)
		pci_format(from->gpu[i], g.gpu[g.n++]);
	*out = g;
	return 0;
}

int near_no_gpu(const struct cni_call *call, const char *key, struct err *e)
{
	const struct cni_pod pod = cni_args_pod(call->env.args);

	err_set(e, ERR_CONFIG, 0, GPU ": the kubelet gave the pod %s/%s no GPU", key, pod.ns,
		pod.name);
	return err_hint(e, "request one in the pod's resources, or remove %s", key);
}

int near_pod_gpus(const struct cni_call *call, const char *key, int64_t until,
		  struct near_gpus *out, struct err *e)
{
	const struct cni_pod pod = cni_args_pod(call->env.args);
	auto_site struct site site = { .tree = NULL };
	struct pod_gpus gpus;

	if (!*pod.name)
		return refuse_unnamed(key, e);
	if (site_load(&call->ctx, &site, e))
		return -1;
	const struct kubelet_at kubelet = { .socket = site.pod_resources, .until = until };
	if (pod_gpus_ask(&call->ctx, &kubelet, (struct pod_name){ pod.ns, pod.name }, &gpus, e))
		return err_wrap(e, GPU, key);
	return copy_gpus(&gpus, key, out, e);
}
