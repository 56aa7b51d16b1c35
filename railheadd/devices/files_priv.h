/* SPDX-License-Identifier: Apache-2.0 */
/*
 * files_priv.h: the files of /dev of a function, and the files that tell others about a device. For
 * railheadd/devices only.
 */
#ifndef RAILHEAD_RAILHEADD_DEVICES_FILES_PRIV_H
#define RAILHEAD_RAILHEADD_DEVICES_FILES_PRIV_H

#include <limits.h>

#include "railheadd/devices/conf.h"
#include "railheadd/devices/files.h"

#define VFIO_PATH  "/dev/vfio/vfio"
#define VHOST_PATH "/dev/vhost-net"
#define TUN_PATH   "/dev/net/tun"

/*
 * files_of_function - those of a device that is a PCI function. rdma: of files_open_rdma().
 * ERR_NOTFOUND: it is gone; ERR_STATE: it has no RDMA device here, which its resource needs.
 */
int files_of_function(const struct ctx *ctx, struct nl *rdma, const struct resource_device *d,
		      struct device_files *out, struct err *e) must_check;

/* files_each - call fn with each path; non-zero ends it and is returned. Pure. */
typedef int (*files_fn)(const char *path, void *arg);
int files_each(const struct device_files *f, files_fn fn, void *arg);

/* ---- device-information files and CDI files, beside ctx->run_dir ---- */

#define DEVINFO_DIR "k8s.cni.cncf.io/devinfo/dp"
#define CDI_ALL     "all" /* the only CDI device of a shared resource */

/* cdi_kind - "example.com/net-rail0". Pure. */
void cdi_kind(const char *resource, char out[RESOURCE_NAME_LEN + 8]);

/* devinfo_put - write the device-information file of d, unless it says the same already. */
int devinfo_put(const struct ctx *ctx, const char *resource, const struct resource_device *d,
		const struct device_files *f, struct err *e) must_check;

/*
 * cdi_put - write the CDI file of one CDI device, with the files f[0] to f[n - 1]; as above.
 * cdi_has_files - runtimes refuse a CDI device without files, so it gets no CDI file. Pure.
 */
struct cdi_device {
	const char *resource, *device;
	const struct device_files *f;
	size_t n;
};
bool cdi_has_files(const struct cdi_device *c);
int cdi_put(const struct ctx *ctx, const struct cdi_device *c, struct err *e) must_check;

#endif
