/* SPDX-License-Identifier: Apache-2.0 */
/* files.h: the files of /dev by which a container uses an HCA. */
#ifndef RAILHEAD_RAILHEADD_DEVICES_FILES_H
#define RAILHEAD_RAILHEADD_DEVICES_FILES_H

#include "lib/rdma/bus.h"
#include "railheadd/devices/resources.h"

#define DEV_PATH_LEN 64
#define DEV_FILES    (3 * RDMA_PORTS_MAX)

/* Paths below /dev, the same on the host and in the container. "": none. */
struct device_files {
	char rdma[RDMA_NAME_LEN]; /* name of the RDMA device */
	char uverbs[DEV_PATH_LEN], rdma_cm[DEV_PATH_LEN];
	char umad[RDMA_PORTS_MAX][DEV_PATH_LEN], issm[RDMA_PORTS_MAX][DEV_PATH_LEN];
	char vfio[DEV_PATH_LEN]; /* of its IOMMU group; /dev/vfio/vfio belongs to it */
	char uio[DEV_PATH_LEN];
	bool vhost; /* /dev/vhost-net and /dev/net/tun */
};

/* files_open_rdma - nl_rdma_open(); *out is NULL on a kernel without RDMA. */
int files_open_rdma(struct nl **out, struct err *e) must_check;

/*
 * files_of_hca - those of an HCA of a shared resource. rdma: of files_open_rdma(). ERR_NOTFOUND: it
 * is gone; ERR_STATE: it has no RDMA device here.
 */
int files_of_hca(const struct ctx *ctx, struct nl *rdma, const struct resource_hca *h,
		 struct device_files *out, struct err *e) must_check;

/*
 * files_open_beside - a folder beside ctx->run_dir, as "cdi" for /run/cdi. create: also if it is
 * missing. files_beside_is_gone - why, of files_open_beside(), says so, and a second look agrees.
 */
int files_open_beside(const struct ctx *ctx, const char *name, bool create,
		      struct err *e) must_check;
bool files_beside_is_gone(const struct ctx *ctx, const char *name, const struct err *why);
#define CDI_DIR "cdi"

/*
 * files_put_noticed - fs_replace_at() for files that programs in Go watch. They hear of a rename or
 * a write but ignore that a file was created (pkg/cdi/cache.go of container-device-interface).
 */
int files_put_noticed(int dir, const char *name, const char *text, struct err *e) must_check;

#endif
