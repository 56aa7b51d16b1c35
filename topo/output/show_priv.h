/* SPDX-License-Identifier: Apache-2.0 */
/* show_priv.h: helpers that the files show_*.c share. */
#ifndef RAILHEAD_TOPO_OUTPUT_SHOW_PRIV_H
#define RAILHEAD_TOPO_OUTPUT_SHOW_PRIV_H

#include "topo/output/show.h"

/* show_has_gpu, show_has_hca - the device is in scope; show_count_*: how many are. */
bool show_has_gpu(const struct topo_view *v, size_t gpu);
bool show_has_hca(const struct topo_view *v, size_t hca);
size_t show_count_gpus(const struct topo_view *v);
size_t show_count_hcas(const struct topo_view *v);

/* show_gpu_bdf, show_hca_bdf - the address in lower case; returns out. NULL: the HCA has no
 * function. */
char *show_gpu_bdf(const struct topo_machine *m, size_t gpu, char out[PCI_STR_LEN]);
char *show_hca_bdf(const struct topo_machine *m, size_t hca, char out[PCI_STR_LEN]);

/* show_finish - flush a stream; ERR_IO: output was lost. */
int show_finish(FILE *to, struct err *e) must_check;

/* show_names - names of HCAs, "mlx5_0,mlx5_1"; owned by the caller; NULL: no memory. */
char *show_names(const struct topo_machine *m, const uint32_t *hca, size_t n);

/* show_unavailable - NCCL's choice is farther than necessary, or has no GPUDirect RDMA. */
bool show_unavailable(const struct topo_view *v, size_t gpu);

/* show_why_uncertain - what nccl_is_uncertain() means, for people: one sentence. Static. */
const char *show_why_uncertain(const struct nccl_prediction *a);

/* show_takes - the HCAs that NCCL uses for a GPU, each once, in NCCL's order: an array of *n
 * elements, owned by the caller; NULL: no memory. */
uint32_t *show_takes(const struct nccl_prediction *a, size_t gpu, size_t *n);

/* show_cpus - "0-31,64-95" for a cpumap "ffffffff,00000000,ffffffff"; "": it is not a cpumap, or
 * does not fit. Returns buf. */
char *show_cpus(const char *mask, char *buf, size_t size);

#endif
