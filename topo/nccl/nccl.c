// SPDX-License-Identifier: Apache-2.0
/* The prediction: runs the steps of ncclTopoGetSystem and ncclTopoComputePaths, and then records
 * local nets, channels and paths of each GPU. */
#include <string.h>

#include "topo/nccl/nccl.h"
#include "topo/nccl/rccl.h"

const char *nccl_path_name(enum nccl_path_type p)
{
	static const char *const names[] = {
		[NCCL_LOC] = "LOC", [NCCL_NVL] = "NVL", [NCCL_NVB] = "NVB", [NCCL_C2C] = "C2C",
		[NCCL_PIX] = "PIX", [NCCL_PXB] = "PXB", [NCCL_P2C] = "P2C", [NCCL_PXN] = "PXN",
		[NCCL_PHB] = "PHB", [NCCL_SYS] = "SYS", [NCCL_NET] = "NET", [NCCL_DIS] = "DIS",
	};

	return names[p];
}

char *nccl_net_name(const struct topo_machine *m, const struct nccl_net *n,
		    char out[NCCL_NET_NAME_LEN])
{
	char *end = out;

	for (uint32_t i = 0; i < nccl_net_parts(n); i++) {
		struct nccl_hca_port part = nccl_net_part(n, i);
		end = stpcpy(stpcpy(end, i ? "+" : ""), m->hca[part.hca].name);
		end = stpcpy(end, part.direct ? "_dma" : "");
	}
	return out;
}

static int prediction_alloc(const struct topo_machine *m, const struct nccl_xml *v,
			    struct nccl_prediction *a, struct err *e)
{
	a->net = calloc(v->n_nets + 1, sizeof(*a->net));
	a->gpu = calloc(m->n_gpus + 1, sizeof(*a->gpu));
	if (!a->net || !a->gpu)
		return err_nomem(e);
	for (uint32_t i = 0; i < v->n_nets; i++)
		a->net[i] = v->net[i].net;
	a->n_nets = v->n_nets;
	a->n_gpus = m->n_gpus;
	for (size_t i = 0; i < m->n_gpus; i++)
		a->gpu[i].type = NCCL_DIS;
	return 0;
}

static void fill_paths(const struct nccl_paths *s, uint32_t gpu, struct nccl_net_path *path)
{
	for (uint32_t n = 0; n < s->n_nets; n++) {
		struct nccl_path h = nccl_row(s->gpu_net, gpu, s->n_nets)[n];
		uint32_t via = s->via[(size_t)gpu * s->n_nets + n];
		path[n] = (struct nccl_net_path){
			.type = h.type,
			.bw = h.bw,
			.hops = h.hops,
			.gdr_read = nccl_check_gdr(s, gpu, n, true),
			.gdr_write = nccl_check_gdr(s, gpu, n, false),
			.via = via == TOPO_NONE ? TOPO_NONE : s->v->gpu[via],
		};
	}
}

static int fill_gpu(struct nccl_paths *s, uint32_t gpu, struct nccl_gpu *out, struct err *e)
{
	const struct nccl_local *l = nccl_get_local(s, gpu);
	uint32_t channels = nccl_nets_per_gpu(s, gpu);

	out->in = true;
	out->local = calloc(l->n + 1, sizeof(*out->local));
	out->channel = calloc(channels + 1, sizeof(*out->channel));
	out->path = calloc(s->n_nets + 1, sizeof(*out->path));
	if (!out->local || !out->channel || !out->path)
		return err_nomem(e);
	out->type = l->best.type;
	out->bw = l->best.bw;
	fill_paths(s, gpu, out->path);
	for (; out->n_local < l->n; out->n_local++)
		out->local[out->n_local] = l->net[out->n_local];
	out->gdr = out->gdr_write = channels > 0;
	for (; out->n_channels < channels; out->n_channels++) {
		uint32_t n = nccl_get_local_net(s, gpu, (uint32_t)out->n_channels);
		out->channel[out->n_channels] = n;
		out->gdr_write = out->gdr_write && out->path[n].gdr_write;
		out->gdr = out->gdr && out->path[n].gdr_read && out->path[n].gdr_write;
	}
	return 0;
}

/* ncclTopoGetXmlFromGpu: NVML's number of a GPU counts only if the job's file has none. A container
 * with some of the GPUs numbers them from 0, in their order. */
static void renumber_gpus(struct nccl_paths *s)
{
	const struct topo_machine *m = s->m;

	if (s->o->own_file && !nccl_is_tree(m) && !m->skeleton)
		return;
	for (uint32_t i = 0; i < s->n_gpus; i++) {
		int before = 0;
		for (uint32_t k = 0; k < s->n_gpus; k++)
			before += m->gpu[s->v->gpu[k]].index < m->gpu[s->v->gpu[i]].index;
		s->dev[i] = before;
	}
}

int nccl_predict(const struct topo_machine *m, const struct topo_scope *scope,
		 const struct nccl_opts *o, struct nccl_prediction *out, struct err *e)
{
	auto_nccl_xml struct nccl_xml v = { 0 };
	auto_nccl_paths struct nccl_paths s = { 0 };
	auto_nccl_prediction struct nccl_prediction a = { 0 };

	if (nccl_xml_make(m, scope, o, &v, e) || nccl_paths_make(m, &v, o, &s, e) ||
	    prediction_alloc(m, &v, &a, e))
		return -1;
	a.ranks_differ = v.ranks_differ;
	a.may_have_model = o->rccl && rccl_may_have_model(m, &v, o);
	if (scope && scope->gpu)
		renumber_gpus(&s);
	nccl_compute_paths(&s);
	for (uint32_t i = 0; i < s.n_gpus; i++) {
		if (fill_gpu(&s, i, &a.gpu[v.gpu[i]], e))
			return -1;
	}
	*out = a;
	a = (struct nccl_prediction){ 0 };
	return 0;
}

bool nccl_is_slower(const struct nccl_gpu *g, uint32_t net)
{
	for (size_t i = 0; i < g->n_local; i++)
		if (g->local[i] == net)
			return false;
	return g->n_local > 0 && g->path[net].type <= g->type;
}

bool nccl_is_uncertain(const struct nccl_prediction *a, size_t gpu)
{
	const struct nccl_gpu *g = &a->gpu[gpu];

	return g->n_channels && (a->ranks_differ || (!g->gdr && g->n_channels < a->n_nets));
}

void nccl_prediction_clear(struct nccl_prediction *a)
{
	for (size_t i = 0; a->gpu && i < a->n_gpus; i++) {
		free(a->gpu[i].local);
		free(a->gpu[i].channel);
		free(a->gpu[i].path);
	}
	free(a->gpu);
	free(a->net);
	*a = (struct nccl_prediction){ 0 };
}
