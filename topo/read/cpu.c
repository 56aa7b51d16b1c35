// SPDX-License-Identifier: Apache-2.0
/* Reads the firmware, NUMA nodes and the processor, and finds the node of each root complex. */
#include <fcntl.h>
#include <string.h>

#include "topo/read/tree.h"

#define NODES     "devices/system/node"
#define NODES_MAX 1024
#define DMI       "devices/virtual/dmi/id"
#define HYPERV    "Hyper-V UEFI Release"

/* PCI vendors whose devices exist only in virtual machines: Red Hat (QEMU), virtio. */
#define VENDOR_QEMU   0x1b36
#define VENDOR_VIRTIO 0x1af4

struct processor {
	char arch[16], vendor[32];
	int family, model;
	enum topo_tristate vm;
};

static void copy_value(const char *value, char *out, size_t size)
{
	if (strlen(value) < size)
		memcpy(out, value, strlen(value) + 1);
}

static int cpu_take_number(const char *value)
{
	uint64_t n;

	return parse_u64(value, 0, INT32_MAX, &n) ? -1 : (int)n;
}

static bool has_word(const char *list, const char *word)
{
	struct slice rest = { list, strlen(list) }, part;

	while (slice_next(&rest, ' ', &part)) {
		if (slice_is(part, word))
			return true;
	}
	return false;
}

/*
 * The kernel adds the extended family of CPUID to the family 15. NCCL shifts it by four bits before
 * (ncclTopoGetXmlFromCpu of xml.cc). So AMD's family 25 is 175 to NCCL.
 */
static int nccl_family(int family)
{
	return family > 15 ? 15 + ((family - 15) << 4) : family;
}

/* A line of /proc/cpuinfo. Its keys differ by architecture, so that they identify it. */
static void cpu_take_line(struct processor *c, const char *key, const char *value)
{
	if (!strcmp(key, "vendor_id")) {
		copy_value(strncmp(value, "IBM/", 4) != 0 ? "x86_64" : "s390x", c->arch,
			   sizeof(c->arch));
		copy_value(value, c->vendor, sizeof(c->vendor));
	} else if (!strcmp(key, "cpu family")) {
		c->family = nccl_family(cpu_take_number(value));
	} else if (!strcmp(key, "model")) {
		c->model = cpu_take_number(value);
	} else if (!strcmp(key, "flags")) {
		c->vm = has_word(value, "hypervisor") ? TOPO_YES : TOPO_NO;
	} else if (!strcmp(key, "CPU implementer")) {
		copy_value("arm64", c->arch, sizeof(c->arch));
	} else if (!strcmp(key, "cpu") && !strncmp(value, "POWER", 5)) {
		copy_value("ppc64", c->arch, sizeof(c->arch));
	}
}

/* Read the first processor of /proc/cpuinfo; the others are equal. */
static void read_processor(const char *proc, struct processor *c)
{
	char text[16384], *line = text, *end;
	auto_fd int dir = proc ? open(proc, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	auto_fd int fd =
		dir < 0 ? -1
			: openat(dir, "cpuinfo", O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);

	*c = (struct processor){ .family = -1, .model = -1 };
	if (n <= 0)
		return;
	text[n] = '\0';
	/* "cpu family\t: 6"; an empty line ends a processor. */
	for (; (end = strchr(line, '\n')) && end > line; line = end + 1) {
		*end = '\0';
		char *colon = strchr(line, ':'), *key_end = colon;
		if (!colon)
			continue;
		while (key_end > line && (key_end[-1] == '\t' || key_end[-1] == ' '))
			key_end--;
		*key_end = '\0';
		cpu_take_line(c, line, colon + 1 + (colon[1] == ' '));
	}
}

static int add_cpu(struct tree *t, int numa, const struct processor *c, uint32_t *out,
		   struct err *e)
{
	if (topo_add_cpu(t->m, numa, out, e))
		return -1;
	struct topo_cpu *cpu = &t->m->cpu[*out];
	memcpy(cpu->arch, c->arch, sizeof(cpu->arch));
	memcpy(cpu->vendor, c->vendor, sizeof(cpu->vendor));
	cpu->family = c->family;
	cpu->model = c->model;
	return 0;
}

static int by_numa(const void *x, const void *y)
{
	const struct topo_cpu *a = x, *b = y;

	return (a->numa > b->numa) - (a->numa < b->numa);
}

/* devices/system/node/node0, ... */
static int cpu_add_nodes(struct tree *t, const struct processor *c, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	auto_fd int dir = tree_open(t->fd, NODES);
	uint64_t node;
	uint32_t cpu;

	if (dir < 0)
		return 0;
	if (tree_names(dir, 65536, &names, e))
		return -1;
	for (size_t i = 0; i < names.n; i++) {
		char map[TREE_VALUE];
		auto_fd int folder = -1;
		if (strncmp(names.name[i], "node", 4) != 0 ||
		    parse_u64(names.name[i] + 4, 0, NODES_MAX - 1, &node))
			continue;
		folder = tree_open(dir, names.name[i]);
		if (folder < 0)
			continue;
		if (add_cpu(t, (int)node, c, &cpu, e))
			return -1;
		if (!tree_value(folder, "cpumap", map))
			copy_value(map, t->m->cpu[cpu].affinity, sizeof(t->m->cpu[cpu].affinity));
	}
	if (t->m->n_cpus)
		qsort(t->m->cpu, t->m->n_cpus, sizeof(*t->m->cpu), by_numa);
	return 0;
}

/* A root complex has the NUMA node of the first function directly below it that has one. */
static int place_roots(struct tree *t, const struct processor *c, struct err *e)
{
	struct topo_machine *m = t->m;
	auto_free int *numa = calloc(m->n_roots + 1, sizeof(*numa));

	if (!numa)
		return err_nomem(e);
	memset(numa, 0xff, m->n_roots * sizeof(*numa));
	for (size_t i = m->n_pci; i-- > 0;) {
		if (m->pci[i].parent == TOPO_NONE && m->pci[i].numa >= 0)
			numa[m->pci[i].root] = m->pci[i].numa;
	}
	for (size_t i = 0; i < m->n_roots; i++) {
		uint32_t *cpu = &m->root[i].cpu;
		for (*cpu = 0; *cpu < m->n_cpus && m->cpu[*cpu].numa != numa[i];)
			(*cpu)++;
		if (*cpu == m->n_cpus && add_cpu(t, numa[i], c, cpu, e))
			return -1;
	}
	return 0;
}

int tree_roots(struct tree *t, struct err *e)
{
	const struct processor c = { .family = -1, .model = -1 };

	return place_roots(t, &c, e);
}

/*
 * By its firmware, as in ncclTopoComputePaths of RCCL's paths.cc: another firmware, and none at
 * all, are not Hyper-V's. A capture of before the file was kept has no folder for it.
 */
void tree_firmware(struct tree *t)
{
	char version[TREE_VALUE];
	auto_fd int dir = tree_open(t->fd, DMI);

	if (dir >= 0 && !tree_value(dir, "bios_version", version) &&
	    !strncmp(version, HYPERV, strlen(HYPERV)))
		t->m->hyperv = TOPO_YES;
	else if (dir >= 0 || t->m->source == TOPO_LIVE)
		t->m->hyperv = TOPO_NO;
}

int tree_cpus(struct tree *t, const char *proc, struct err *e)
{
	struct processor c;

	read_processor(proc, &c);
	t->m->vm = c.vm;
	for (size_t i = 0; i < t->m->n_pci && t->m->vm == TOPO_UNKNOWN; i++) {
		const struct topo_pci *p = &t->m->pci[i];
		if (p->has_ids && (p->vendor == VENDOR_QEMU || p->vendor == VENDOR_VIRTIO))
			t->m->vm = TOPO_YES;
	}
	return cpu_add_nodes(t, &c, e) || place_roots(t, &c, e) ? -1 : 0;
}
