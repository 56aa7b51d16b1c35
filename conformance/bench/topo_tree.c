/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topo_tree.c: a machine of the size of a DGX as files: what the kernel would show of it.
 *
 * usage: topo_tree DIR GPUS HCAS VFS
 * It writes DIR/sys and DIR/proc. The machine has two sockets. Below each root complex is a switch
 * with a GPU, an HCA and a disk. Further HCAs have root ports of their own. The VFs are divided
 * among the HCAs; each has an RDMA device and an interface. The processors have 100 functions.
 */
#include "conformance/bench/bench.h"

#include <stdarg.h>
#include <sys/stat.h>

enum { NOISE = 100, CPUS = 16 };

static void make_above(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		if (mkdir(path, 0755) && errno != EEXIST)
			fail(path);
		*slash = '/';
	}
}

static void put_bytes(const char *folder, const char *name, const void *data, size_t len)
{
	char path[1024];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	make_above(path);
	FILE *f = fopen(path, "we");
	if (!f || fwrite(data, 1, len, f) != len || fclose(f))
		fail(path);
}

__attribute__((format(printf, 3, 4))) static void put(const char *folder, const char *name,
						      const char *fmt, ...)
{
	char text[1024];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	put_bytes(folder, name, text, (size_t)n);
}

__attribute__((format(printf, 2, 3))) static void put_link(const char *target, const char *fmt, ...)
{
	char path[1024];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	make_above(path);
	if (symlink(target, path))
		fail(path);
}

struct function {
	const char *at; /* below devices/, the last component its address */
	unsigned class_code, vendor, device, sub_vendor, sub_device;
	int numa;
	unsigned type; /* of its PCI Express capability */
};

/* A header, and the one capability that tells what kind of port it is. */
static void put_config(const char *folder, const struct function *f)
{
	uint8_t b[4096] = { 0 };

	b[0] = (uint8_t)f->vendor;
	b[1] = (uint8_t)(f->vendor >> 8);
	b[2] = (uint8_t)f->device;
	b[3] = (uint8_t)(f->device >> 8);
	b[0x06] = 0x10;
	b[0x0a] = (uint8_t)(f->class_code >> 8);
	b[0x0b] = (uint8_t)(f->class_code >> 16);
	b[0x0e] = f->class_code >> 8 == 0x0604;
	b[0x34] = 0x40;
	b[0x40] = 0x10;
	b[0x42] = (uint8_t)(f->type << 4 | 2);
	put_bytes(folder, "config", b, sizeof(b));
}

static const char *address(const char *at)
{
	return strrchr(at, '/') + 1;
}

static void function(const char *dir, const struct function *f)
{
	char folder[512], target[512];
	const char *speed = f->type == 9 ? "8.0 GT/s PCIe\n" : "32.0 GT/s PCIe\n";

	snprintf(folder, sizeof(folder), "%s/sys/devices/%s", dir, f->at);
	put(folder, "class", "0x%06x\n", f->class_code);
	put(folder, "vendor", "0x%04x\n", f->vendor);
	put(folder, "device", "0x%04x\n", f->device);
	put(folder, "subsystem_vendor", "0x%04x\n", f->sub_vendor);
	put(folder, "subsystem_device", "0x%04x\n", f->sub_device);
	put(folder, "revision", "0x00\n");
	put(folder, "numa_node", "%d\n", f->numa);
	put(folder, "local_cpus", f->numa ? "ff00\n" : "00ff\n");
	put(folder, "local_cpulist", f->numa ? "8-15\n" : "0-7\n");
	put(folder, "max_link_speed", "%s", speed);
	put(folder, "max_link_width", "16\n");
	put(folder, "current_link_speed", "%s", speed);
	put(folder, "current_link_width", "16\n");
	put_config(folder, f);
	snprintf(target, sizeof(target), "../../../devices/%s", f->at);
	put_link(target, "%s/sys/bus/pci/devices/%s", dir, address(f->at));
}

static void hca(const char *dir, const char *at, unsigned n)
{
	char folder[512], target[512];

	snprintf(folder, sizeof(folder), "%s/sys/devices/%s/infiniband/mlx5_%u", dir, at, n);
	put(folder, "node_guid", "0c42:a103:00f7:%04x\n", n);
	put(folder, "sys_image_guid", "0c42:a103:0000:%04x\n", n);
	put(folder, "ports/1/state", "4: ACTIVE\n");
	put(folder, "ports/1/rate", "400 Gb/sec (4X NDR)\n");
	put(folder, "ports/1/link_layer", "Ethernet\n");
	put(folder, "ports/1/gid_attrs/ndevs/0", "eth%u\n", n);
	snprintf(target, sizeof(target), "../../devices/%s/infiniband/mlx5_%u", at, n);
	put_link(target, "%s/sys/class/infiniband/mlx5_%u", dir, n);
	snprintf(folder, sizeof(folder), "%s/sys/devices/%s/net/eth%u", dir, at, n);
	put(folder, "dev_port", "0\n");
	put(folder, "address", "0c:42:a1:00:%02x:%02x\n", n >> 8, n & 255);
	snprintf(target, sizeof(target), "../../devices/%s/net/eth%u", at, n);
	put_link(target, "%s/sys/class/net/eth%u", dir, n);
}

struct machine {
	const char *dir;
	unsigned hcas, next; /* the number of the next RDMA device */
	unsigned vfs;        /* of each HCA */
};

/* As card() places them. */
static void put_sriov(const struct machine *m, const char *at)
{
	char folder[1024];

	snprintf(folder, sizeof(folder), "%s/sys/devices/%s", m->dir, at);
	put(folder, "sriov_numvfs", "%u\n", m->vfs);
	put(folder, "sriov_totalvfs", "%u\n", m->vfs);
	put(folder, "sriov_offset", "2\n");
	put(folder, "sriov_stride", "1\n");
}

/* An HCA at <above>/<domain>:<bus>:00.0 and its VFs, which go over to the next buses. */
static void card(struct machine *m, const char *above, unsigned domain, unsigned bus, int numa)
{
	char at[512], pf[32], link[64];

	snprintf(pf, sizeof(pf), "%04x:%02x:00.0", domain, bus);
	snprintf(at, sizeof(at), "%s/%s", above, pf);
	function(m->dir, &(struct function){ at, 0x020000, 0x15b3, 0x1021, 0x15b3, 0x23, numa, 0 });
	hca(m->dir, at, m->next++);
	put_sriov(m, at);
	for (unsigned i = 0; i < m->vfs; i++) {
		unsigned id = i + 2;
		char vf[32];
		snprintf(vf, sizeof(vf), "%04x:%02x:%02x.%u", domain, bus + id / 256, id / 8 % 32,
			 id % 8);
		snprintf(at, sizeof(at), "%s/%s", above, vf);
		function(m->dir,
			 &(struct function){ at, 0x020000, 0x15b3, 0x101e, 0x15b3, 0x23, numa, 0 });
		hca(m->dir, at, m->next++);
		snprintf(link, sizeof(link), "../%s", pf);
		put_link(link, "%s/sys/devices/%s/physfn", m->dir, at);
		snprintf(link, sizeof(link), "../%s", vf);
		put_link(link, "%s/sys/devices/%s/%s/virtfn%u", m->dir, above, pf, i);
	}
}

/* A port of the switch; what is below goes to `below`. */
static void port(struct machine *m, const char *up, unsigned domain, unsigned number,
		 char below[256])
{
	int numa = (int)(domain & 1);

	snprintf(below, 256, "%s/%04x:02:%02x.0", up, domain, number);
	function(m->dir,
		 &(struct function){ below, 0x060400, 0x1000, 0xc030, 0x1000, 0x1003, numa, 6 });
}

static void complex(struct machine *m, unsigned n, bool gpu, bool nic)
{
	char root[64], up[128], below[256], at[384];
	unsigned domain = n + 1;
	int numa = (int)(domain & 1);

	snprintf(root, sizeof(root), "pci%04x:00/%04x:00:01.0", domain, domain);
	function(m->dir, &(struct function){ root, 0x060400, 0x8086, 0x352a, 0x8086, 0, numa, 4 });
	if (!gpu) {
		card(m, root, domain, 0x10, numa);
		return;
	}
	snprintf(up, sizeof(up), "%s/%04x:01:00.0", root, domain);
	function(m->dir, &(struct function){ up, 0x060400, 0x1000, 0xc030, 0x1000, 0x72, numa, 5 });
	port(m, up, domain, 0, below);
	snprintf(at, sizeof(at), "%s/%04x:03:00.0", below, domain);
	function(m->dir,
		 &(struct function){ at, 0x030200, 0x10de, 0x2330, 0x10de, 0x16c1, numa, 0 });
	port(m, up, domain, 4, below);
	snprintf(at, sizeof(at), "%s/%04x:04:00.0", below, domain);
	function(m->dir, &(struct function){ at, 0x010802, 0x144d, 0xa824, 0x144d, 0, numa, 0 });
	port(m, up, domain, 8, below);
	if (nic)
		card(m, below, domain, 0x10, numa);
}

static void processors(const char *dir)
{
	char folder[256], text[8192];
	size_t len = 0;

	snprintf(folder, sizeof(folder), "%s/sys/devices/system", dir);
	put(folder, "cpu/online", "0-%d\n", CPUS - 1);
	put(folder, "node/online", "0-1\n");
	put(folder, "node/node0/cpumap", "00ff\n");
	put(folder, "node/node1/cpumap", "ff00\n");
	put(folder, "node/node0/distance", "10 20\n");
	put(folder, "node/node1/distance", "20 10\n");
	put(folder, "node/node0/meminfo", "Node 0 MemTotal: 1048576 kB\n");
	put(folder, "node/node1/meminfo", "Node 1 MemTotal: 1048576 kB\n");
	for (int i = 0; i < CPUS; i++) {
		snprintf(folder, sizeof(folder), "%s/sys/devices/system/cpu/cpu%d", dir, i);
		put(folder, "online", "1\n");
		put(folder, "topology/core_id", "%d\n", i % 8);
		put(folder, "topology/physical_package_id", "%d\n", i / 8);
		put(folder, "topology/core_cpus", "%04x\n", 1U << i);
		put(folder, "topology/thread_siblings", "%04x\n", 1U << i);
		put(folder, "topology/package_cpus", "%s\n", i < 8 ? "00ff" : "ff00");
		put(folder, "topology/core_siblings", "%s\n", i < 8 ? "00ff" : "ff00");
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"processor\t: %d\nvendor_id\t: GenuineIntel\n"
					"cpu family\t: 6\nmodel\t\t: 143\nphysical id\t: %d\n"
					"core id\t\t: %d\nflags\t\t: fpu\n\n",
					i, i / 8, i % 8);
	}
	snprintf(folder, sizeof(folder), "%s/proc", dir);
	put_bytes(folder, "cpuinfo", text, len);
	put(folder, "meminfo", "MemTotal: 2097152 kB\n");
}

int main(int argc, char **argv)
{
	if (argc != 5) {
		fprintf(stderr, "usage: topo_tree DIR GPUS HCAS VFS\n");
		return 2;
	}
	unsigned gpus = (unsigned)strtoul(argv[2], NULL, 10),
		 hcas = (unsigned)strtoul(argv[3], NULL, 10);
	struct machine m = { argv[1], hcas, 0,
			     hcas ? (unsigned)strtoul(argv[4], NULL, 10) / hcas : 0 };
	unsigned more = hcas ? (unsigned)strtoul(argv[4], NULL, 10) % hcas : 0, each = m.vfs;

	processors(argv[1]);
	for (unsigned i = 0; i < NOISE; i++) {
		char at[64];
		snprintf(at, sizeof(at), "pci0000:00/0000:00:%02x.%u", i / 8, i % 8);
		function(argv[1],
			 &(struct function){ at, 0x088000, 0x8086, 0x324c, 0x8086, 0, 0, 9 });
	}
	for (unsigned i = 0; i < (gpus > hcas ? gpus : hcas); i++) {
		m.vfs = each + (i < more);
		complex(&m, i, i < gpus, i < hcas);
	}
	return 0;
}
