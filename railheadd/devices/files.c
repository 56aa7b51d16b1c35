/* SPDX-License-Identifier: Apache-2.0 */
/* files.c: finds the files of /dev that a container needs to use a device. */
#include "railheadd/devices/files_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/device/sysfs.h"
#include "lib/sys/fs.h"
#include "lib/sys/safe_path.h"

#define DEVICES    "bus/pci/devices"
#define VFIO_DIR   "/dev/vfio"
#define RDMA_DIR   "/dev/infiniband"
#define RDMA_LOADS "load ib_uverbs and the RDMA driver of the card"

/* ---- RDMA ---- */

int files_open_rdma(struct nl **out, struct err *e)
{
	struct err why;

	if (nl_rdma_open(out, &why) == 0)
		return 0;
	if (why.code == ERR_NOTFOUND) {
		*out = NULL;
		return 0;
	}
	return err_pass(e, &why);
}

static void put_rdma_path(const struct rdma_chardev *c, char out[DEV_PATH_LEN])
{
	if (*c->name)
		(void)snprintf(out, DEV_PATH_LEN, RDMA_DIR "/%s", c->name);
}

static int read_chardevs(struct nl *nl, const struct rdma_link *d, struct device_files *f,
			 struct err *e)
{
	struct rdma_chardevs c;
	struct rdma_chardev one;
	uint32_t ports = d->ports < RDMA_PORTS_MAX ? d->ports : RDMA_PORTS_MAX;

	if (rdma_chardevs_read(nl, d, &c, e) ||
	    rdma_chardev_find(nl, (struct rdma_chardev_of){ .type = "rdma_cm", .global = true },
			      &one, e))
		return -1;
	put_rdma_path(&one, f->rdma_cm);
	put_rdma_path(&c.uverbs, f->uverbs);
	for (uint32_t i = 0; i < ports; i++) {
		struct rdma_chardev_of issm = { "issm", false, d->index, i + 1 };

		put_rdma_path(&c.umad[i], f->umad[i]);
		if (rdma_chardev_find(nl, issm, &one, e))
			return -1;
		put_rdma_path(&one, f->issm[i]);
	}
	(void)snprintf(f->rdma, sizeof(f->rdma), "%s", d->name);
	if (*f->uverbs)
		return 0;
	err_set(e, ERR_STATE, 0, "RDMA device %s has no file uverbs", d->name);
	return err_hint(e, RDMA_LOADS);
}

static int files_no_rdma(const char *what, struct err *e)
{
	err_set(e, ERR_STATE, 0, "%s has no RDMA device on the host", what);
	return err_hint(e,
			"its last pod may have it still, or the driver is not loaded: " RDMA_LOADS
			"; railctl rdma list shows the devices");
}

static int read_rdma(const struct ctx *ctx, struct nl *nl, const char *addr, struct device_files *f,
		     struct err *e)
{
	struct rdma_link d;
	struct err why;

	if (!nl)
		return files_no_rdma(addr, e);
	if (rdma_of_bus(ctx->sysfs, nl, addr, &d, &why) == 0)
		return read_chardevs(nl, &d, f, e);
	if (why.code == ERR_NOTFOUND && why.errnum == ENOENT)
		return files_no_rdma(addr, e);
	return err_pass(e, &why);
}

int files_of_hca(const struct ctx *ctx, struct nl *rdma, const struct resource_hca *h,
		 struct device_files *out, struct err *e)
{
	struct device_files f = { .rdma = "" };
	struct rdma_link d;

	if (*h->addr) {
		if (read_rdma(ctx, rdma, h->addr, &f, e))
			return -1;
	} else if (!rdma) {
		return files_no_rdma(h->name, e);
	} else if (nl_rdma_by_name(rdma, h->name, &d, e) || read_chardevs(rdma, &d, &f, e)) {
		return err_wrap(e, "RDMA device %s", h->name);
	}
	*out = f;
	return 0;
}

/* ---- drivers of user space ---- */

/* A group without an IOMMU has another path (drivers/vfio/group.c). */
static int read_vfio(const struct ctx *ctx, const char *addr, struct device_files *f, struct err *e)
{
	char path[64], name[64], group[PCI_GROUP_LEN];
	struct err ignored;

	if (pci_iommu_group(ctx->sysfs, addr, group, e)) {
		if (e->errnum != ENOENT || e->code == ERR_NOTFOUND)
			return -1;
		err_set(e, ERR_STATE, 0, "%s has the driver vfio-pci but no IOMMU group", addr);
		return err_hint(e, "enable the IOMMU in the firmware and on the kernel's command "
				   "line");
	}
	(void)snprintf(path, sizeof(path), "kernel/iommu_groups/%s/name", group);
	bool no_iommu = sysfs_read(ctx->sysfs, path, name, sizeof(name), &ignored) == 0 &&
			strcmp(name, "vfio-noiommu") == 0;
	(void)snprintf(f->vfio, sizeof(f->vfio), VFIO_DIR "/%s%s", no_iommu ? "noiommu-" : "",
		       group);
	return 0;
}

static int read_uio(const struct ctx *ctx, const char *addr, struct device_files *f, struct err *e)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	char path[PATH_MAX];

	(void)snprintf(path, sizeof(path), "%.1024s/" DEVICES "/%s/uio", ctx->sysfs, addr);
	if (fs_names_at(AT_FDCWD, path, FS_NAMES_MAX, &names, e))
		return err_wrap(e, "%s has no uio device", addr);
	if (names.n)
		(void)snprintf(f->uio, sizeof(f->uio), "/dev/%.32s", names.name[0]);
	return 0;
}

int files_of_function(const struct ctx *ctx, struct nl *rdma, const struct resource_device *d,
		      struct device_files *out, struct err *e)
{
	struct device_files f = { .vhost = d->vhost };
	char driver[PCI_DRIVER_LEN];

	if (pci_driver(ctx->sysfs, d->id, driver, e) ||
	    (d->rdma && read_rdma(ctx, rdma, d->id, &f, e)) ||
	    (strcmp(driver, "vfio-pci") == 0 && read_vfio(ctx, d->id, &f, e)) ||
	    (strstr(driver, "uio") && read_uio(ctx, d->id, &f, e)))
		return -1;
	*out = f;
	return 0;
}

/* ---- all paths ---- */

int files_each(const struct device_files *f, files_fn fn, void *arg)
{
	const char *path[DEV_FILES + 8];
	size_t n = 0;
	int rc = 0;

	path[n++] = f->uverbs;
	for (size_t i = 0; i < RDMA_PORTS_MAX; i++) {
		path[n++] = f->umad[i];
		path[n++] = f->issm[i];
	}
	path[n++] = f->rdma_cm;
	path[n++] = *f->vfio ? VFIO_PATH : "";
	path[n++] = f->vfio;
	path[n++] = f->uio;
	path[n++] = f->vhost ? VHOST_PATH : "";
	path[n++] = f->vhost ? TUN_PATH : "";
	for (size_t i = 0; rc == 0 && i < n; i++) {
		if (*path[i])
			rc = fn(path[i], arg);
	}
	return rc;
}

/* ---- folders ---- */

static void files_path_beside(const struct ctx *ctx, const char *name, char out[PATH_MAX])
{
	const char *slash = strrchr(ctx->run_dir, '/');
	int above = slash ? (int)(slash - ctx->run_dir) : 0;

	(void)snprintf(out, PATH_MAX, "%.*s/%s", above, ctx->run_dir, name);
}

int files_open_beside(const struct ctx *ctx, const char *name, bool create, struct err *e)
{
	char path[PATH_MAX];

	files_path_beside(ctx, name, path);
	return safe_open_dir(path, SAFE_OWNED | (create ? SAFE_CREATE : 0), e);
}

bool files_beside_is_gone(const struct ctx *ctx, const char *name, const struct err *why)
{
	char path[PATH_MAX];

	files_path_beside(ctx, name, path);
	return fs_is_gone(AT_FDCWD, path, why);
}

int files_put_noticed(int dir, const char *name, const char *text, struct err *e)
{
	bool is_new = faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0;

	/* A new file is linked into place, and the second one renamed. */
	return fs_replace_at(dir, name, text, false, e) ||
			       (is_new && fs_replace_at(dir, name, text, false, e))
		       ? -1
		       : 0;
}
