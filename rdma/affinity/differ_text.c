// SPDX-License-Identifier: Apache-2.0
/* Verdicts in words, and the settings that mend them. */
#include <stdio.h>
#include <string.h>

#include "rdma/affinity/differ_priv.h"

#define NCCL_MAX_PORTS 32

/* ---- text that grows ---- */

struct words {
	FILE *to;
	char *text;
	size_t size;
};

static int words_open(struct words *w, struct err *e)
{
	w->to = open_memstream(&w->text, &w->size);
	return w->to ? 0 : err_nomem(e);
}

static int words_done(struct words *w, char **out, struct err *e)
{
	bool bad = fflush(w->to) || ferror(w->to);

	bad = fclose(w->to) || bad;
	w->to = NULL;
	if (bad)
		return err_nomem(e);
	*out = TAKE_PTR(w->text);
	return 0;
}

static void words_clear(struct words *w)
{
	if (w->to)
		(void)fclose(w->to);
	free(w->text);
}
#define auto_words auto_clean(words_clear)

static void names(const struct aff_machine *m, const uint32_t *hca, size_t n, const char *sep,
		  FILE *to)
{
	for (size_t i = 0; i < n; i++)
		(void)fprintf(to, "%s%s", i ? sep : "", m->hca[hca[i]].name);
}

static void channel_names(const struct differ_in *in, uint32_t gpu, FILE *to)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	for (size_t i = 0; i < g->n_channels; i++)
		(void)fprintf(to, "%s%s", i ? ", " : "",
			      in->m->hca[in->nccl->net[g->channel[i]].hca].name);
}

/* ---- sentences ---- */

static void takes_instead(const struct differ_in *in, uint32_t gpu, const uint32_t *hca, size_t n,
			  FILE *to)
{
	(void)fputs("NCCL takes ", to);
	channel_names(in, gpu, to);
	(void)fputs(" instead of ", to);
	names(in->m, hca, n, ", ", to);
}

/* The nets that NCCL takes, and what stands against GPUDirect RDMA with them. */
static bool told_unable(const struct differ_in *in, uint32_t gpu)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	for (size_t i = 0; i < g->n_channels; i++) {
		if (in->m->hca[in->nccl->net[g->channel[i]].hca].gdr == AFF_NO)
			return true;
	}
	return in->m->gpu[gpu].gdr == AFF_NO;
}

static void say_gdr_off(const struct differ_in *in, uint32_t gpu, FILE *to)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	(void)fputs("NCCL does not use GPUDirect RDMA: ", to);
	if (told_unable(in, gpu))
		(void)fputs("the file says that a device or its driver cannot", to);
	else if (g->type >= NCCL_PHB)
		(void)fprintf(to, "the path is %s, through the CPU", nccl_path_name(g->type));
	else
		(void)fputs("the GPU is older than Ampere and has no NVLink", to);
}

static void say(const struct differ_in *in, uint32_t gpu, enum differ_cause cause, FILE *to)
{
	const struct aff_gpu_choice *c = &in->choice->gpu[gpu];
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	switch (cause) {
	case DIFFER_FLAT_VM:
		(void)fputs("the machine shows neither switches nor NUMA nodes: all HCAs are as "
			    "near, and NCCL does not use GPUDirect RDMA",
			    to);
		return;
	case DIFFER_VF_PATH:
		takes_instead(in, gpu, c->share, c->n_share, to);
		(void)fputs(": it looks for a VF's function at device 00 of its bus", to);
		return;
	case DIFFER_FASTER:
		takes_instead(in, gpu, c->nearest, c->n_nearest, to);
		(void)fprintf(to, ": more bandwidth counts before distance%s",
			      g->gdr ? "" : ", and GPUDirect RDMA is off there");
		return;
	case DIFFER_ROLE:
		takes_instead(in, gpu, c->nearest, c->n_nearest, to);
		(void)fputs(": it knows no storage and management networks", to);
		return;
	case DIFFER_GDR_OFF:
		if (differ_listed(in, c->nearest, c->n_nearest, *g->channel)) {
			say_gdr_off(in, gpu, to);
			return;
		}
		takes_instead(in, gpu, c->nearest, c->n_nearest, to);
		(void)fputs(", with which it does not use GPUDirect RDMA", to);
		return;
	case DIFFER_LONE_GPU:
		(void)fputs("NCCL takes ", to);
		channel_names(in, gpu, to);
		(void)fputs(": it does not know the other GPUs of the machine, whose HCAs are "
			    "among these",
			    to);
		return;
	case DIFFER_TIE:
		takes_instead(in, gpu, c->share, c->n_share, to);
		(void)fputs(", which are as near: it deals equal ones in another order", to);
		return;
	case DIFFER_OTHER:
	case DIFFER_NO_CAUSE:
		takes_instead(in, gpu, c->nearest, c->n_nearest, to);
		return;
	}
}

/* ---- settings ---- */

static const struct aff_gpu_choice *own_share(const struct differ_in *in, uint32_t gpu)
{
	const struct aff_choice *from =
		in->node && !(in->scope && in->scope->hca) ? in->node : in->choice;

	return from->gpu[gpu].n_share ? &from->gpu[gpu] : &in->choice->gpu[gpu];
}

static void set(const struct differ_in *in, uint32_t gpu, enum differ_cause cause, FILE *to)
{
	const struct aff_gpu_choice *c = own_share(in, gpu);

	switch (cause) {
	case DIFFER_FLAT_VM:
		(void)fputs("NCCL_TOPO_FILE=<a file made of the host's tree>", to);
		return;
	case DIFFER_VF_PATH:
		(void)fputs("NCCL_IB_MERGE_VFS=0", to);
		return;
	case DIFFER_GDR_OFF:
		if (!told_unable(in, gpu) && in->nccl->gpu[gpu].type == NCCL_PHB)
			(void)fputs("NCCL_NET_GDR_LEVEL=PHB", to);
		return;
	case DIFFER_FASTER:
	case DIFFER_ROLE:
	case DIFFER_LONE_GPU:
	case DIFFER_TIE:
	case DIFFER_OTHER:
		(void)fputs("NCCL_IB_HCA==", to);
		names(in->m, c->share, c->n_share, ",", to);
		return;
	case DIFFER_NO_CAUSE:
		return;
	}
}

int differ_say(const struct differ_in *in, uint32_t gpu, struct differ_gpu *d, struct err *e)
{
	auto_words struct words text = { 0 }, setting = { 0 };

	if (d->cause == DIFFER_NO_CAUSE)
		return 0;
	if (words_open(&text, e) || words_open(&setting, e))
		return -1;
	say(in, gpu, d->cause, text.to);
	set(in, gpu, d->cause, setting.to);
	if (words_done(&text, &d->text, e) || words_done(&setting, &d->setting, e))
		return -1;
	if (!*d->setting) {
		free(d->setting);
		d->setting = NULL;
	}
	return 0;
}

/* ---- of all together ---- */

static bool is_ours(const struct differ_in *in, uint32_t hca)
{
	for (uint32_t i = 0; i < in->nccl->n_gpus; i++) {
		const struct aff_gpu_choice *c = own_share(in, i);
		for (size_t k = 0; in->nccl->gpu[i].in && k < c->n_share; k++) {
			if (c->share[k] == hca)
				return true;
		}
	}
	return false;
}

static void all_ours(const struct differ_in *in, FILE *to)
{
	const char *sep = "NCCL_IB_HCA==";

	for (uint32_t h = 0; h < in->m->n_hcas; h++) {
		if (is_ours(in, h)) {
			(void)fprintf(to, "%s%s", sep, in->m->hca[h].name);
			sep = ",";
		}
	}
}

static unsigned int counted(const struct differ *d, enum differ_cause cause)
{
	unsigned int n = 0;

	for (size_t i = 0; i < d->n_gpus; i++)
		n += d->gpu[i].cause == cause;
	return n;
}

static void say_all(const struct differ_in *in, const struct differ *d, FILE *text, FILE *setting)
{
	static const enum differ_cause own[] = { DIFFER_FASTER, DIFFER_ROLE, DIFFER_LONE_GPU,
						 DIFFER_OTHER };

	if (counted(d, DIFFER_VF_PATH)) {
		(void)fputs("NCCL looks for VFs elsewhere than where they are", text);
		(void)fputs("NCCL_IB_MERGE_VFS=0", setting);
		return;
	}
	if (counted(d, DIFFER_FLAT_VM)) {
		(void)fputs("the machine shows neither switches nor NUMA nodes", text);
		(void)fputs("NCCL_TOPO_FILE=<a file made of the host's tree>", setting);
		return;
	}
	if (in->nccl->n_nets > NCCL_MAX_PORTS) {
		(void)fprintf(text,
			      "NCCL takes %d ports, and %zu are there: which it takes is not told",
			      NCCL_MAX_PORTS, in->nccl->n_nets);
		all_ours(in, setting);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (counted(d, own[i])) {
			(void)fputs("NCCL takes HCAs that are not these GPUs' own", text);
			all_ours(in, setting);
			return;
		}
	}
}

int differ_say_all(const struct differ_in *in, struct differ *d, struct err *e)
{
	auto_words struct words text = { 0 }, setting = { 0 };
	auto_free char *said = NULL, *mend = NULL;

	if (words_open(&text, e) || words_open(&setting, e))
		return -1;
	say_all(in, d, text.to, setting.to);
	if (words_done(&text, &said, e) || words_done(&setting, &mend, e))
		return -1;
	if (*said) {
		d->text = TAKE_PTR(said);
		d->setting = *mend ? TAKE_PTR(mend) : NULL;
	}
	return 0;
}
