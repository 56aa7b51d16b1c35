/* SPDX-License-Identifier: Apache-2.0 */
/* pod_gpu.c: the GPUs of a pod, from its device files. */
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

/* ---- all of them ---- */

int topo_pod_gpus(const struct topo_who *w, const struct topo_machine *m, bool **out, struct err *e)
{
	auto_free bool *mask = calloc(m->n_gpus + 1, sizeof(*mask));
	bool some = false, missing = false;

	if (!mask)
		return err_nomem(e);
	for (size_t i = 0; i < m->n_gpus; i++) {
		enum topo_tristate has;
		char bdf[PCI_STR_LEN];

		pci_format(m->pci[m->gpu[i].pci].addr, bdf);
		if (m->gpu[i].vendor == TOPO_NVIDIA) {
			struct nvidia_gpu n;
			if (nvidia_read(w->ctx->proc, bdf, &n, e))
				return -1;
			has = has_nvidia(w, &n);
		} else {
			has = has_render(w, bdf);
		}
		mask[i] = has != TOPO_NO;
		some |= has == TOPO_YES;
		missing |= has == TOPO_NO;
	}
	*out = some && missing ? TAKE_PTR(mask) : NULL;
	return 0;
}
