/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpu_find.c: where drivers show their GPUs.
 *
 * NVIDIA: /proc/driver/nvidia/gpus/<address>/information has the UUID and the minor number. No file
 * has the UUID of a MIG device. /proc/driver/nvidia/capabilities/gpu<minor>/mig has a folder for
 * each instance (MIG user guide): if all other GPUs have none, the device is a part of this GPU.
 *
 * DRM and accel: the link device of /sys/class/drm/<node> and /sys/class/accel/accel<N> leads to
 * the function.
 *
 * AMD: a partition is a platform device. KFD in the kernel has a node with the same render minor.
 * Its location_id has bus and device of the GPU; other bits may count partitions (kfd_topology.c).
 */
#include "topo/kubelet/gpu_find.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/sys/fs.h"
#include "topo/read/nvidia.h"

#define ENTRIES_MAX  4096
#define PROPERTY_MAX 16384

static int not_shown(struct err *e, const char *what, const char *where)
{
	return err_set(e, ERR_NOTFOUND, 0, "%s is not in %s", what, where);
}

/* The names in a folder; none if it cannot be read. */
static int names_in(const char *folder, struct fs_names *out, struct err *e)
{
	struct err why;

	if (fs_names_at(AT_FDCWD, folder, ENTRIES_MAX, out, &why) == 0)
		return 0;
	if (why.code == ERR_NOMEM)
		return err_nomem(e);
	*out = (struct fs_names){ .n = 0 };
	return 0;
}

/* ---- NVIDIA ---- */

struct gpu_shown {
	struct pci_addr addr;
	struct nvidia_gpu words;
	bool asked, may_have_mig; /* valid once asked */
};

void gpu_files_clear(struct gpu_files *f)
{
	free(f->nvidia);
	*f = (struct gpu_files){ .ctx = f->ctx };
}

static int read_nvidia(struct gpu_files *f, const char *folder, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	size_t n = 0;

	if (f->nvidia)
		return 0;
	if (names_in(folder, &names, e))
		return -1;
	auto_free struct gpu_shown *all = calloc(names.n + 1, sizeof(*all));
	if (!all)
		return err_nomem(e);
	for (size_t i = 0; i < names.n; i++) {
		if (pci_parse(names.name[i], &all[n].addr))
			continue;
		if (nvidia_read(f->ctx->proc, names.name[i], &all[n++].words, e))
			return -1;
	}
	f->n_nvidia = n;
	f->nvidia = TAKE_PTR(all);
	return 0;
}

/*
 * 1: the GPU has MIG devices, or may have some: its minor number is unknown, or the folder, which
 * the driver makes for each GPU, cannot be read.
 */
static int may_have_mig(const struct ctx *ctx, struct gpu_shown *g, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	char path[PATH_MAX];
	struct err why;

	if (g->asked)
		return g->may_have_mig;
	(void)snprintf(path, sizeof(path), "%s/driver/nvidia/capabilities/gpu%s/mig", ctx->proc,
		       g->words.minor);
	bool unread =
		!*g->words.minor || fs_names_at(AT_FDCWD, path, ENTRIES_MAX, &names, &why) != 0;
	if (unread && *g->words.minor && why.code == ERR_NOMEM)
		return err_nomem(e);
	g->may_have_mig = unread;
	for (size_t i = 0; i < names.n; i++)
		g->may_have_mig |= !strncmp(names.name[i], "gi", 2);
	g->asked = true;
	return g->may_have_mig;
}

/* 1: it is the GPU of this id, or may be. */
static int gpu_find_is_wanted(const struct ctx *ctx, struct gpu_shown *g, const struct gpu_id *id,
			      struct err *e)
{
	uint64_t minor;

	if (id->kind == GPU_ID_NVIDIA)
		return !strcmp(g->words.uuid, id->text);
	if (id->kind == GPU_ID_NVIDIA_MIG)
		return may_have_mig(ctx, g, e);
	return !parse_u64(g->words.minor, 0, UINT32_MAX, &minor) && minor == id->number;
}

static int find_nvidia(struct gpu_files *f, const struct gpu_id *id, struct pci_addr *out,
		       struct err *e)
{
	struct pci_addr last = { 0 };
	char folder[PATH_MAX];
	unsigned found = 0;

	(void)snprintf(folder, sizeof(folder), "%s/driver/nvidia/gpus", f->ctx->proc);
	if (read_nvidia(f, folder, e))
		return -1;
	for (size_t i = 0; i < f->n_nvidia; i++) {
		int rc = gpu_find_is_wanted(f->ctx, &f->nvidia[i], id, e);
		if (rc < 0)
			return -1;
		found += rc > 0;
		last = rc ? f->nvidia[i].addr : last;
	}
	if (found == 1) {
		*out = last;
		return 0;
	}
	if (id->kind == GPU_ID_NVIDIA_MIG)
		return err_set(e, ERR_NOTFOUND, 0,
			       "no file shows which GPU has %s: %u GPUs have MIG devices or may "
			       "have some",
			       id->text, found);
	return not_shown(e, id->text, folder);
}

/* ---- DRM and accel ---- */

/* The function that the link CLASS/NAME/device leads to. false: it leads to no PCI function. */
static bool class_function(const struct ctx *ctx, const char *class, const char *name,
			   struct pci_addr *out)
{
	char path[PATH_MAX], target[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%s/class/%s/%s/device", ctx->sysfs, class, name);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	if (n < 0)
		return false;
	target[n] = '\0';
	const char *last = strrchr(target, '/');
	return pci_parse(last ? last + 1 : target, out) == 0;
}

/* ---- partitions of AMD ---- */

static bool property(const char *text, const char *name, uint32_t *out)
{
	struct slice rest = { text, strlen(text) }, line;
	size_t len = strlen(name);
	char value[24];
	uint64_t n;

	while (slice_next(&rest, '\n', &line)) {
		if (line.len <= len || strncmp(line.p, name, len) != 0 || line.p[len] != ' ')
			continue;
		if (slice_copy((struct slice){ line.p + len + 1, line.len - len - 1 }, value,
			       sizeof(value)) ||
		    parse_u64(value, 0, UINT32_MAX, &n))
			return false;
		*out = (uint32_t)n;
		return true;
	}
	return false;
}

/* 1: it is a node of another render minor. */
static int read_kfd_node(const char *path, uint32_t render, struct pci_addr *out, struct err *e)
{
	auto_free char *text = NULL;
	uint32_t minor, location, domain;
	struct err why;

	if (fs_read_at(AT_FDCWD, path, PROPERTY_MAX, &text, &why) < 0)
		return why.code == ERR_NOMEM ? err_nomem(e) : 1;
	if (!property(text, "drm_render_minor", &minor) || minor != render ||
	    !property(text, "location_id", &location) || !property(text, "domain", &domain))
		return 1;
	*out = (struct pci_addr){ .domain = domain,
				  .bus = (uint8_t)(location >> 8),
				  .dev = (location >> 3) & 0x1f };
	return 0;
}

static int find_render(const struct ctx *ctx, uint32_t render, struct pci_addr *out, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	char folder[PATH_MAX], path[PATH_MAX + NAME_MAX + 16], name[24];

	(void)snprintf(name, sizeof(name), "renderD%u", render);
	if (class_function(ctx, "drm", name, out))
		return 0;
	(void)snprintf(folder, sizeof(folder), "%s/class/kfd/kfd/topology/nodes", ctx->sysfs);
	if (names_in(folder, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s/properties", folder, names.name[i]);
		int rc = read_kfd_node(path, render, out, e);
		if (rc <= 0)
			return rc;
	}
	return not_shown(e, name, folder);
}

static int kubelet_find_partition(const struct ctx *ctx, uint32_t number, struct pci_addr *out,
				  struct err *e)
{
	static const char prefix[] = "renderD";
	auto_fs_names struct fs_names names = { .n = 0 };
	char folder[PATH_MAX];
	uint64_t render;

	(void)snprintf(folder, sizeof(folder), "%s/devices/platform/amdgpu_xcp_%u/drm", ctx->sysfs,
		       number);
	if (names_in(folder, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		const char *name = names.name[i];
		if (!strncmp(name, prefix, sizeof(prefix) - 1) &&
		    !parse_u64(name + sizeof(prefix) - 1, 0, UINT32_MAX, &render))
			return find_render(ctx, (uint32_t)render, out, e);
	}
	return not_shown(e, "a render node", folder);
}

/* ---- all of them ---- */

static int find_in_class(const struct ctx *ctx, const char *class, const struct gpu_id *id,
			 struct pci_addr *out, struct err *e)
{
	char name[24];

	(void)snprintf(name, sizeof(name), "%s%u", id->kind == GPU_ID_ACCEL ? "accel" : "card",
		       id->number);
	return class_function(ctx, class, name, out) ? 0 : not_shown(e, name, "/sys/class");
}

int gpu_find(struct gpu_files *f, const struct gpu_id *id, struct pci_addr *out, struct err *e)
{
	const struct ctx *ctx = f->ctx;

	switch (id->kind) {
	case GPU_ID_PCI:
		*out = id->pci;
		return 0;
	case GPU_ID_NVIDIA:
	case GPU_ID_NVIDIA_MIG:
	case GPU_ID_NVIDIA_MINOR:
		return find_nvidia(f, id, out, e);
	case GPU_ID_DRM_CARD:
		return find_in_class(ctx, "drm", id, out, e);
	case GPU_ID_ACCEL:
		return find_in_class(ctx, "accel", id, out, e);
	case GPU_ID_DRM_RENDER:
		return find_render(ctx, id->number, out, e);
	case GPU_ID_AMD_XCP:
		return kubelet_find_partition(ctx, id->number, out, e);
	case GPU_ID_NONE:
	case GPU_ID_GAUDI:
	case GPU_ID_UNKNOWN:
		break;
	}
	return err_set(e, ERR_NOTFOUND, 0, "%s has a form that no driver's files explain",
		       id->text);
}

ssize_t gpu_find_gaudis(const struct ctx *ctx, struct pci_addr *out, size_t max, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	char folder[PATH_MAX];
	struct pci_addr addr;
	size_t n = 0;

	(void)snprintf(folder, sizeof(folder), "%s/bus/pci/drivers/habanalabs", ctx->sysfs);
	if (names_in(folder, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		if (pci_parse(names.name[i], &addr))
			continue;
		if (n < max)
			out[n] = addr;
		n++;
	}
	return (ssize_t)n;
}
