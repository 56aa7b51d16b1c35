/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Checks whether a driver gives GPU memory to HCAs: a peer memory module, or DMA-BUF. One of the
 * two is enough.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "topo/gdr/priv.h"

#define TEXT_LEN 256

struct driver_path {
	enum topo_tristate is; /* it is available */
	enum gdr_dir dir;      /* the file that shows it */
	char path[TEXT_LEN];
	char value[TEXT_LEN];
};

static void note_found(struct driver_path *w, enum topo_tristate is, enum gdr_dir dir,
		       const char *path)
{
	w->is = is;
	w->dir = dir;
	(void)snprintf(w->path, sizeof(w->path), "%s", path);
}

/* ---- peer memory ---- */

/* Search the first existing file. Without the folder, the tree does not show modules at all. */
static void look_for(const struct gdr *r, const char *const *paths, const char *folder,
		     struct driver_path *w)
{
	for (; *paths; paths++) {
		if (gdr_text(r, GDR_SYS, *paths, w->value, sizeof(w->value)))
			continue;
		note_found(w, TOPO_YES, GDR_SYS, *paths);
		return;
	}
	note_found(w, gdr_there(r, GDR_SYS, folder) ? TOPO_NO : TOPO_UNKNOWN, GDR_SYS, folder);
	(void)snprintf(w->value, sizeof(w->value), "%s",
		       w->is == TOPO_NO ? "no such module is loaded" : "");
}

#define PEERMEM "module/nvidia_peermem/version"

/*
 * nvidia_peermem that is loaded has registered: its initialisation fails otherwise. Older versions
 * of NCCL look for it only in memory_peers.
 */
static void judge_peermem(const struct gdr *r, struct driver_path *w)
{
	bool ignored = r->nccl && !lib_rule_holds(NCCL_KNOWS_PEERMEM, *r->nccl);
	char version[TEXT_LEN / 4], nccl[LIB_VERSION_LEN];

	if (w->is != TOPO_YES || strcmp(w->path, PEERMEM) != 0 || !ignored)
		return;
	w->is = TOPO_NO;
	(void)snprintf(version, sizeof(version), "%.*s", (int)sizeof(version) - 1, w->value);
	(void)snprintf(w->value, sizeof(w->value),
		       "nvidia_peermem %s is loaded, but NCCL %s does not look for it there",
		       version, lib_version_format(*r->nccl, nccl));
}

static void driver_peer_of(const struct gdr *r, enum topo_vendor v, struct driver_path *w)
{
	static const char *const nvidia[] = { "kernel/mm/memory_peers/nv_mem/version",
					      "kernel/mm/memory_peers/nv_mem_nc/version", PEERMEM,
					      NULL };
	static const char *const amd[] = { "kernel/mm/memory_peers/amdkfd/version",
					   "kernel/memory_peers/amdkfd/version",
					   "memory_peers/amdkfd/version", NULL };

	look_for(r, v == TOPO_NVIDIA ? nvidia : amd, "module", w);
	judge_peermem(r, w);
}

/* ---- DMA-BUF ---- */

/* 5012 for "5.12.0-1-amd64"; 0: it is not such a text. */
static unsigned long kernel_number(const char *release)
{
	char *end;
	unsigned long major = strtoul(release, &end, 10), minor = 0;

	if (*end == '.' && major < 1000)
		minor = strtoul(end + 1, NULL, 10);
	return *end == '.' && minor < 1000 ? major * 1000 + minor : 0;
}

/* ibv_reg_dmabuf_mr() came with Linux 5.12. */
static bool kernel_has_it(const struct gdr *r, struct driver_path *w)
{
	char release[TEXT_LEN / 2];
	unsigned long n;

	note_found(w, TOPO_UNKNOWN, GDR_PROC, "sys/kernel/osrelease");
	if (gdr_text(r, GDR_PROC, w->path, release, sizeof(release)))
		return false;
	n = kernel_number(release);
	w->is = n >= 5012 ? TOPO_YES : n ? TOPO_NO : TOPO_UNKNOWN;
	(void)snprintf(w->value, sizeof(w->value), "kernel %s%s", release,
		       w->is == TOPO_NO ? ": DMA-BUF came with 5.12" : "");
	return w->is == TOPO_YES;
}

/* Only NVIDIA's open module supports DMA-BUF. */
static void nvidia_dmabuf(const struct gdr *r, struct driver_path *w)
{
	char text[TEXT_LEN];

	note_found(w, TOPO_UNKNOWN, GDR_PROC, "driver/nvidia/version");
	*w->value = '\0';
	if (gdr_text(r, GDR_PROC, w->path, text, sizeof(text)))
		return;
	w->is = strstr(text, "Open Kernel Module") ? TOPO_YES : TOPO_NO;
	(void)snprintf(w->value, sizeof(w->value), "%.80s: %s", text,
		       w->is == TOPO_YES ? "the open module" : "not the open module");
}

#define CONFIG_LEN (1U << 20) /* of /boot/config-... */

static bool is_built_in(const char *config, const char *option)
{
	size_t len = strlen(option);

	for (const char *at = config; (at = strstr(at, option)); at += len)
		if ((at == config || at[-1] == '\n') && !strncmp(at + len, "=y", 2))
			return true;
	return false;
}

static void amd_dmabuf(struct gdr *r, struct driver_path *w)
{
	auto_free char *config = malloc(CONFIG_LEN + 1);
	char release[TEXT_LEN / 2], path[TEXT_LEN];
	ssize_t n;

	if (!config) {
		r->failed = true;
		return;
	}
	if (gdr_text(r, GDR_PROC, "sys/kernel/osrelease", release, sizeof(release)))
		return;
	(void)snprintf(path, sizeof(path), "config-%s", release);
	note_found(w, TOPO_UNKNOWN, GDR_BOOT, path);
	*w->value = '\0';
	n = gdr_read(r, GDR_BOOT, path, config, CONFIG_LEN);
	if (n < 0)
		return;
	config[n] = '\0';

	bool p2p = is_built_in(config, "CONFIG_PCI_P2PDMA");
	bool notify = is_built_in(config, "CONFIG_DMABUF_MOVE_NOTIFY");

	w->is = p2p && notify ? TOPO_YES : TOPO_NO;
	(void)snprintf(w->value, sizeof(w->value),
		       "CONFIG_PCI_P2PDMA=%c, CONFIG_DMABUF_MOVE_NOTIFY=%c", p2p ? 'y' : 'n',
		       notify ? 'y' : 'n');
}

/* ---- both ---- */

/* A missing one does not matter if the other is available. */
static enum finding_state judge_either(enum topo_tristate this, enum topo_tristate other)
{
	if (this == TOPO_YES || other == TOPO_YES)
		return FINDING_OK;
	return this == TOPO_UNKNOWN || other == TOPO_UNKNOWN ? FINDING_UNKNOWN : FINDING_FAIL;
}

static void add_driver_finding(struct gdr *r, const char *id, const struct driver_path *w,
			       const struct driver_path *other)
{
	struct finding *f =
		gdr_add(r, id, other ? judge_either(w->is, other->is) : judge_either(w->is, w->is),
			TOPO_NONE, TOPO_NONE);

	gdr_path(r, f, w->dir, w->path);
	if (*w->value)
		finding_set_value(f, "%s%s", w->value,
				  w->is == TOPO_NO && f->state == FINDING_OK
					  ? "; not needed, because the other method is available"
					  : "");
	if (f->state == FINDING_UNKNOWN && w->is == TOPO_UNKNOWN)
		gdr_unread(f, -ENOENT);
	else if (f->state == FINDING_UNKNOWN)
		finding_set_reason(f, "it is not known whether the other method is available");
}

static void add_remedy(struct gdr *r, const char *consequence, const char *remedy)
{
	struct findings *all = &r->out.all;
	struct finding *f = all->n ? &all->item[all->n - 1] : &all->spare;

	if (f->state != FINDING_FAIL)
		return;
	finding_set_reason(f, "%s", consequence);
	finding_set_remedy(f, "%s", remedy);
}

static bool has_vendor(const struct gdr *r, enum topo_vendor v)
{
	for (size_t i = 0; i < r->m->n_gpus; i++)
		if (gdr_has_gpu(r, i) && r->m->gpu[i].vendor == v && !r->m->gpu[i].on_package)
			return true;
	return false;
}

#define NO_WAY "no driver gives GPU memory to NICs: every transfer is copied through host memory"

static void check_vendor(struct gdr *r, enum topo_vendor v)
{
	struct driver_path peer = { 0 }, dmabuf = { 0 };

	if (!has_vendor(r, v))
		return;
	driver_peer_of(r, v, &peer);
	if (kernel_has_it(r, &dmabuf)) {
		if (v == TOPO_NVIDIA)
			nvidia_dmabuf(r, &dmabuf);
		else
			amd_dmabuf(r, &dmabuf);
	}
	add_driver_finding(r, "peermem", &peer, &dmabuf);
	add_remedy(r, NO_WAY,
		   v == TOPO_NVIDIA
			   ? "use DMA-BUF: NVIDIA's open kernel module, on Linux 5.12 or newer. "
			     "With NVIDIA's DOCA-OFED also: modprobe nvidia_peermem"
			   : "install the ROCm kernel driver (amdgpu-dkms) with peer memory");
	add_driver_finding(r, "dmabuf", &dmabuf, &peer);
	add_remedy(r, NO_WAY,
		   v == TOPO_NVIDIA ? "use NVIDIA's open kernel module, on Linux 5.12 or newer"
				    : "boot a kernel with CONFIG_PCI_P2PDMA and "
				      "CONFIG_DMABUF_MOVE_NOTIFY, 5.12 or newer");
}

void gdr_driver(struct gdr *r)
{
	struct driver_path w = { 0 };

	check_vendor(r, TOPO_NVIDIA);
	check_vendor(r, TOPO_AMD);
	if (!has_vendor(r, TOPO_OTHER))
		return;
	(void)kernel_has_it(r, &w);
	add_driver_finding(r, "dmabuf", &w, NULL);
	add_remedy(r, NO_WAY, "boot Linux 5.12 or newer");
}
