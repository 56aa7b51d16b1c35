/* SPDX-License-Identifier: Apache-2.0 */
/* pci.c: reads a PCI function in sysfs: ids, driver, root, PF. */
#include "lib/device/pci.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/device/pci_priv.h"
#include "lib/device/sysfs.h"

#define LINK_MAX_BYTE 1024 /* targets are paths of devices behind devices behind bridges */

/* ---- what the others stand on ---- */

int pci_absent(struct err *e, int errnum, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err_set(e, ERR_NOTFOUND, 0, "%s", text);
	e->errnum = errnum;
	return -1;
}

int pci_canonical(const char *addr, char out[PCI_STR_LEN], struct err *e)
{
	struct pci_addr a;

	if (pci_parse(addr, &a)) {
		err_set(e, ERR_FIELD, 0, "\"%.32s\" is not a PCI address (like 0000:3b:00.1)",
			addr);
		e->errnum = EINVAL;
		return -1;
	}
	pci_format(a, out);
	return 0;
}

static int open_below(const char *root, const char *folder, const char *name, struct err *e)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/%s/%s", root, folder, name);

	if (n < 0 || (size_t)n >= sizeof(path))
		return err_set(e, ERR_IO, ENAMETOOLONG, "%.64s...", root);

	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open %s", path);
	return fd;
}

int pci_open(const char *root, const char *addr, struct err *e)
{
	char name[PCI_STR_LEN];
	struct err why;

	if (pci_canonical(addr, name, e))
		return -1;

	int fd = open_below(root, PCI_DEVICES, name, &why);

	if (fd >= 0)
		return fd;
	if (why.errnum == ENOENT)
		return pci_absent(e, ENOENT, "there is no PCI function %s", name);
	return err_pass(e, &why);
}

/* O_NONBLOCK: whatever stands there must not hold us up. */
int pci_attr(int dir, const char *name, char out[PCI_ATTR_LEN], struct err *e)
{
	char text[PCI_ATTR_LEN];
	auto_fd int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open %s", name);
	if (sysfs_read_fd(fd, text, sizeof(text)))
		return err_set(e, ERR_IO, errno == EILSEQ ? EFBIG : errno, "read %s", name);
	memcpy(out, text, strlen(text) + 1);
	return 0;
}

static int no_number(const char *name, const char *text, struct err *e)
{
	return err_set(e, ERR_IO, EBADMSG, "%s holds \"%s\"", name, text);
}

int pci_attr_u32(int dir, const char *name, uint32_t max, uint32_t *out, struct err *e)
{
	char text[PCI_ATTR_LEN];
	uint64_t v;

	if (pci_attr(dir, name, text, e))
		return -1;
	if (parse_u64(text, 0, max, &v))
		return no_number(name, text, e);
	*out = (uint32_t)v;
	return 0;
}

/* The last component of what a link points to. */
static int last_of_link(int dir, const char *name, char *out, size_t size, struct err *e)
{
	char target[LINK_MAX_BYTE];
	ssize_t n = readlinkat(dir, name, target, sizeof(target));

	if (n < 0)
		return err_set(e, ERR_IO, errno, "read link %s", name);
	if ((size_t)n == sizeof(target))
		return err_set(e, ERR_IO, ENAMETOOLONG, "read link %s", name);
	target[n] = '\0';

	const char *slash = strrchr(target, '/'), *last = slash ? slash + 1 : target;
	size_t len = strlen(last);

	if (len >= size)
		return err_set(e, ERR_IO, ENAMETOOLONG, "link %s to %s", name, last);
	if (!len || !strcmp(last, ".") || !strcmp(last, ".."))
		return err_set(e, ERR_IO, EBADMSG, "link %s to %s", name, target);
	memcpy(out, last, len + 1);
	return 0;
}

int pci_link_addr(int dir, const char *name, char out[PCI_STR_LEN], struct err *e)
{
	char target[PCI_STR_LEN];
	struct pci_addr a;

	if (last_of_link(dir, name, target, sizeof(target), e))
		return -1;
	if (pci_parse(target, &a))
		return err_set(e, ERR_IO, EBADMSG, "link %s to %s", name, target);
	pci_format(a, out);
	return 0;
}

/* ---- one function ---- */

static int driver_of(int dir, char out[PCI_DRIVER_LEN], struct err *e)
{
	struct err why;

	if (last_of_link(dir, "driver", out, PCI_DRIVER_LEN, &why) == 0)
		return 0;
	if (why.errnum == ENOENT) {
		out[0] = '\0';
		return 0;
	}
	return err_pass(e, &why);
}

static int attr_hex(int dir, const char *name, uint32_t max, uint32_t *out, struct err *e)
{
	char text[PCI_ATTR_LEN];

	if (pci_attr(dir, name, text, e))
		return -1;
	if (pci_parse_hex(text, max, out))
		return no_number(name, text, e);
	return 0;
}

/* A kernel without NUMA has no such file. */
static int numa_node(int dir, int *out, struct err *e)
{
	char text[PCI_ATTR_LEN];
	uint64_t v;
	struct err why;

	if (pci_attr(dir, "numa_node", text, &why)) {
		*out = -1;
		if (why.errnum == ENOENT)
			return 0;
		return err_pass(e, &why);
	}
	if (!strcmp(text, "-1")) {
		*out = -1;
		return 0;
	}
	if (parse_u64(text, 0, INT_MAX, &v))
		return no_number("numa_node", text, e);
	*out = (int)v;
	return 0;
}

static int read_info(int dir, struct pci_info *info, struct err *e)
{
	uint32_t vendor, device;

	if (attr_hex(dir, "vendor", UINT16_MAX, &vendor, e) ||
	    attr_hex(dir, "device", UINT16_MAX, &device, e) ||
	    attr_hex(dir, "class", 0xffffff, &info->class_code, e) ||
	    numa_node(dir, &info->numa_node, e) || driver_of(dir, info->driver, e))
		return -1;
	info->vendor = (uint16_t)vendor;
	info->device = (uint16_t)device;
	return 0;
}

int pci_read(const char *root, const char *addr, struct pci_info *out, struct err *e)
{
	struct pci_info info;
	auto_fd int dir = pci_open(root, addr, e);

	if (dir < 0)
		return -1;
	if (read_info(dir, &info, e))
		return err_wrap(e, "PCI function %s", addr);
	*out = info;
	return 0;
}

int pci_iommu_group(const char *root, const char *addr, char out[PCI_GROUP_LEN], struct err *e)
{
	auto_fd int dir = pci_open(root, addr, e);

	return dir < 0 ? -1 : last_of_link(dir, "iommu_group", out, PCI_GROUP_LEN, e);
}

int pci_driver(const char *root, const char *addr, char out[PCI_DRIVER_LEN], struct err *e)
{
	auto_fd int dir = pci_open(root, addr, e);

	if (dir < 0)
		return -1;
	if (driver_of(dir, out, e))
		return err_wrap(e, "PCI function %s", addr);
	return 0;
}

int pci_root(const char *root, const char *addr, char out[PCI_ROOT_LEN], struct err *e)
{
	static const char devices[] = "/devices/";
	char name[PCI_STR_LEN], path[PATH_MAX], target[LINK_MAX_BYTE];

	if (pci_canonical(addr, name, e))
		return -1;
	(void)snprintf(path, sizeof(path), "%.1024s/" PCI_DEVICES "/%s", root, name);
	ssize_t n = readlink(path, target, sizeof(target) - 1);
	if (n < 0 && errno == ENOENT)
		return pci_absent(e, ENOENT, "there is no PCI function %s", name);
	if (n < 0)
		return err_set(e, ERR_IO, errno, "read link %s", path);
	target[n] = '\0';
	const char *first = strstr(target, devices);
	size_t len = first ? strcspn(first + strlen(devices), "/") : 0;
	if (!len || len >= PCI_ROOT_LEN)
		return err_set(e, ERR_IO, EBADMSG, "PCI function %s is in \"%.64s\"", name, target);
	(void)snprintf(out, PCI_ROOT_LEN, "%.*s", (int)len, first + strlen(devices));
	return 0;
}

int pci_physfn(const char *root, const char *vf, char out[PCI_STR_LEN], struct err *e)
{
	struct err why;
	auto_fd int dir = pci_open(root, vf, e);

	if (dir < 0)
		return -1;
	if (pci_link_addr(dir, "physfn", out, &why) == 0)
		return 0;
	if (why.errnum == ENOENT)
		return pci_absent(e, EINVAL, "PCI function %s is not a virtual function", vf);
	*e = why;
	return err_wrap(e, "PCI function %s", vf);
}

int pci_of_netdev(const char *root, const char *ifname, char out[PCI_STR_LEN], struct err *e)
{
	struct err why;

	if (ifname_problem(ifname))
		return pci_absent(e, ENOENT, "there is no interface \"%.32s\"", ifname);

	auto_fd int dir = open_below(root, "class/net", ifname, &why);

	if (dir >= 0 && pci_link_addr(dir, "device", out, &why) == 0)
		return 0;
	if (dir < 0 && why.errnum == ENOENT)
		return pci_absent(e, ENOENT, "there is no interface \"%s\" here", ifname);
	/* Links to devices of other buses have other names, and may be longer. */
	if (dir >= 0 &&
	    (why.errnum == ENOENT || why.errnum == EBADMSG || why.errnum == ENAMETOOLONG))
		return pci_absent(e, ENOENT, "interface \"%s\" is not a PCI device", ifname);
	*e = why;
	return err_wrap(e, "interface \"%s\"", ifname);
}
