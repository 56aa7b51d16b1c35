/* SPDX-License-Identifier: Apache-2.0 */
/* sriov.c: finds the VFs of a PF, and sets how many there are. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/device/pci_priv.h"
#include "lib/device/sysfs.h"

/* ---- numbers and addresses of VFs ---- */

static int link_of(int dir, uint32_t n, char out[PCI_STR_LEN], struct err *e)
{
	char name[sizeof("virtfn4294967295")];

	(void)snprintf(name, sizeof(name), "virtfn%u", n);
	return pci_link_addr(dir, name, out, e);
}

static bool is_vf(int dir, uint32_t n, const char *vf)
{
	char addr[PCI_STR_LEN];
	struct err ignored;

	return link_of(dir, n, addr, &ignored) == 0 && !strcmp(addr, vf);
}

/* The number that the PCIe header's layout gives it. */
static bool by_layout(int dir, const char *pf, const char *vf, uint32_t *out)
{
	struct pci_addr p, v;
	struct pci_layout l = { 0 };
	struct err ignored;

	return !pci_parse(pf, &p) && !pci_parse(vf, &v) &&
	       !pci_attr_u32(dir, "sriov_offset", PCI_VFS_MAX, &l.offset, &ignored) &&
	       !pci_attr_u32(dir, "sriov_stride", PCI_VFS_MAX, &l.stride, &ignored) &&
	       !pci_vf_number(p, v, l, out);
}

static int read_sriov(int dir, const char *pf, struct pci_sriov *s, struct err *e)
{
	struct err why;

	if (pci_attr_u32(dir, "sriov_totalvfs", PCI_VFS_MAX, &s->total, &why) == 0 &&
	    pci_attr_u32(dir, "sriov_numvfs", PCI_VFS_MAX, &s->num, &why) == 0)
		return 0;
	if (why.errnum == ENOENT)
		return pci_absent(e, EOPNOTSUPP, "PCI function %s has no SR-IOV", pf);
	*e = why;
	return err_wrap(e, "PCI function %s", pf);
}

static int search_vf(int dir, const char *pf, const char *vf, uint32_t *out, struct err *e)
{
	struct pci_sriov s;

	if (read_sriov(dir, pf, &s, e))
		return -1;
	for (uint32_t n = 0; n < s.num; n++) {
		if (is_vf(dir, n, vf)) {
			*out = n;
			return 0;
		}
	}
	return pci_absent(e, ENOENT, "PCI function %s is not a VF of %s", vf, pf);
}

int pci_vf_index(const char *root, const char *pf, const char *vf, uint32_t *out, struct err *e)
{
	char name[PCI_STR_LEN];
	uint32_t n;

	if (pci_canonical(vf, name, e))
		return -1;

	auto_fd int dir = pci_open(root, pf, e);

	if (dir < 0)
		return -1;
	if (!by_layout(dir, pf, name, &n) || !is_vf(dir, n, name))
		return search_vf(dir, pf, name, out, e);
	*out = n;
	return 0;
}

static int vf_addr(int dir, const char *pf, uint32_t n, char out[PCI_STR_LEN], struct err *e)
{
	struct err why;

	if (link_of(dir, n, out, &why) == 0)
		return 0;
	if (why.errnum == ENOENT)
		return pci_absent(e, ENOENT, "PCI function %s has no VF number %u", pf, n);
	*e = why;
	return err_wrap(e, "PCI function %s", pf);
}

int pci_vf_addr(const char *root, const char *pf, uint32_t n, char out[PCI_STR_LEN], struct err *e)
{
	auto_fd int dir = pci_open(root, pf, e);

	return dir < 0 ? -1 : vf_addr(dir, pf, n, out, e);
}

int pci_vf_each(const char *root, const char *pf, pci_vf_fn fn, void *arg, struct err *e)
{
	struct pci_sriov s;
	char vf[PCI_STR_LEN];
	auto_fd int dir = pci_open(root, pf, e);

	if (dir < 0 || read_sriov(dir, pf, &s, e))
		return -1;
	for (uint32_t n = 0; n < s.num; n++) {
		if (vf_addr(dir, pf, n, vf, e))
			return -1;
		if (fn(vf, arg))
			break;
	}
	return 0;
}

/* ---- how many ---- */

int pci_sriov(const char *root, const char *pf, struct pci_sriov *out, struct err *e)
{
	struct pci_sriov s;
	auto_fd int dir = pci_open(root, pf, e);

	if (dir < 0 || read_sriov(dir, pf, &s, e))
		return -1;
	*out = s;
	return 0;
}

static int explain_numvfs(const char *pf, uint32_t n, struct err *e)
{
	/* The file is there; what refuses is behind it. */
	e->code = ERR_KERNEL;
	switch (e->errnum) {
	case ENOENT:
		(void)err_hint(e, "no driver that makes VFs is bound to it");
		break;
	case EBUSY:
	case EPERM:
		(void)err_hint(e, "its VFs are in use, by virtual machines perhaps");
		break;
	case ENOMEM:
	case ENODEV:
	case EINVAL:
	case EIO:
		(void)err_hint(e, "firmware or bus numbers may set a limit, see the kernel's log; "
				  "SR-IOV must be enabled in the machine's and the card's setup");
		break;
	default:
		break;
	}
	return err_wrap(e, "make %u VFs of %s", n, pf);
}

static int write_numvfs(const char *root, const char *name, uint32_t n, pci_write_fn write,
			struct err *e)
{
	char path[sizeof(PCI_DEVICES "//sriov_numvfs") + PCI_STR_LEN];
	char text[sizeof("4294967295")];

	(void)snprintf(path, sizeof(path), PCI_DEVICES "/%s/sriov_numvfs", name);
	(void)snprintf(text, sizeof(text), "%u", n);
	if (write(root, path, text, e))
		return explain_numvfs(name, n, e);
	return 0;
}

int pci_set_numvfs_by(const char *root, const char *pf, uint32_t n, pci_write_fn write,
		      struct err *e)
{
	char name[PCI_STR_LEN];
	struct pci_sriov now, then;

	if (pci_sriov(root, pf, &now, e) || pci_canonical(pf, name, e))
		return -1;
	if (n > now.total) {
		err_set(e, ERR_KERNEL, ERANGE, "make %u VFs of %s", n, name);
		return err_hint(e, "it can have %u", now.total);
	}
	if (n == now.num)
		return 0;
	if (n && now.num && write_numvfs(root, name, 0, write, e))
		return -1;
	if (write_numvfs(root, name, n, write, e) || pci_sriov(root, pf, &then, e))
		return -1;
	/* The kernel accepts it when a driver makes fewer VFs than requested. */
	if (then.num != n) {
		err_set(e, ERR_KERNEL, 0, "make %u VFs of %s: there are %u", n, name, then.num);
		return err_hint(e, "the driver made fewer than it was asked for");
	}
	return 0;
}

int pci_set_numvfs(const char *root, const char *pf, uint32_t n, struct err *e)
{
	return pci_set_numvfs_by(root, pf, n, sysfs_write, e);
}
