/* SPDX-License-Identifier: Apache-2.0 */
/* pod_gpu.c: the GPUs of a pod, from its device files and NVIDIA_VISIBLE_DEVICES. */
#include <dirent.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "railctl/topo/pod.h"
#include "topo/read/nvidia.h"

/* True if the file is in the pod's /dev. */
static bool has_file(const struct topo_who *w, const char *name)
{
	char path[PATH_MAX];

	if (w->pid > 0)
		(void)snprintf(path, sizeof(path), "%s/%d/root/dev/%s", w->ctx->proc, w->pid, name);
	else
		(void)snprintf(path, sizeof(path), "%s/%s", w->ctx->dev, name);
	return access(path, F_OK) == 0;
}

/* ---- NVIDIA ---- */

/* The driver's text has the number of the device file. Without the text the answer is unknown. */
static enum topo_tristate has_nvidia(const struct topo_who *w, const struct nvidia_gpu *n)
{
	char name[NVIDIA_WORD_LEN + 8];

	if (!*n->minor)
		return TOPO_UNKNOWN;
	(void)snprintf(name, sizeof(name), "nvidia%s", n->minor);
	return has_file(w, name) ? TOPO_YES : TOPO_NO;
}

/* ---- AMD, and what else has a driver of DRM ---- */

static void pod_gpu_close_dir(DIR **d)
{
	if (*d)
		closedir(*d);
}

static enum topo_tristate has_render(const struct topo_who *w, const char *bdf)
{
	char path[PATH_MAX], name[NAME_MAX + 8];
	enum topo_tristate has = TOPO_UNKNOWN;

	(void)snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/drm", w->ctx->sysfs, bdf);
	auto_clean(pod_gpu_close_dir) DIR *dir = opendir(path);

	for (struct dirent *d; dir && (d = readdir(dir));) {
		if (strncmp(d->d_name, "renderD", 7) != 0)
			continue;
		(void)snprintf(name, sizeof(name), "dri/%s", d->d_name);
		has = has_file(w, name) ? TOPO_YES : TOPO_NO;
	}
	return has;
}

/* ---- lists ---- */

static bool is_number(struct slice s, unsigned number)
{
	char text[16];
	uint64_t n;

	return slice_copy(s, text, sizeof(text)) == 0 && parse_u64(text, 0, UINT32_MAX, &n) == 0 &&
	       n == number;
}

bool topo_pod_lists(const char *list, unsigned number, const char *uuid)
{
	struct slice rest = { list, strlen(list) }, word;

	while (slice_next(&rest, ',', &word)) {
		if (word.len == 3 && !strncmp(word.p, "all", 3))
			return true;
		if (is_number(word, number))
			return true;
		if (word.len > 4 && !strncmp(word.p, "GPU-", 4) && !strncmp(word.p, uuid, word.len))
			return true;
	}
	return false;
}

/* ---- all of them ---- */

struct gpus {
	enum topo_tristate *has; /* a device file; owned */
	struct nvidia_gpu *nvidia;
};

static void gpus_clear(struct gpus *g)
{
	free(g->has);
	free(g->nvidia);
}

static int look_at_devices(const struct topo_who *w, const struct topo_machine *m, struct gpus *g,
			   struct err *e)
{
	g->has = calloc(m->n_gpus + 1, sizeof(*g->has));
	g->nvidia = calloc(m->n_gpus + 1, sizeof(*g->nvidia));
	if (!g->has || !g->nvidia)
		return err_nomem(e);
	for (size_t i = 0; i < m->n_gpus; i++) {
		char bdf[PCI_STR_LEN];

		pci_format(m->pci[m->gpu[i].pci].addr, bdf);
		if (m->gpu[i].vendor != TOPO_NVIDIA) {
			g->has[i] = has_render(w, bdf);
			continue;
		}
		if (nvidia_read(w->ctx->proc, bdf, &g->nvidia[i], e))
			return -1;
		g->has[i] = has_nvidia(w, &g->nvidia[i]);
	}
	return 0;
}

static bool any_gpu(const struct gpus *g, size_t n, enum topo_tristate what)
{
	for (size_t i = 0; i < n; i++)
		if (g->has[i] == what)
			return true;
	return false;
}

int topo_pod_gpus(const struct topo_who *w, const struct topo_machine *m, bool **out, struct err *e)
{
	auto_clean(gpus_clear) struct gpus g = { 0 };
	auto_free bool *mask = calloc(m->n_gpus + 1, sizeof(*mask));
	const char *list = w->pid == 0 ? getenv("NVIDIA_VISIBLE_DEVICES") : NULL;

	if (!mask)
		return err_nomem(e);
	if (look_at_devices(w, m, &g, e))
		return -1;
	*out = NULL;
	if (any_gpu(&g, m->n_gpus, TOPO_YES) && any_gpu(&g, m->n_gpus, TOPO_NO)) {
		for (size_t i = 0; i < m->n_gpus; i++)
			mask[i] = g.has[i] != TOPO_NO;
	} else if (!any_gpu(&g, m->n_gpus, TOPO_YES) && list && *list &&
		   strcmp(list, "void") != 0) {
		unsigned number = 0; /* the variable counts the GPUs of NVIDIA in their order */

		for (size_t i = 0; i < m->n_gpus; i++)
			mask[i] = m->gpu[i].vendor != TOPO_NVIDIA ||
				  topo_pod_lists(list, number++, g.nvidia[i].uuid);
	} else {
		return 0;
	}
	*out = TAKE_PTR(mask);
	return 0;
}
