/* SPDX-License-Identifier: Apache-2.0 */
/* gpu_find.h: the PCI address of a GPU, from the files of its driver. */
#ifndef RAILHEAD_TOPO_KUBELET_GPU_FIND_H
#define RAILHEAD_TOPO_KUBELET_GPU_FIND_H

#include "lib/base/ctx.h"
#include "topo/kubelet/gpu_id.h"

/* The GPUs as files of drivers show them, read once for all devices of a pod. */
struct gpu_files {
	const struct ctx *ctx;    /* borrowed; set by the owner */
	struct gpu_shown *nvidia; /* NULL: not read yet */
	size_t n_nvidia;
};
void gpu_files_clear(struct gpu_files *f);
#define auto_gpu_files auto_clean(gpu_files_clear)

/*
 * gpu_find - of an id that is neither GPU_ID_NONE nor GPU_ID_GAUDI. A part of a GPU has the address
 * of the GPU. ERR_NOTFOUND: no file shows which GPU it is; the message says where it looked.
 * ERR_NOMEM. The address of a GPU_ID_PCI need not exist.
 */
int gpu_find(struct gpu_files *f, const struct gpu_id *id, struct pci_addr *out,
	     struct err *e) must_check;

/*
 * gpu_find_gaudis - the addresses of all functions of the driver habanalabs, at most max; returns
 * how many there are, 0 without that driver, or -1: ERR_NOMEM.
 */
ssize_t gpu_find_gaudis(const struct ctx *ctx, struct pci_addr *out, size_t max,
			struct err *e) must_check;

#endif
