// SPDX-License-Identifier: Apache-2.0
/* Unpacks or builds trees of /sys, and prints a machine as text to compare two of them. */
#include "topo/testing/tree.h"

#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/base/array.h"
#include "lib/testing/testing.h"
#include "lib/testing/dir.h"
#include "topo/read/read.h"

#define PATH 1024

static char *join(char out[PATH], const char *fmt, ...) printf_like(2, 3);
static char *join(char out[PATH], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ck_assert_int_lt(vsnprintf(out, PATH, fmt, ap), PATH);
	va_end(ap);
	return out;
}

const char *tree_unpack(const char *name)
{
	static char top[PATH];
	const char *dir = testing_dir();
	char command[PATH];

	(void)snprintf(command, sizeof(command),
		       "mkdir %s/t && tar -x -C %s/t -f \"$(ls topo/testdata/sysfs/%s.tar.*)\"",
		       dir, dir, name);
	ck_assert_int_eq(system(command), 0);
	(void)join(command, "find %s/t -maxdepth 2 -name sys -printf %%h >%s/top", dir, dir);
	ck_assert_int_eq(system(command), 0);
	(void)join(command, "%s/top", dir);
	FILE *f = fopen(command, "re");
	ck_assert_ptr_nonnull(f);
	if (!fgets(top, sizeof(top), f))
		(void)join(top, "%s/t", dir);
	(void)fclose(f);
	return top;
}

const char *tree_made(const char *name)
{
	static char top[PATH];
	char command[PATH * 2];

	(void)join(top, "%s/made-%s", testing_dir(), name);
	(void)snprintf(command, sizeof(command),
		       "topo/testdata/made/make.sh topo/testdata/made/%s.txt %s", name, top);
	ck_assert_int_eq(system(command), 0);
	return top;
}

static void make_above(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		ck_assert(mkdir(path, 0755) == 0 || errno == EEXIST);
		*slash = '/';
	}
}

static char *full(const char *root, const char *path, char out[PATH])
{
	make_above(join(out, "%s/%s", root, path));
	return out;
}

void tree_put(const char *root, const char *path, const char *text)
{
	char name[PATH];

	testing_file(full(root, path, name), 0644, text);
}

void tree_ln(const char *root, const char *path, const char *target)
{
	char name[PATH];

	(void)full(root, path, name);
	ck_assert(unlink(name) == 0 || errno == ENOENT);
	ck_assert_int_eq(symlink(target, name), 0);
}

static const char *last(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void put_in(const char *root, const char *path, const char *name, const char *text)
{
	char file[PATH];

	(void)join(file, "devices/%s/%s", path, name);
	tree_put(root, file, text);
}

static void put_hex(const char *root, const char *path, const char *name, uint32_t value)
{
	char text[16];

	(void)snprintf(text, sizeof(text), strcmp(name, "class") ? "0x%04x\n" : "0x%06x\n", value);
	put_in(root, path, name, text);
}

static void ln_to(const char *root, const char *folder, const char *path, const char *up)
{
	char name[PATH], target[PATH];

	(void)join(name, "%s/%s", folder, last(path));
	(void)join(target, "%s/devices/%s", up, path);
	tree_ln(root, name, target);
}

void tree_add(const char *root, const struct tree_fn *f)
{
	char text[16];

	put_hex(root, f->path, "class", f->class_code);
	put_hex(root, f->path, "vendor", f->vendor);
	put_hex(root, f->path, "device", f->device);
	(void)snprintf(text, sizeof(text), "%d\n", f->numa);
	put_in(root, f->path, "numa_node", text);
	if (f->speed) {
		put_in(root, f->path, "max_link_speed", f->speed);
		put_in(root, f->path, "current_link_speed", f->speed);
		(void)snprintf(text, sizeof(text), "%d\n", f->width);
		put_in(root, f->path, "max_link_width", text);
		put_in(root, f->path, "current_link_width", text);
	}
	ln_to(root, "bus/pci/devices", f->path, "../../..");
}

void tree_add_hca(const char *root, const char *path, const char *name, uint64_t guid)
{
	char at[PATH], text[32];

	(void)join(at, "%s/infiniband/%s", path, name);
	(void)snprintf(text, sizeof(text), "%04x:%04x:%04x:%04x\n", (unsigned)(guid >> 48) & 0xffff,
		       (unsigned)(guid >> 32) & 0xffff, (unsigned)(guid >> 16) & 0xffff,
		       (unsigned)guid & 0xffff);
	put_in(root, at, "sys_image_guid", text);
	put_in(root, at, "ports/1/state", "4: ACTIVE\n");
	put_in(root, at, "ports/1/rate", "400 Gb/sec (4X NDR)\n");
	put_in(root, at, "ports/1/link_layer", "Ethernet\n");
	ln_to(root, "class/infiniband", at, "../..");
}

void tree_add_netdev(const char *root, const char *path, const char *name, int dev_port)
{
	char at[PATH], text[16];

	(void)join(at, "%s/net/%s", path, name);
	(void)snprintf(text, sizeof(text), "%d\n", dev_port);
	put_in(root, at, "dev_port", text);
	ln_to(root, "class/net", at, "../..");
}

void tree_add_vfs(const char *root, const char *path, unsigned n, const char *stem)
{
	char at[PATH], text[PATH], target[PATH];
	const char *pf = last(path);

	for (unsigned i = 0; i < n; i++) {
		unsigned id = i + 2;
		(void)join(at, "%.*s%.8s%02x.%u", (int)(pf - path), path, pf, id / 8, id % 8);
		put_hex(root, at, "class", 0x020000);
		ln_to(root, "bus/pci/devices", at, "../../..");
		(void)join(text, "devices/%s/physfn", at);
		(void)join(target, "../%s", pf);
		tree_ln(root, text, target);
		(void)join(text, "%s%u", stem ? stem : "", i);
		if (stem)
			tree_add_hca(root, at, text, 0);
	}
}

void tree_reverse(const char *root, const char *folder)
{
	struct link {
		char name[256], target[PATH];
	} *link = NULL;
	char path[PATH];
	struct dirent *entry;
	size_t n = 0;

	(void)join(path, "%s/%s", root, folder);
	DIR *d = opendir(path);
	ck_assert_ptr_nonnull(d);
	while ((entry = readdir(d))) {
		struct err e;

		ck_assert_int_eq(ARRAY_GROW(link, n, 65536, "links", &e), 0);
		ssize_t len = readlinkat(dirfd(d), entry->d_name, link[n].target, PATH - 1);
		if (len < 0)
			continue;
		link[n].target[len] = '\0';
		(void)snprintf(link[n++].name, sizeof(link->name), "%s", entry->d_name);
	}
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(unlinkat(dirfd(d), link[i].name, 0), 0);
	for (size_t i = 0; i < n; i++)
		ck_assert_int_eq(symlinkat(link[i].target, dirfd(d), link[i].name), 0);
	(void)closedir(d);
	free(link);
}

void tree_machine(const char *dir, struct topo_machine *out)
{
	char sysfs[PATH], proc[PATH];
	struct err e = { 0 };

	(void)join(sysfs, "%s/sys", dir);
	(void)join(proc, "%s/proc", dir);
	if (topo_read_sysfs(sysfs, proc, NULL, out, &e))
		ck_abort_msg("%s: %s", dir, e.msg);
}

static void dump_pci(FILE *f, const struct topo_machine *m, const struct topo_pci *p)
{
	char addr[PCI_STR_LEN];

	(void)fprintf(f, "%s %s %d %d %d %d %06x %04x:%04x %04x:%04x", pci_format(p->addr, addr),
		      m->root[p->root].name, (int)p->parent, (int)p->physfn, p->kind, p->is_vf,
		      p->class_code, p->vendor, p->device, p->sub_vendor, p->sub_device);
	(void)fprintf(f, " numa %d max %u x%u cur %u x%u %d chip %d\n", p->numa, p->max.speed,
		      p->max.width, p->cur.speed, p->cur.width, p->one_end, (int)p->chip);
}

static void dump_hca(FILE *f, const struct topo_hca *h)
{
	(void)fprintf(f, "%s %d at %d %d %d card %u guid %llx", h->name, h->kind, (int)h->pci,
		      (int)h->second, (int)h->cpu, h->card, (unsigned long long)h->guid);
	for (size_t i = 0; i < h->n_ports; i++)
		(void)fprintf(f, " port %u %d %d %u %s", h->port[i].port, h->port[i].active,
			      h->port[i].layer, h->port[i].rate_mbps, h->port[i].netdev);
	(void)fprintf(f, "\n");
}

char *tree_dump(const struct topo_machine *m)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	ck_assert_ptr_nonnull(f);
	(void)fprintf(f, "vm %d hyperv %d\n", m->vm, m->hyperv);
	for (size_t i = 0; i < m->n_cpus; i++)
		(void)fprintf(f, "node %d %s %s %s %d %d\n", m->cpu[i].numa, m->cpu[i].affinity,
			      m->cpu[i].arch, m->cpu[i].vendor, m->cpu[i].family, m->cpu[i].model);
	for (size_t i = 0; i < m->n_roots; i++)
		(void)fprintf(f, "%s %u\n", m->root[i].name, m->root[i].cpu);
	for (size_t i = 0; i < m->n_pci; i++)
		dump_pci(f, m, &m->pci[i]);
	for (size_t i = 0; i < m->n_gpus; i++)
		(void)fprintf(f, "GPU %d %u %d %d\n", m->gpu[i].index, m->gpu[i].pci,
			      m->gpu[i].vendor, m->gpu[i].on_package);
	for (size_t i = 0; i < m->n_hcas; i++)
		dump_hca(f, &m->hca[i]);
	for (size_t i = 0; i < m->n_notes; i++)
		(void)fprintf(f, "note %s\n", m->note[i]);
	(void)fclose(f);
	return text;
}
