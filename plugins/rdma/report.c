/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: the key "rdma" of the result: the device, and in mode shared the GIDs of the pod. */
#include "cni/protocol/result_rdma.h"
#include "plugins/rdma/pod.h"

/* NULL: no memory. */
static struct json *rdma_report_json(const struct rdma_pod *p)
{
	auto_json struct json *gids = json_new_array();
	const struct result_rdma r = {
		.mode = p->mode,
		.device = p->pod_name,
		.port = p->serving.port,
		.bus = p->serving.pci,
		.gids = p->n_gids ? gids : NULL,
		.chardevs = &p->chardevs,
	};

	if (!gids)
		return NULL;
	for (size_t i = 0; i < p->n_gids; i++) {
		if (gid_add_json(gids, &p->gid[i]))
			return NULL;
	}
	return result_rdma_json(&r);
}

int rdma_result(const struct attach *a, struct cni_result *r, struct err *e)
{
	const struct rdma_pod *p = rdma_pod(a);
	const struct cni_conf *c = &a->call->conf;
	auto_json struct json *tree = json_dup(c->prev_result);

	if (!tree || json_put(tree, RESULT_RDMA_KEY, rdma_report_json(p)))
		return err_nomem(e);
	if (cni_result_parse(tree, "prevResult", c->version, r, e))
		return -1;
	r->tree = TAKE_PTR(tree);
	return 0;
}
