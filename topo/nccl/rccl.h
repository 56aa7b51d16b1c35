/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rccl.h: the rules of RCCL that NCCL does not have; shared by the files of this folder.
 *
 * Source: ROCm/rocm-systems, projects/rccl/src/graph: paths.cc at 1ff58479, topo.cc at 6a4f3528,
 * xml.cc at a895380a (RCCL 2.28.3 and 2.29.7), and ROCm/rccl, src/graph/paths.cc at ee2d4e42
 * (2.26). Their names stand at each; what newer versions changed is in lib/rdma/version.c.
 */
#ifndef RAILHEAD_TOPO_NCCL_RCCL_H
#define RAILHEAD_TOPO_NCCL_RCCL_H

#include "topo/nccl/paths.h"

/* rccl_xgmi_bw - GB/s of one XGMI link (ncclTopoXGMISpeed of topo.h). */
float rccl_xgmi_bw(const struct topo_machine *m, uint32_t gpu, const struct nccl_opts *o);
/* rccl_rome_pair - ncclTopoCheckGdr: GPU and net are a pair for which PHB is near enough. */
bool rccl_rome_pair(const struct nccl_paths *s, uint32_t gpu, uint32_t net);
/* rccl_pair_guest_devices - rcclPathOverride: in a guest of Hyper-V, GPUs and NICs whose addresses
 * differ by a certain number count as being at one switch. */
void rccl_pair_guest_devices(struct nccl_paths *s);
/* rccl_join_domains - rcclRewriteSameDomainNetPaths: a GPU and a NIC of one PCI domain that a host
 * bridge connects count as being at one switch, with MI450. */
void rccl_join_domains(struct nccl_paths *s);
/* rccl_may_have_model - ncclTopoCompute of search.cc, before it searches: whether a machine is of a
 * kind for which rome_models.cc has graphs. */
bool rccl_may_have_model(const struct topo_machine *m, const struct nccl_xml *v,
			 const struct nccl_opts *o);
/* rccl_drop_slow_ports - ncclTopoTrimSystem: of the nets of one card, RCCL keeps the fastest. */
void rccl_drop_slow_ports(const struct topo_machine *m, struct nccl_xml *v);

#endif
