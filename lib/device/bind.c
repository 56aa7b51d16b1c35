/* SPDX-License-Identifier: Apache-2.0 */
/* bind.c: binds a PCI function to a driver, and puts the old driver back after a failure. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/device/pci_priv.h"
#include "lib/device/sysfs.h"

/* The text of driver_override when there is none; an empty line removes one. */
#define NO_OVERRIDE "(null)"

struct binding {
	const char *root;
	char addr[PCI_STR_LEN];
	const char *wanted; /* NULL: the kernel's choice */
	char driver[PCI_DRIVER_LEN], override[PCI_ATTR_LEN];
	pci_write_fn write;
};

static int write_to(const struct binding *b, const char *path, const char *value, struct err *e)
{
	if (b->write(b->root, path, value, e) == 0)
		return 0;
	e->code = ERR_KERNEL;
	return -1;
}

static int set_override(const struct binding *b, const char *driver, struct err *e)
{
	char path[128];
	bool none = !driver || !strcmp(driver, NO_OVERRIDE);

	(void)snprintf(path, sizeof(path), PCI_DEVICES "/%s/driver_override", b->addr);
	return write_to(b, path, none ? "\n" : driver, e);
}

/* If another program has unbound it meanwhile, nothing is left to do. */
static int unbind_driver(const struct binding *b, struct err *e)
{
	char path[128];
	struct err why;

	if (!*b->driver)
		return 0;
	(void)snprintf(path, sizeof(path), "bus/pci/drivers/%s/unbind", b->driver);
	if (write_to(b, path, b->addr, &why) == 0 || why.errnum == ENODEV)
		return 0;
	return err_pass(e, &why);
}

static int probe_driver(const struct binding *b, struct err *e)
{
	return write_to(b, "bus/pci/drivers_probe", b->addr, e);
}

static int read_binding(struct binding *b, struct err *e)
{
	struct err why;
	auto_fd int dir = pci_open(b->root, b->addr, e);

	if (dir < 0 || pci_driver(b->root, b->addr, b->driver, e))
		return -1;
	if (pci_attr(dir, "driver_override", b->override, &why) == 0)
		return 0;
	*e = why;
	return err_wrap(e, "PCI function %s", b->addr);
}

bool pci_driver_is_stub(const char *driver)
{
	return strstr(driver, "vfio") || strstr(driver, "uio") || strstr(driver, "stub") ||
	       strstr(driver, "pciback");
}

static bool as_wanted(const struct binding *b)
{
	if (b->wanted)
		return !strcmp(b->driver, b->wanted);
	return *b->driver && !pci_driver_is_stub(b->driver) &&
	       (!*b->override || !strcmp(b->override, NO_OVERRIDE));
}

/* Looked at before anything is touched: a device should not lose its driver for nothing. */
static int have_driver(const struct binding *b, struct err *e)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof(path), "%s/bus/pci/drivers/%s", b->root, b->wanted);

	if (n < 0 || (size_t)n >= sizeof(path))
		return err_set(e, ERR_IO, ENAMETOOLONG, "%.64s...", b->root);
	if (faccessat(AT_FDCWD, path, F_OK, 0) == 0)
		return 0;
	err_set(e, ERR_KERNEL, errno, "bind %s to driver %s", b->addr, b->wanted);
	return err_hint(e, "this kernel has no such driver: modprobe %s", b->wanted);
}

static int bind_explain_failure(const struct binding *b, const struct err *why, struct err *e)
{
	const char *wanted = b->wanted ? b->wanted : "of the kernel's choice";

	if (*b->driver)
		err_set(e, ERR_KERNEL, why->errnum, "bind %s to driver %s: it is bound to %s",
			b->addr, wanted, b->driver);
	else
		err_set(e, ERR_KERNEL, why->errnum, "bind %s to driver %s: no driver took it",
			b->addr, wanted);
	if (!b->wanted)
		return err_hint(e, "its module may not be loaded, or the PF's "
				   "sriov_drivers_autoprobe is 0");
	if (strstr(b->wanted, "vfio"))
		(void)err_hint(e, "vfio needs an IOMMU (intel_iommu=on or amd_iommu=on)");
	return err_hint(e, "see the kernel's log for what driver %s said", b->wanted);
}

static int bind_rebind(const struct binding *was, struct err *e)
{
	struct binding now = *was;
	struct err why = { 0 };

	if (set_override(was, was->wanted, e))
		return err_wrap(e, "bind %s to another driver", was->addr);
	if (unbind_driver(was, e)) {
		(void)set_override(was, was->override, &why);
		return err_wrap(e, "bind %s to another driver", was->addr);
	}
	/* It may fail, and it may succeed and have bound nothing: what counts is what is then. */
	if (probe_driver(was, &why) == 0)
		why.errnum = 0;
	if (read_binding(&now, e))
		return -1;
	if (as_wanted(&now))
		return 0;
	/* Best effort: give the driver of before back, as a function without driver is of no use.
	 */
	if (set_override(was, was->override, e) == 0 && *was->driver)
		(void)probe_driver(was, e);
	return bind_explain_failure(&now, &why, e);
}

static int bind_start(struct binding *b, const char *addr, struct err *e)
{
	const char *driver = b->wanted;

	if (driver && (!*driver || strchr(driver, '/') || driver[0] == '.' ||
		       strlen(driver) >= PCI_DRIVER_LEN)) {
		err_set(e, ERR_FIELD, 0, "\"%.64s\" is not a name of a driver", driver);
		e->errnum = EINVAL;
		return -1;
	}
	return pci_canonical(addr, b->addr, e) || read_binding(b, e) ? -1 : 0;
}

int pci_bind_by(const char *root, const char *addr, const char *driver, pci_write_fn write,
		struct err *e)
{
	struct binding b = { .root = root, .wanted = driver, .write = write };

	if (bind_start(&b, addr, e))
		return -1;
	if (as_wanted(&b))
		return 0;
	if (driver && have_driver(&b, e))
		return -1;
	return bind_rebind(&b, e);
}

int pci_bind(const char *root, const char *addr, const char *driver, struct err *e)
{
	return pci_bind_by(root, addr, driver, sysfs_write, e);
}

int pci_rebind_by(const char *root, const char *addr, const char *driver, pci_write_fn write,
		  struct err *e)
{
	struct binding b = { .root = root, .wanted = driver, .write = write }, now;
	struct err why = { .errnum = 0 };
	char path[128];

	if (bind_start(&b, addr, e))
		return -1;
	now = b;
	if (have_driver(&b, e) || unbind_driver(&b, e))
		return err_wrap(e, "bind %s to driver %s again", b.addr, driver);
	(void)snprintf(path, sizeof(path), "bus/pci/drivers/%s/bind", driver);
	/* Another program may have bound it meanwhile. The driver that it has then is what counts.
	 */
	if (write_to(&b, path, b.addr, &why) == 0)
		why.errnum = 0;
	if (read_binding(&now, e))
		return -1;
	return as_wanted(&now) ? 0 : bind_explain_failure(&now, &why, e);
}

int pci_rebind(const char *root, const char *addr, const char *driver, struct err *e)
{
	return pci_rebind_by(root, addr, driver, sysfs_write, e);
}
