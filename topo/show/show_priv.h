/* SPDX-License-Identifier: Apache-2.0 */
/* show_priv.h: what the files show_*.c share. */
#ifndef RAILHEAD_TOPO_SHOW_SHOW_PRIV_H
#define RAILHEAD_TOPO_SHOW_SHOW_PRIV_H

#include "topo/show/show.h"

bool show_has_gpu(const struct aff_view *v, size_t gpu);
bool show_has_hca(const struct aff_view *v, size_t hca);
size_t show_count_gpus(const struct aff_view *v);
size_t show_count_hcas(const struct aff_view *v);

/* show_numa - of a PCI function: its own, else that of its root complex; -1: not told. */
int show_numa(const struct aff_machine *m, uint32_t pci);

/* show_gpu_bdf, show_hca_bdf - lower case; hca: NULL when it has no function. */
char *show_gpu_bdf(const struct aff_machine *m, size_t gpu, char out[PCI_STR_LEN]);
char *show_hca_bdf(const struct aff_machine *m, size_t hca, char out[PCI_STR_LEN]);

/* show_finish - after writing to a stream: ERR_IO when something was lost. */
int show_finish(FILE *to, struct err *e) must_check;

/* show_names - HCAs as "mlx5_0,mlx5_1"; owned by the caller; NULL: no memory. */
char *show_names(const struct aff_machine *m, const uint32_t *hca, size_t n);

/* show_unavailable - NCCL's choice is worse than it could be: farther, or without GPUDirect RDMA.
 */
bool show_unavailable(const struct aff_view *v, size_t gpu);

/* show_takes - the HCAs that NCCL takes for a GPU, each once, in its order: array of at most the
 * GPU's channels, owned by the caller; NULL: no memory. */
uint32_t *show_takes(const struct nccl_prediction *a, size_t gpu, size_t *n);

/* show_cpus - "0-31,64-95" of a cpumap's mask "ffffffff,00000000,ffffffff"; "" for anything
 * else, or when it does not fit. */
char *show_cpus(const char *mask, char *buf, size_t size);

#endif
