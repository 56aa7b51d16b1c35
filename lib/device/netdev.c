/* SPDX-License-Identifier: Apache-2.0 */
/* netdev.c: which network interface and which RDMA device belong to a PCI function. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/device/pci_priv.h"
#include "lib/sys/fs.h"

/* A PF in switchdev mode has an interface for each VF and each subfunction. */
#define ENTRIES_MAX 16384

/* The names in a folder of a function. A function without such a folder has none. */
static int list_entries(int dir, const char *folder, struct fs_names *out, struct err *e)
{
	struct err why;

	if (fs_names_at(dir, folder, ENTRIES_MAX, out, &why) == 0 || why.errnum == ENOENT)
		return 0;
	return err_pass(e, &why);
}

/* Most drivers have no such name: EOPNOTSUPP. With any other errno it is about to vanish. */
static bool stands_for_pf(int dir, const char *ifname)
{
	char path[sizeof("net//phys_port_name") + IFNAME_LEN], port[PCI_ATTR_LEN];
	struct err why;

	(void)snprintf(path, sizeof(path), "net/%s/phys_port_name", ifname);
	if (pci_attr(dir, path, port, &why) == 0)
		return pci_port_of_pf(port);
	return why.errnum == EOPNOTSUPP || why.errnum == ENOENT;
}

/* The interface number `skip` of those that stand for the PF. */
static int pf_netdev(const char *root, const char *pf, size_t skip, char out[IFNAME_LEN],
		     struct err *e)
{
	auto_fs_names struct fs_names all = { .n = 0 };
	auto_fd int dir = pci_open(root, pf, e);
	size_t found = 0;

	if (dir < 0)
		return -1;
	if (list_entries(dir, "net", &all, e))
		return err_wrap(e, "PCI function %s", pf);
	for (size_t i = 0; i < all.n; i++) {
		if (strlen(all.name[i]) < IFNAME_LEN && stands_for_pf(dir, all.name[i]) &&
		    found++ == skip) {
			memcpy(out, all.name[i], strlen(all.name[i]) + 1);
			return 0;
		}
	}
	return pci_absent(e, ENOENT, "PCI function %s has no %s here", pf,
			  skip ? "second network interface" : "network interface");
}

int pci_pf_netdev(const char *root, const char *pf, char out[IFNAME_LEN], struct err *e)
{
	return pf_netdev(root, pf, 0, out, e);
}

int pci_pf_netdev_second(const char *root, const char *pf, char out[IFNAME_LEN], struct err *e)
{
	return pf_netdev(root, pf, 1, out, e);
}

struct device_kind {
	const char *folder, *noun;
	size_t size; /* limit of a name, with NUL; longer names are skipped */
};

/* The first device of that kind, or ERR_NOTFOUND. */
static int first_entry(const char *root, const char *addr, struct device_kind kind, char *out,
		       struct err *e)
{
	auto_fs_names struct fs_names all = { .n = 0 };
	auto_fd int dir = pci_open(root, addr, e);

	if (dir < 0)
		return -1;
	if (list_entries(dir, kind.folder, &all, e))
		return err_wrap(e, "PCI function %s", addr);
	for (size_t i = 0; i < all.n; i++) {
		if (strlen(all.name[i]) < kind.size) {
			memcpy(out, all.name[i], strlen(all.name[i]) + 1);
			return 0;
		}
	}
	return pci_absent(e, ENOENT, "PCI function %s has no %s device here", addr, kind.noun);
}

int pci_vf_netdev(const char *root, const char *vf, char out[IFNAME_LEN], struct err *e)
{
	const struct device_kind net = { "net", "network", IFNAME_LEN };

	return first_entry(root, vf, net, out, e);
}

int pci_rdma_device(const char *root, const char *addr, char out[PCI_RDMA_LEN], struct err *e)
{
	const struct device_kind rdma = { "infiniband", "RDMA", PCI_RDMA_LEN };

	return first_entry(root, addr, rdma, out, e);
}
