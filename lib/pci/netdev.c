/* SPDX-License-Identifier: Apache-2.0 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/pci/pci_priv.h"

#define ENTRIES_MAX                                                                                \
	16384 /* a PF in switchdev mode has an interface for each VF and subfunction               \
	       */

struct entry {
	char name[PCI_ENTRY_LEN];
};

struct entries {
	struct entry *at; /* owned */
	size_t n;
};

static void entries_clear(struct entries *all)
{
	free(all->at);
}
#define auto_entries auto_clean(entries_clear)

static int add_entry(struct entries *all, const char *name, struct err *e)
{
	if (ARRAY_GROW(all->at, all->n, ENTRIES_MAX, "entries of a folder", e))
		return -1;
	(void)snprintf(all->at[all->n++].name, PCI_ENTRY_LEN, "%s", name);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct entry *)a)->name, ((const struct entry *)b)->name);
}

static void close_dir(DIR **d)
{
	if (*d)
		(void)closedir(*d);
}

/* Names of less than limit bytes; a longer one cannot be what is looked for. */
static int read_entries(DIR *d, size_t limit, struct entries *all, struct err *e)
{
	for (;;) {
		errno = 0;

		const struct dirent *de = readdir(d);

		if (!de && errno)
			return err_set(e, ERR_IO, errno, "list a folder");
		if (!de)
			break;
		if (de->d_name[0] != '.' && strlen(de->d_name) < limit &&
		    add_entry(all, de->d_name, e))
			return -1;
	}
	if (all->n)
		qsort(all->at, all->n, sizeof(*all->at), by_name);
	return 0;
}

/* A function without such a folder has none of them. */
static int list_entries(int dir, const char *folder, size_t limit, struct entries *all,
			struct err *e)
{
	auto_fd int fd = openat(dir, folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);

	if (fd < 0 && errno == ENOENT)
		return 0;
	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open %s", folder);

	auto_clean(close_dir) DIR *d = fdopendir(fd);

	if (!d)
		return errno == ENOMEM ? err_nomem(e)
				       : err_set(e, ERR_IO, errno, "open %s", folder);
	(void)TAKE_FD(fd);
	return read_entries(d, limit, all, e);
}

/* Most drivers have no such name: EOPNOTSUPP. With any other errno it is about to vanish. */
static bool stands_for_pf(int dir, const char *ifname)
{
	char path[sizeof("net//phys_port_name") + PCI_ENTRY_LEN], port[PCI_ATTR_LEN];
	struct err why;

	(void)snprintf(path, sizeof(path), "net/%s/phys_port_name", ifname);
	if (pci_attr(dir, path, port, &why) == 0)
		return pci_port_of_pf(port);
	return why.errnum == EOPNOTSUPP || why.errnum == ENOENT;
}

int pci_pf_netdev(const char *root, const char *pf, char out[IFNAME_LEN], struct err *e)
{
	auto_entries struct entries all = { 0 };
	auto_fd int dir = pci_open(root, pf, e);

	if (dir < 0)
		return -1;
	if (list_entries(dir, "net", IFNAME_LEN, &all, e))
		return err_wrap(e, "PCI function %s", pf);
	for (size_t i = 0; i < all.n; i++) {
		if (stands_for_pf(dir, all.at[i].name)) {
			memcpy(out, all.at[i].name, IFNAME_LEN);
			return 0;
		}
	}
	return pci_absent(e, ENOENT, "PCI function %s has no network interface here", pf);
}

/* The first in a folder, or ERR_NOTFOUND. */
static int first_entry(const char *root, const char *addr, const char *folder, struct entry *out,
		       struct err *e)
{
	auto_entries struct entries all = { 0 };
	auto_fd int dir = pci_open(root, addr, e);
	size_t limit = strcmp(folder, "net") == 0 ? IFNAME_LEN : PCI_ENTRY_LEN;

	if (dir < 0)
		return -1;
	if (list_entries(dir, folder, limit, &all, e))
		return err_wrap(e, "PCI function %s", addr);
	if (all.n == 0)
		return pci_absent(e, ENOENT, "PCI function %s has no %s device here", addr,
				  limit == IFNAME_LEN ? "network" : "RDMA");
	*out = all.at[0];
	return 0;
}

int pci_vf_netdev(const char *root, const char *vf, char out[IFNAME_LEN], struct err *e)
{
	struct entry one;

	if (first_entry(root, vf, "net", &one, e))
		return -1;
	memcpy(out, one.name, IFNAME_LEN);
	return 0;
}

_Static_assert(PCI_RDMA_LEN == PCI_ENTRY_LEN, "room for the name of an RDMA device");

int pci_rdma_device(const char *root, const char *addr, char out[PCI_RDMA_LEN], struct err *e)
{
	struct entry one;

	if (first_entry(root, addr, "infiniband", &one, e))
		return -1;
	memcpy(out, one.name, PCI_RDMA_LEN);
	return 0;
}
