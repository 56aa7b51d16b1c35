/* SPDX-License-Identifier: Apache-2.0 */
/* The HCA that each GPU should use, in the formats of vLLM and Mooncake. */
#include <stdio.h>
#include <string.h>

#include "topo/output/show_priv.h"

/* ---- vLLM ---- */

/* vLLM writes a name without "=", which NCCL takes for the beginning of names: mlx5_1 is also
 * mlx5_10. Then NCCL's own variable is left out, and where it cannot name the HCA. */
static bool is_ambiguous(const struct topo_view *v)
{
	for (size_t g = 0; g < v->m->n_gpus; g++) {
		uint32_t assigned = v->choice->gpu[g].assigned;
		if (!show_has_gpu(v, g) || assigned == TOPO_NONE)
			continue;
		const char *name = v->m->hca[assigned].name;
		if (show_why_unnamed(v->m, assigned))
			return true;
		for (uint32_t h = 0; h < v->m->n_hcas; h++) {
			if (h != assigned && !strncmp(v->m->hca[h].name, name, strlen(name)))
				return true;
		}
	}
	return false;
}

/*
 * VLLM_GPU_NIC_PCIE_MAPPING: GPU=HCA, PCI addresses, commas between;
 * VLLM_NIC_SELECTION_VARS: which variables vLLM then sets to the HCA's name and this suffix.
 */
int show_map(const struct topo_view *v, FILE *to, struct err *e)
{
	char gpu[PCI_STR_LEN], hca[PCI_STR_LEN];
	size_t n = 0;

	for (size_t g = 0; g < v->m->n_gpus; g++) {
		uint32_t assigned = v->choice->gpu[g].assigned;

		if (!show_has_gpu(v, g) || assigned == TOPO_NONE ||
		    !show_hca_bdf(v->m, assigned, hca))
			continue;
		fprintf(to, "%s%s=%s", n++ ? "," : "export VLLM_GPU_NIC_PCIE_MAPPING='",
			show_gpu_bdf(v->m, g, gpu), hca);
	}
	if (n)
		fprintf(to,
			"'\nexport VLLM_NIC_SELECTION_VARS="
			"'UCX_NET_DEVICES:1,NVSHMEM_HCA_LIST:1%s'\n",
			is_ambiguous(v) ? "" : ",NCCL_IB_HCA:1");
	else
		fputs("# no GPU has an HCA: nothing to map\n", to);
	return show_finish(to, e);
}

/* ---- Mooncake ---- */

/* The HCAs assigned to the GPU, then all other usable ones. */
static int show_map_add_entry(struct json *map, const struct topo_view *v, size_t g)
{
	const struct topo_gpu_choice *c = &v->choice->gpu[g];
	struct json *preferred = NULL, *others = NULL, *pair;
	char key[32];

	/* Mooncake uses CUDA's names also on AMD. */
	(void)snprintf(key, sizeof(key), "cuda:%d", v->m->gpu[g].index);
	pair = json_add_array(map, key);
	if (pair && !json_push(pair, json_new_array()) && !json_push(pair, json_new_array())) {
		preferred = json_at_mut(pair, 0);
		others = json_at_mut(pair, 1);
	}
	if (!preferred || !others)
		return -1;
	for (size_t i = 0; i < c->n_share; i++)
		if (json_push_str(preferred, v->m->hca[c->share[i]].name))
			return -1;
	for (uint32_t h = 0; h < v->m->n_hcas; h++)
		if (show_has_hca(v, h) && topo_usable(&v->m->hca[h]) &&
		    !has_u32(c->share, c->n_share, h) && json_push_str(others, v->m->hca[h].name))
			return -1;
	return 0;
}

struct json *show_map_json(const struct topo_view *v)
{
	auto_json struct json *map = json_new_object();

	for (size_t g = 0; map && g < v->m->n_gpus; g++)
		if (show_has_gpu(v, g) && !v->m->gpu[g].on_package && show_map_add_entry(map, v, g))
			return NULL;
	return TAKE_PTR(map);
}
