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
 * devinfo_write - *made false when there is one already: a device plugin knows more than we do, and
 * its file, copied there by Multus, stays as it is.
 */
int devinfo_write(const char *path, const struct devinfo_pci *what, bool *made,
		  struct err *e) must_check;

/* devinfo_text - what the file says now, to be freed; NULL: there is none. */
int devinfo_text(const char *path, char **out, struct err *e) must_check;

/*
 * devinfo_set_rdma - have the file name what->rdma_device: one that is there keeps all else that it
 * says, one of another kind than "pci" stays as it is, and where there is none one is made.
 * devinfo_restore - the inverse, with what devinfo_text() said before; a file that has gone
 * meanwhile stays gone.
 */
int devinfo_set_rdma(const char *path, const struct devinfo_pci *what, struct err *e) must_check;
int devinfo_restore(const char *path, const char *before, struct err *e) must_check;

/* devinfo_remove - already gone is success. */
int devinfo_remove(const char *path, struct err *e) must_check;

#endif
