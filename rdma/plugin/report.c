/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: the key "rdma" of the result: the device, and in mode shared the GIDs of the pod. */
#include "cni/protocol/result_rdma.h"
#include "rdma/plugin/pod.h"

static int add_gid(struct json *list, const struct gid_entry *g)
{
	struct json *x = json_push_object(list);
	char gid[GID_STR_LEN], ip[IP_STR_LEN];

	return !x || json_add_int(x, "index", g->index) ||
			       json_add_str(x, "gid", gid_format(&g->gid, gid)) ||
			       json_add_str(x, "address", ip_format(gid_to_ip(&g->gid), ip)) ||
			       json_add_str(x, "type", gid_type_name(g->type))
		       ? -1
		       : 0;
}

/* NULL: no memory. */
static struct json *report_json(const struct rdma_pod *p)
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
		if (add_gid(gids, &p->gid[i]))
			return NULL;
	}
	return result_rdma_json(&r);
}

int rdma_result(const struct attach *a, struct cni_result *r, struct err *e)
{
	const struct rdma_pod *p = rdma_pod(a);
	const struct cni_conf *c = &a->call->conf;
	auto_json struct json *tree = json_dup(c->prev_result);

	if (!tree || json_put(tree, RESULT_RDMA_KEY, report_json(p)))
		return err_nomem(e);
	if (cni_result_parse(tree, "prevResult", c->version, r, e))
		return -1;
	r->tree = TAKE_PTR(tree);
	return 0;
}
