/* SPDX-License-Identifier: Apache-2.0 */
/* pci.c: writes a folder like /sys with PCI functions, drivers, interfaces and VFs. */
#include "lib/testing/pci.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>

#include "lib/testing/testing.h"
#include "lib/testing/dir.h"

struct path {
	char text[PATH_MAX];
};

static struct path printf_like(1, 2) path(const char *fmt, ...)
{
	struct path p;
	va_list ap;

	va_start(ap, fmt);
	ck_assert_int_lt(vsnprintf(p.text, sizeof(p.text), fmt, ap), (int)sizeof(p.text));
	va_end(ap);
	return p;
}

static struct path of_function(const char *root, const char *addr, const char *name)
{
	return path("%s/devices/pci/%s/%s", root, addr, name);
}

/* All folders of which a path consists, but for the last component. */
static void make_folders(const char *file)
{
	struct path p = path("%s", file);

	for (char *s = p.text + 1; (s = strchr(s, '/')); s++) {
		*s = '\0';
		ck_assert(mkdir(p.text, 0700) == 0 || errno == EEXIST);
		*s = '/';
	}
}

static void put_link(const char *at, const char *target)
{
	make_folders(at);
	ck_assert(unlink(at) == 0 || errno == ENOENT);
	if (target)
		ck_assert_int_eq(symlink(target, at), 0);
}

void fakepci_file(const char *root, const char *addr, const char *name, const char *text)
{
	struct path p = of_function(root, addr, name);

	make_folders(p.text);
	ck_assert(unlink(p.text) == 0 || errno == ENOENT);
	if (text)
		testing_file(p.text, 0600, text);
}

void fakepci_link(const char *root, const char *addr, const char *name, const char *target)
{
	put_link(of_function(root, addr, name).text, target);
}

void fakepci_function(const char *root, const char *addr)
{
	fakepci_file(root, addr, "vendor", "0x8086\n");
	fakepci_file(root, addr, "device", "0x10c9\n");
	fakepci_file(root, addr, "class", "0x020000\n");
	fakepci_file(root, addr, "numa_node", "1\n");
	fakepci_file(root, addr, "driver_override", "(null)\n");
	put_link(path("%s/bus/pci/devices/%s", root, addr).text,
		 path("../../../devices/pci/%s", addr).text);
}

void fakepci_driver(const char *root, const char *addr, const char *driver)
{
	if (!driver) {
		fakepci_link(root, addr, "driver", NULL);
		return;
	}
	make_folders(path("%s/bus/pci/drivers/%s/", root, driver).text);
	fakepci_link(root, addr, "driver", path("../../../bus/pci/drivers/%s", driver).text);
}

void fakepci_netdev(const char *root, const char *addr, const char *ifname, const char *port)
{
	struct path folder = path("net/%s", ifname);

	fakepci_file(root, addr, path("%s/phys_port_name", folder.text).text, port);
	fakepci_link(root, addr, path("%s/device", folder.text).text,
		     path("../../../%s", addr).text);
	put_link(path("%s/class/net/%s", root, ifname).text,
		 path("../../devices/pci/%s/%s", addr, folder.text).text);
}

char *fakepci_vf_addr(const char *pf, struct fakepci_vfs v, uint32_t n, char out[PCI_STR_LEN])
{
	struct pci_addr a;

	ck_assert_int_eq(pci_parse(pf, &a), 0);

	uint32_t id = ((uint32_t)a.bus << 8) + a.dev * 8U + a.fn + v.offset + n * v.stride;

	ck_assert_uint_le(id, UINT16_MAX);
	a.bus = (uint8_t)(id >> 8);
	a.dev = id >> 3 & 31;
	a.fn = id & 7;
	return pci_format(a, out);
}

void fakepci_vfs(const char *root, const char *pf, struct fakepci_vfs v)
{
	char vf[PCI_STR_LEN];

	fakepci_file(root, pf, "sriov_numvfs", path("%u\n", v.num).text);
	fakepci_file(root, pf, "sriov_totalvfs", path("%u\n", v.total).text);
	fakepci_file(root, pf, "sriov_offset", path("%u\n", v.offset).text);
	fakepci_file(root, pf, "sriov_stride", path("%u\n", v.stride).text);
	for (uint32_t n = 0; n < v.num; n++) {
		fakepci_function(root, fakepci_vf_addr(pf, v, n, vf));
		fakepci_link(root, vf, "physfn", path("../%s", pf).text);
		fakepci_link(root, pf, path("virtfn%u", n).text, path("../%s", vf).text);
	}
}
