// SPDX-License-Identifier: Apache-2.0
/* Verdicts in words, and the settings that mend them. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "topo/compare/compare_priv.h"

#define NCCL_MAX_PORTS 32

/* ---- text that grows ---- */

struct words {
	char *text; /* owned; NULL: nothing was said */
	size_t len;
	bool failed;
};

static void words_clear(struct words *w)
{
	free(w->text);
}
#define auto_words auto_clean(words_clear)

static void put(struct words *w, const char *fmt, ...) printf_like(2, 3);

static void put(struct words *w, const char *fmt, ...)
{
	char piece[320];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(piece, sizeof(piece), fmt, ap);
	va_end(ap);
	size_t len = strlen(piece);
	char *more = w->failed ? NULL : realloc(w->text, w->len + len + 1);
	w->failed = !more;
	if (!more)
		return;
	memcpy(more + w->len, piece, len + 1);
	w->text = more;
	w->len += len;
}

static void names(const struct aff_machine *m, const uint32_t *hca, size_t n, const char *sep,
		  struct words *to)
{
	for (size_t i = 0; i < n; i++)
		put(to, "%s%s", i ? sep : "", m->hca[hca[i]].name);
}

static void channel_names(const struct differ_in *in, uint32_t gpu, struct words *to)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	for (size_t i = 0; i < g->n_channels; i++)
		put(to, "%s%s", i ? ", " : "", in->m->hca[in->nccl->net[g->channel[i]].hca].name);
}

/* ---- sentences ---- */

static void takes_instead(const struct differ_in *in, uint32_t gpu, const uint32_t *hca, size_t n,
			  struct words *to)
{
	put(to, "NCCL takes ");
	channel_names(in, gpu, to);
	put(to, " instead of ");
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

static void say_gdr_off(const struct differ_in *in, uint32_t gpu, struct words *to)
{
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	put(to, "NCCL does not use GPUDirect RDMA: ");
	if (told_unable(in, gpu))
		put(to, "the file says that a device or its driver cannot");
	else if (g->type >= NCCL_PHB)
		put(to, "the path is %s, through the CPU", nccl_path_name(g->type));
	else
		put(to, "the GPU is older than Ampere and has no NVLink");
}

static void say(const struct differ_in *in, uint32_t gpu, enum differ_cause cause, struct words *to)
{
	const struct aff_gpu_choice *c = &in->choice->gpu[gpu];
	const struct nccl_gpu *g = &in->nccl->gpu[gpu];

	switch (cause) {
	case DIFFER_FLAT_VM:
		put(to, "the machine shows neither switches nor NUMA nodes: all HCAs are as "
			"near, and NCCL does not use GPUDirect RDMA");
		return;
	case DIFFER_VF_PATH:
		takes_instead(in, gpu, c->share, c->n_share, to);
		put(to, ": it looks for a VF's function at device 00 of its bus");
		return;
	case DIFFER_FASTER:
		takes_instead(in, gpu, c->nearest, c->n_nearest, to);
		put(to, ": more bandwidth counts before distance%s",
		    g->gdr ? "" : ", and GPUDirect RDMA is off there");
		return;
	case DIFFER_ROLE:
		takes_instead(in, gpu, c->nearest, c->n_nearest, to);
		put(to, ": it knows no storage and management networks");
		return;
	case DIFFER_GDR_OFF:
		if (differ_listed(in, c->nearest, c->n_nearest, *g->channel)) {
			say_gdr_off(in, gpu, to);
			return;
		}
		takes_instead(in, gpu, c->nearest, c->n_nearest, to);
		put(to, ", with which it does not use GPUDirect RDMA");
		return;
	case DIFFER_LONE_GPU:
		put(to, "NCCL takes ");
		channel_names(in, gpu, to);
		put(to, ": it does not know the other GPUs of the machine, whose HCAs are "
			"among these");
		return;
	case DIFFER_TIE:
		takes_instead(in, gpu, c->share, c->n_share, to);
		put(to, ", which are as near: it deals equal ones in another order");
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

static void set(const struct differ_in *in, uint32_t gpu, enum differ_cause cause, struct words *to)
{
	const struct aff_gpu_choice *c = own_share(in, gpu);

	switch (cause) {
	case DIFFER_FLAT_VM:
		put(to, "NCCL_TOPO_FILE=<a file made of the host's tree>");
		return;
	case DIFFER_VF_PATH:
		put(to, "NCCL_IB_MERGE_VFS=0");
		return;
	case DIFFER_GDR_OFF:
		if (!told_unable(in, gpu) && in->nccl->gpu[gpu].type == NCCL_PHB)
			put(to, "NCCL_NET_GDR_LEVEL=PHB");
		return;
	case DIFFER_FASTER:
	case DIFFER_ROLE:
	case DIFFER_LONE_GPU:
	case DIFFER_TIE:
	case DIFFER_OTHER:
		put(to, "NCCL_IB_HCA==");
		names(in->m, c->share, c->n_share, ",", to);
		return;
	case DIFFER_NO_CAUSE:
		return;
	}
}

static int take(struct words *text, struct words *setting, char **said, char **mend, struct err *e)
{
	if (text->failed || setting->failed)
		return err_nomem(e);
	*said = TAKE_PTR(text->text);
	*mend = TAKE_PTR(setting->text);
	return 0;
}

int differ_say(const struct differ_in *in, uint32_t gpu, struct differ_gpu *d, struct err *e)
{
	auto_words struct words text = { 0 }, setting = { 0 };

	if (d->cause == DIFFER_NO_CAUSE)
		return 0;
	say(in, gpu, d->cause, &text);
	set(in, gpu, d->cause, &setting);
	return take(&text, &setting, &d->text, &d->setting, e);
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

static void all_ours(const struct differ_in *in, struct words *to)
{
	const char *sep = "NCCL_IB_HCA==";

	for (uint32_t h = 0; h < in->m->n_hcas; h++) {
		if (is_ours(in, h)) {
			put(to, "%s%s", sep, in->m->hca[h].name);
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

static void say_all(const struct differ_in *in, const struct differ *d, struct words *text,
		    struct words *setting)
{
	static const enum differ_cause own[] = { DIFFER_FASTER, DIFFER_ROLE, DIFFER_LONE_GPU,
						 DIFFER_OTHER };

	if (counted(d, DIFFER_VF_PATH)) {
		put(text, "NCCL looks for VFs elsewhere than where they are");
		put(setting, "NCCL_IB_MERGE_VFS=0");
		return;
	}
	if (counted(d, DIFFER_FLAT_VM)) {
		put(text, "the machine shows neither switches nor NUMA nodes");
		put(setting, "NCCL_TOPO_FILE=<a file made of the host's tree>");
		return;
	}
	if (in->nccl->n_nets > NCCL_MAX_PORTS) {
		put(text, "NCCL takes %d ports, and %zu are there: which it takes is not told",
		    NCCL_MAX_PORTS, in->nccl->n_nets);
		all_ours(in, setting);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(own); i++) {
		if (counted(d, own[i])) {
			put(text, "NCCL takes HCAs that are not these GPUs' own");
			all_ours(in, setting);
			return;
		}
	}
}

int differ_say_all(const struct differ_in *in, struct differ *d, struct err *e)
{
	auto_words struct words text = { 0 }, setting = { 0 };

	say_all(in, d, &text, &setting);
	return take(&text, &setting, &d->text, &d->setting, e);
}
