/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devinfo.h: the device-information file of an attachment (NPWG device-info specification 1.1.0),
 * which Multus copies into the pod's network-status annotation.
 *
 * Its path comes from the runtime as runtimeConfig.CNIDeviceInfoFile, for plugins that declare the
 * capability of that name.
 */
#ifndef RAILHEAD_CNI_PROTOCOL_DEVINFO_H
#define RAILHEAD_CNI_PROTOCOL_DEVINFO_H

#include "cni/protocol/conf.h"

struct devinfo_pci {
	const char *address, *pf_address; /* PCI addresses; pf_address NULL: not a VF */
	const char *rdma_device;          /* NULL: none */
};

/*
 * devinfo_path - NULL when the runtime wants none. ERR_CONFIG unless it is below
 * /run/k8s.cni.cncf.io/devinfo (also written as /var/run/...), where the specification has it. The
 * calls below follow no link, and touch nothing that is not root's own.
 */
int devinfo_path(const struct cni_conf *conf, const char **out, struct err *e) must_check;

/*
 * devinfo_write - *made is false if the file exists. A device plugin knows more than we do, and
 * Multus copied its file there, so it stays unchanged.
 */
int devinfo_write(const char *path, const struct devinfo_pci *what, bool *made,
		  struct err *e) must_check;

/* devinfo_text - what the file says now, to be freed; NULL: there is none. */
int devinfo_text(const char *path, char **out, struct err *e) must_check;

/*
 * devinfo_set_rdma - add what->rdma_device to the file. An existing file keeps its other keys. A
 * file of another kind than "pci" is not changed. A missing file is made.
 * devinfo_restore - the inverse, with the earlier result of devinfo_text(). A file that was removed
 * meanwhile is not made again.
 */
int devinfo_set_rdma(const char *path, const struct devinfo_pci *what, struct err *e) must_check;
int devinfo_restore(const char *path, const char *before, struct err *e) must_check;

/* devinfo_remove - already gone is success. */
int devinfo_remove(const char *path, struct err *e) must_check;

#endif
