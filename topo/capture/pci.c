// SPDX-License-Identifier: Apache-2.0
/* Captures PCI functions: all of them by class, and more files of those that matter. */
#include <fcntl.h>
#include <string.h>

#include "topo/capture/priv.h"
#include "topo/read/pcicap.h"

#define DEVICES    "bus/pci/devices"
#define CAP_SERIAL 0x0003 /* PCI Express base specification 7.9.3 */

static const char *const identity[] = {
	"class", "vendor", "device", "subsystem_vendor", "subsystem_device", "numa_node", NULL
};
static const char *const link_files[] = { "max_link_speed", "max_link_width", "current_link_speed",
					  "current_link_width", NULL };
static const char *const more[] = { "resource",         "resource0_resize",    "resource1_resize",
				    "resource2_resize", "mem_info_vram_total", "sriov_numvfs",
				    "sriov_offset",     "sriov_stride",        NULL };

/* Bridges, network controllers and accelerators; for others a few files are enough. */
static bool pci_is_wanted(const struct topo_pci *p)
{
	switch (p->class_code >> 16) {
	case 0x02:
	case 0x03:
	case 0x0b:
	case 0x12:
		return true;
	default:
		return p->class_code >> 8 == 0x0604 || p->class_code >> 8 == 0x0c06 ||
		       p->class_code >> 8 == 0x0801;
	}
}

/* The serial number becomes 0. */
static void hide_serial(uint8_t *config, size_t len)
{
	size_t at;

	if (pcicap_find_ext((struct pci_config){ config, len }, CAP_SERIAL, &at) == PCICAP_FOUND &&
	    at + 12 <= len)
		memset(config + at + 4, 0, 8);
}

static void keep_config(struct capture *c, int dir, const char *prefix)
{
	char path[TREE_PATH + 16];
	auto_fd int fd = openat(dir, "config", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, c->value, 4096);

	if (n < 0 || snprintf(path, sizeof(path), "%s/config", prefix) >= (int)sizeof(path))
		return;
	hide_serial((uint8_t *)c->value, (size_t)n);
	tar_file(&c->tar, path, c->value, (size_t)n);
	c->sum.short_config |= n == 64;
}

/* A VPD has serial numbers: only what tree_vpd_is_nvswitch() looks for is kept. */
static void keep_vpd(struct capture *c, int dir, const char *prefix)
{
	static const char mark[] = "SMDL=SW_MNG";
	char path[TREE_PATH + 16];

	if (tree_vpd_is_nvswitch(dir) == TOPO_YES &&
	    snprintf(path, sizeof(path), "%s/vpd", prefix) < (int)sizeof(path))
		tar_file(&c->tar, path, mark, sizeof(mark) - 1);
}

static void keep_vf_links(struct capture *c, int dir, const char *prefix)
{
	char name[32];
	int n = 0;

	(void)tree_number(dir, "sriov_numvfs", &n);
	for (int i = 0; i < n && i < 65536; i++) {
		(void)snprintf(name, sizeof(name), "virtfn%d", i);
		keep_link(c, dir, prefix, name);
	}
}

static void keep_function(struct capture *c, uint32_t pci, const char *path)
{
	char prefix[TREE_PATH + 8];
	auto_fd int dir = tree_open(c->t.fd, path);

	if (dir < 0)
		return;
	(void)snprintf(prefix, sizeof(prefix), "sys/%s", path);
	tar_dir(&c->tar, prefix);
	keep_files(c, dir, prefix, identity);
	keep_link(c, dir, prefix, "physfn");
	keep_link(c, dir, prefix, "driver");
	keep_link(c, dir, prefix, "iommu_group");
	if (c->m.pci[pci].parent != TOPO_NONE && !c->m.pci[pci].is_vf)
		keep_files(c, dir, prefix, link_files);
	if (!pci_is_wanted(&c->m.pci[pci]))
		return;
	if (c->m.pci[pci].parent == TOPO_NONE)
		keep_files(c, dir, prefix, link_files);
	keep_config(c, dir, prefix);
	if (c->m.pci[pci].is_vf)
		return;
	keep_files(c, dir, prefix, more);
	if (c->m.pci[pci].vendor == 0x15b3 && c->m.pci[pci].class_code >> 16 == 0x02)
		keep_vpd(c, dir, prefix);
	keep_vf_links(c, dir, prefix);
}

/* A function and those above it, which bus/pci/devices may not have. */
static void keep_path(struct capture *c, const char *path, bool *kept)
{
	char part[TREE_PATH];
	size_t len = strlen(path);

	for (size_t i = 1; len < sizeof(part) && i <= len; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		struct pci_addr a;
		uint32_t pci = tree_is_function(tree_last_name(part), &a) ? tree_find(&c->t, a)
									  : TOPO_NONE;
		if (pci == TOPO_NONE || kept[pci])
			continue;
		kept[pci] = true;
		keep_function(c, pci, part);
	}
}

int capture_functions(struct capture *c, struct err *e)
{
	auto_fs_names struct fs_names paths = { .n = 0 };
	auto_fd int dir = tree_open(c->t.fd, DEVICES);

	if (tree_list(&c->t, &paths, e) || tree_functions(&c->t, &paths, e) || tree_index(&c->t, e))
		return -1;
	auto_free bool *kept = calloc(c->m.n_pci + 1, sizeof(*kept));
	if (!kept)
		return err_nomem(e);
	tar_dir(&c->tar, "sys/" DEVICES);
	for (size_t i = 0; i < paths.n; i++) {
		keep_path(c, paths.name[i], kept);
		if (dir >= 0)
			keep_link(c, dir, "sys/" DEVICES, tree_last_name(paths.name[i]).p);
	}
	return 0;
}
