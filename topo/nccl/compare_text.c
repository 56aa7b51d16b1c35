// SPDX-License-Identifier: Apache-2.0
/* The sentence and the setting for each verdict and cause. */
#include "lib/base/text.h"
#include "topo/nccl/compare_priv.h"

#define NCCL_MAX_PORTS 32

static void compare_text_add_names(const struct topo_machine *m, const uint32_t *hca, size_t n,
				   const char *sep, struct text *to)
{
	for (size_t i = 0; i < n; i++)
		text_addf(to, "%s%s", i ? sep : "", m->hca[hca[i]].name);
}

static void channel_names(const struct compare_input *in, uint32_t gpu, struct text *to)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];
	char name[NCCL_NET_NAME_LEN];

	for (size_t i = 0; i < g->n_channels; i++)
		text_addf(to, "%s%s", i ? ", " : "",
			  nccl_net_name(in->m, &in->nccl->net[g->channel[i]], name));
}

/* ---- sentences ---- */

static void takes_instead(const struct compare_input *in, uint32_t gpu, const uint32_t *hca,
			  size_t n, struct text *to)
{
	text_addf(to, "NCCL takes ");
	channel_names(in, gpu, to);
	text_addf(to, " instead of ");
	compare_text_add_names(in->m, hca, n, ", ", to);
}

/* The GPU or a net that NCCL uses; of a fused one its first part decides, as in nccl_check_gdr().
 */
static bool lacks_gdr(const struct compare_input *in, uint32_t gpu)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	for (size_t i = 0; i < g->n_channels; i++) {
		if (in->m->hca[in->nccl->net[g->channel[i]].hca].gdr == TOPO_NO)
			return true;
	}
	return in->m->gpu[gpu].gdr == TOPO_NO;
}

static void say_gdr_off(const struct compare_input *in, uint32_t gpu, struct text *to)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	text_addf(to, "NCCL does not use GPUDirect RDMA: ");
	if (lacks_gdr(in, gpu))
		text_addf(to, in->m->source == TOPO_NCCL_XML || in->m->source == TOPO_RCCL_XML
				      ? "the file says that a device or its driver cannot"
				      : "the driver of the device does not offer it");
	else if (in->opts->gdr_level >= 0 && (int)g->type > in->opts->gdr_level)
		text_addf(to, "NCCL_NET_GDR_LEVEL allows no more than %s",
			  nccl_path_name((enum nccl_path_type)in->opts->gdr_level));
	else if (g->type >= NCCL_PHB)
		text_addf(to, "the path is %s, through the CPU", nccl_path_name(g->type));
	else
		text_addf(to, "the GPU is older than Ampere and has no NVLink");
}

static void explain_cause(const struct compare_input *in, uint32_t gpu, enum compare_cause cause,
			  struct text *to)
{
	const struct topo_gpu_choice *c = &in->choice->gpu[gpu];
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	switch (cause) {
	case COMPARE_FLAT_VM:
		text_addf(to, "which HCAs are near is not known: the machine shows neither "
			      "switches nor NUMA nodes. So all count as near, and NCCL does not "
			      "use GPUDirect RDMA");
		return;
	case COMPARE_VF_PATH:
		if (g->n_channels)
			takes_instead(in, gpu, c->share, c->n_share, to);
		else
			text_addf(to, "NCCL finds no HCA");
		text_addf(to, ": it looks for a VF's function at device 00 of its bus");
		return;
	case COMPARE_FASTER:
		takes_instead(in, gpu, c->nearest, c->n_nearest, to);
		text_addf(to, ": more bandwidth counts before distance%s",
			  g->gdr ? "" : ", and GPUDirect RDMA is off there");
		return;
	case COMPARE_ROLE:
		takes_instead(in, gpu, c->nearest, c->n_nearest, to);
		text_addf(to, ": it knows no storage and management networks");
		return;
	case COMPARE_GDR_OFF:
		if (compare_list_agrees(in, c->nearest, c->n_nearest, *g->channel)) {
			say_gdr_off(in, gpu, to);
			return;
		}
		takes_instead(in, gpu, c->nearest, c->n_nearest, to);
		text_addf(to, ": with ");
		compare_text_add_names(in->m, c->nearest, c->n_nearest, ", ", to);
		text_addf(to, " it does not use GPUDirect RDMA");
		return;
	case COMPARE_LONE_GPU:
		text_addf(to, "NCCL takes ");
		channel_names(in, gpu, to);
		text_addf(to, ": it does not know the other GPUs of the machine, whose HCAs are "
			      "among these");
		return;
	case COMPARE_TIE:
		takes_instead(in, gpu, c->share, c->n_share, to);
		text_addf(to, ", which are as near: it assigns equal ones in another order");
		return;
	case COMPARE_LOST:
		text_addf(to,
			  "NCCL finds no HCA: it makes one device of HCAs whose function it does "
			  "not find, or that are below different CPUs, and loses it");
		return;
	case COMPARE_PXN:
		text_addf(to, "no HCA of its own is near enough: NCCL reaches ");
		channel_names(in, gpu, to);
		text_addf(to, " through NVLink and the GPUs beside them (PXN)");
		return;
	case COMPARE_OTHER:
	case COMPARE_NO_CAUSE:
		takes_instead(in, gpu, c->nearest, c->n_nearest, to);
		return;
	}
}

/* ---- settings ---- */

static const struct topo_gpu_choice *own_share(const struct compare_input *in, uint32_t gpu)
{
	const struct topo_choice *from =
		in->node && !(in->scope && in->scope->hca) ? in->node : in->choice;

	return from->gpu[gpu].n_share ? &from->gpu[gpu] : &in->choice->gpu[gpu];
}

static void advise_setting(const struct compare_input *in, uint32_t gpu, enum compare_cause cause,
			   struct text *to)
{
	const struct topo_gpu_choice *c = own_share(in, gpu);

	switch (cause) {
	case COMPARE_FLAT_VM:
		text_addf(to, "NCCL_TOPO_FILE=<a file made of the host's tree>");
		return;
	case COMPARE_VF_PATH:
		text_addf(to, "NCCL_IB_MERGE_VFS=0");
		return;
	case COMPARE_GDR_OFF:
		if (!lacks_gdr(in, gpu) && in->nccl->gpu[gpu].type == NCCL_PHB)
			text_addf(to, "NCCL_NET_GDR_LEVEL=PHB");
		return;
	case COMPARE_FASTER:
	case COMPARE_ROLE:
	case COMPARE_LONE_GPU:
	case COMPARE_TIE:
	case COMPARE_OTHER:
		text_addf(to, "NCCL_IB_HCA==");
		compare_text_add_names(in->m, c->share, c->n_share, ",", to);
		return;
	case COMPARE_LOST:
		text_addf(to, "NCCL_NET_MERGE_LEVEL=LOC");
		return;
	case COMPARE_PXN: /* that is the best way */
	case COMPARE_NO_CAUSE:
		return;
	}
}

/* Hand over both texts; an empty one becomes NULL. */
static int finish_texts(struct text *text, struct text *setting, char **said, char **remedy,
			struct err *e)
{
	if (text->failed || setting->failed)
		return err_nomem(e);
	*said = TAKE_PTR(text->s);
	*remedy = TAKE_PTR(setting->s);
	return 0;
}

int compare_explain_gpu(const struct compare_input *in, uint32_t gpu, struct compare_gpu *d,
			struct err *e)
{
	auto_text struct text text = { 0 }, setting = { 0 };

	if (d->cause == COMPARE_NO_CAUSE)
		return 0;
	explain_cause(in, gpu, d->cause, &text);
	advise_setting(in, gpu, d->cause, &setting);
	return finish_texts(&text, &setting, &d->text, &d->setting, e);
}

/* ---- of all together ---- */

static bool compare_text_is_ours(const struct compare_input *in, uint32_t hca)
{
	for (uint32_t i = 0; i < in->nccl->n_gpus; i++) {
		const struct topo_gpu_choice *c = own_share(in, i);
		for (size_t k = 0; in->nccl->gpu[i].in && k < c->n_share; k++) {
			if (c->share[k] == hca)
				return true;
		}
	}
	return false;
}

static void all_ours(const struct compare_input *in, struct text *to)
{
	const char *sep = "NCCL_IB_HCA==";

	for (uint32_t h = 0; h < in->m->n_hcas; h++) {
		if (compare_text_is_ours(in, h)) {
			text_addf(to, "%s%s", sep, in->m->hca[h].name);
			sep = ",";
		}
	}
}

static unsigned int count_cause(const struct comparison *d, enum compare_cause cause)
{
	unsigned int n = 0;

	for (size_t i = 0; i < d->n_gpus; i++)
		n += d->gpu[i].cause == cause;
	return n;
}

static void say_all(const struct compare_input *in, const struct comparison *d, struct text *text,
		    struct text *setting)
{
	static const enum compare_cause own[] = { COMPARE_FASTER, COMPARE_ROLE, COMPARE_LONE_GPU,
						  COMPARE_OTHER };

	if (in->nccl->ranks_differ) {
		text_addf(text, "the ranks do not see the same NICs: each one fuses the HCAs whose "
				"function NCCL does not find with those of its own CPU");
		text_addf(setting, "NCCL_NET_MERGE_LEVEL=PORT");
		return;
	}
	if (count_cause(d, COMPARE_VF_PATH)) {
		text_addf(text, "NCCL looks for VFs elsewhere than where they are");
		text_addf(setting, "NCCL_IB_MERGE_VFS=0");
		return;
	}
	if (count_cause(d, COMPARE_FLAT_VM)) {
		text_addf(text, "which HCAs are near is not known: the machine shows neither "
				"switches nor NUMA nodes");
		text_addf(setting, "NCCL_TOPO_FILE=<a file made of the host's tree>");
		return;
	}
	if (count_cause(d, COMPARE_LOST)) {
		text_addf(text, "NCCL finds no HCA");
		text_addf(setting, "NCCL_NET_MERGE_LEVEL=LOC");
		return;
	}
	if (in->nccl->n_nets > NCCL_MAX_PORTS) {
		text_addf(text, "NCCL uses %d of %zu ports: which ones is not known",
			  NCCL_MAX_PORTS, in->nccl->n_nets);
		all_ours(in, setting);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (count_cause(d, own[i])) {
			text_addf(text, "NCCL takes HCAs that are not these GPUs' own");
			all_ours(in, setting);
			return;
		}
	}
}

int compare_explain(const struct compare_input *in, struct comparison *d, struct err *e)
{
	auto_text struct text text = { 0 }, setting = { 0 };

	say_all(in, d, &text, &setting);
	return finish_texts(&text, &setting, &d->text, &d->setting, e);
}
