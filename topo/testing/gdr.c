/* SPDX-License-Identifier: Apache-2.0 */
/* Builds a machine on which GPUDirect RDMA works, with its files in a folder of the test. */
#include "topo/testing/gdr.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "topo/core/machine_build.h"
#include "topo/core/pci_switch.h"

#define ROOT "/mnt"
#define PATH 256

/* ---- files ---- */

static void make_folders(char *path)
{
	for (char *at = path + 1; (at = strchr(at, '/')); at++) {
		*at = '\0';
		(void)mkdir(path, 0755);
		*at = '/';
	}
}

static char *full(const char *path, char out[PATH])
{
	ck_assert_int_lt(snprintf(out, PATH, ROOT "/%s", path), PATH);
	make_folders(out);
	return out;
}

static void put(const char *path, const void *bytes, size_t len)
{
	char out[PATH];
	auto_fd int fd = open(full(path, out), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, len), (ssize_t)len);
}

void gdr_test_file(const char *path, const char *text)
{
	char out[PATH];

	if (text)
		put(path, text, strlen(text));
	else
		ck_assert_int_eq(remove(full(path, out)), 0);
}

void gdr_test_link(const char *path, const char *target)
{
	char out[PATH];

	ck_assert_int_eq(symlink(target, full(path, out)), 0);
}

const char *gdr_test_path(const struct gdr_test *w, uint32_t pci, const char *name)
{
	static char path[PATH];
	char bdf[PCI_STR_LEN];

	(void)snprintf(path, sizeof(path), "sys/bus/pci/devices/%s/%s",
		       pci_format(w->m.pci[pci].addr, bdf), name);
	return path;
}

/* ---- configuration space ---- */

static void put16(uint8_t *p, unsigned v)
{
	p[0] = (uint8_t)v;
	p[1] = (uint8_t)(v >> 8);
}

void gdr_test_config(const struct gdr_test *w, uint32_t pci, struct gdr_test_config k, size_t len)
{
	uint8_t c[PCI_CONFIG_MAX] = { 0 };

	put16(c, 0x10de);
	put16(c + 0x06, 0x10);
	c[0x34] = 0x60;
	put16(c + 0x60, 0x0010);
	put16(c + 0x62, 2U | (unsigned)k.type << 4);
	c[0x64] = 1;
	put16(c + 0x68, (unsigned)k.mps << 5 | (unsigned)k.mrrs << 12 | (k.unordered ? 0 : 0x10));
	put16(c + 0x100, 0x0001);
	put16(c + 0x102, 0x1481);
	put16(c + 0x148, k.acs == 0xffff ? 0x0003 : 0x000d);
	put16(c + 0x14a, 0x1601);
	put16(c + 0x14c, 0x5f);
	put16(c + 0x14e, k.acs == 0xffff ? 0 : k.acs);
	put16(c + 0x160, 0x000f);
	put16(c + 0x162, 0x0001);
	put16(c + 0x166, k.ats ? 0x8000 : 0);
	put(gdr_test_path(w, pci, "config"), c, len);
}

/* ---- the machine ---- */

static uint32_t add(struct gdr_test *w, const char *bdf, uint32_t parent, enum topo_kind kind)
{
	struct pci_addr a;
	struct err e;
	uint32_t i;

	ck_assert_int_eq(pci_parse(bdf, &a), 0);
	ck_assert_int_eq(topo_add_pci(&w->m, a, &i, &e), 0);
	w->m.pci[i].parent = parent;
	w->m.pci[i].root = 0;
	w->m.pci[i].kind = kind;
	w->m.pci[i].numa = 0;
	w->m.pci[i].max = w->m.pci[i].cur = (struct topo_pcie_link){ .speed = 120, .width = 16 };
	gdr_test_config(w, i, (struct gdr_test_config){ .type = 0, .mps = 1, .mrrs = 5 }, 4096);
	return i;
}

static void add_tree(struct gdr_test *w)
{
	struct err e;
	uint32_t i;

	ck_assert_int_eq(topo_add_cpu(&w->m, 0, &i, &e), 0);
	ck_assert_int_eq(topo_add_root(&w->m, "pci0000:20", &i, &e), 0);
	w->m.root[i].cpu = 0;
	w->root_port = add(w, "0000:20:00.0", TOPO_NONE, TOPO_ROOT_PORT);
	w->upstream = add(w, "0000:21:00.0", w->root_port, TOPO_UPSTREAM);
	w->gpu_port = add(w, "0000:22:00.0", w->upstream, TOPO_DOWNSTREAM);
	w->nic_port = add(w, "0000:22:01.0", w->upstream, TOPO_DOWNSTREAM);
	w->gpu = add(w, "0000:23:00.0", w->gpu_port, TOPO_ENDPOINT);
	w->nic = add(w, "0000:24:00.0", w->nic_port, TOPO_ENDPOINT);
}

static void add_devices(struct gdr_test *w)
{
	struct err e;
	uint32_t i;

	ck_assert_int_eq(topo_add_gpu(&w->m, w->gpu, &i, &e), 0);
	w->m.gpu[i].vendor = TOPO_NVIDIA;
	ck_assert_int_eq(topo_add_hca(&w->m, "mlx5_0", &i, &e), 0);
	w->m.hca[i].pci = w->nic;
	ck_assert_int_eq(topo_add_port(&w->m.hca[i], 1, &e), 0);
	w->m.hca[i].port[0].active = TOPO_YES;
	w->m.hca[i].port[0].rate_mbps = 200000;
	w->c = (struct topo_choice){ .gpu = &w->choice, .n_gpus = 1, .n_hcas = 1 };
	w->choice = (struct topo_gpu_choice){ .nearest = w->nearest, .n_nearest = 1 };
}

static void add_files(struct gdr_test *w)
{
	gdr_test_file("proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu\n");
	gdr_test_file("proc/cmdline", "root=/dev/sda1 quiet\n");
	gdr_test_file("proc/sys/kernel/osrelease", "6.12.0-1-amd64\n");
	gdr_test_file("proc/driver/nvidia/version",
		      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  570.1\n");
	gdr_test_file("sys/module/nvidia_peermem/version", "570.1\n");
	gdr_test_file("sys/kernel/iommu_groups/7/type", "identity\n");
	gdr_test_file(gdr_test_path(w, w->gpu, "resource"),
		      "0x00000000a0000000 0x00000000a0ffffff 0x0000000000040200\n"
		      "0x0000380000000000 0x0000381fffffffff 0x000000000014220c\n");
	gdr_test_link(gdr_test_path(w, w->gpu, "iommu_group"), "../../../../kernel/iommu_groups/7");
	gdr_test_link(gdr_test_path(w, w->nic, "iommu_group"), "../../../../kernel/iommu_groups/7");
}

void gdr_test_make(struct gdr_test *w)
{
	(void)testing_dir();
	*w = (struct gdr_test){
		.dirs = { .sysfs = ROOT "/sys", .proc = ROOT "/proc", .boot = ROOT "/boot" }
	};
	w->m.source = TOPO_LIVE;
	w->m.vm = TOPO_NO;
	w->m.full_config = true;
	add_tree(w);
	add_devices(w);
	add_files(w);
	topo_number_chips(&w->m);
}

/* ---- asking ---- */

const struct finding *gdr_test_find(const struct gdr_findings *f, const char *id, uint32_t gpu,
				    uint32_t hca)
{
	for (size_t i = 0; i < f->all.n; i++)
		if (!strcmp(f->all.item[i].id, id) && f->all.item[i].of[GDR_OF_GPU] == gpu &&
		    f->all.item[i].of[GDR_OF_HCA] == hca)
			return &f->all.item[i];
	return NULL;
}

enum finding_state gdr_test_state(const struct gdr_test *w, const char *id)
{
	auto_gdr_findings struct gdr_findings f = { 0 };
	const struct finding *x = gdr_test_look(w, id, &f);

	ck_assert_msg(x, "there is no %s", id);
	return x->state;
}

bool gdr_test_has(const struct gdr_test *w, const char *id)
{
	auto_gdr_findings struct gdr_findings f = { 0 };

	return gdr_test_look(w, id, &f);
}

const struct finding *gdr_test_look(const struct gdr_test *w, const char *id,
				    struct gdr_findings *f)
{
	struct err e = { 0 };

	if (w) {
		gdr_findings_clear(f);
		ck_assert_msg(gdr_check(&w->m, &w->c, &w->dirs, f, &e) == 0, "%s", e.msg);
	}
	for (size_t i = 0; i < f->all.n; i++)
		if (!strcmp(f->all.item[i].id, id))
			return &f->all.item[i];
	return NULL;
}
