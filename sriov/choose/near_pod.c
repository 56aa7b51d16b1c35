// SPDX-License-Identifier: Apache-2.0
/* near_pod.c: the GPUs of a pod of Kubernetes, which its kubelet knows. */
#include <string.h>

#include "lib/sys/site.h"
#include "sriov/choose/near.h"
#include "topo/kubelet/pod_gpus.h"

#define NEAR "near: \"gpu\""

static int refuse_unnamed(struct err *e)
{
	err_set(e, ERR_CONFIG, 0,
		NEAR
		": the GPUs of the pod are unknown: CNI_ARGS has neither GPUS nor K8S_POD_NAME, "
		"and the configuration has no args.cni.gpus");
	return err_hint(e, "give their PCI addresses in one of these, or in near itself");
}

static int copy_gpus(const struct pod_gpus *from, struct near_gpus *out, struct err *e)
{
	struct near_gpus g = { .source = "kubelet" };

	if (from->n > NEAR_GPUS_MAX) {
		err_set(e, ERR_CONFIG, 0, NEAR ": the pod has %zu GPUs, at most %d are allowed",
			from->n, NEAR_GPUS_MAX);
		return err_hint(e, "remove near: a pod with all GPUs of a node has all its rails");
	}
	for (size_t i = 0; i < from->n; i++)
		pci_format(from->gpu[i], g.gpu[g.n++]);
	*out = g;
	return 0;
}

int near_no_gpu(const struct cni_call *call, struct err *e)
{
	const struct cni_pod pod = cni_args_pod(call->env.args);

	err_set(e, ERR_CONFIG, 0, NEAR ": the kubelet gave the pod %s/%s no GPU", pod.ns, pod.name);
	return err_hint(e, "request one in the pod's resources, or remove near");
}

int near_pod_gpus(const struct cni_call *call, int64_t until, struct near_gpus *out, struct err *e)
{
	const struct cni_pod pod = cni_args_pod(call->env.args);
	auto_site struct site site = { .tree = NULL };
	struct pod_gpus gpus;

	if (!*pod.name)
		return refuse_unnamed(e);
	if (site_load(&call->ctx, &site, e))
		return -1;
	const struct kubelet_at kubelet = { .socket = site.pod_resources, .until = until };
	if (pod_gpus_ask(&call->ctx, &kubelet, (struct pod_name){ pod.ns, pod.name }, &gpus, e))
		return err_wrap(e, NEAR);
	return copy_gpus(&gpus, out, e);
}
