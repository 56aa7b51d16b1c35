/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hca_list.h: which ports NCCL_IB_HCA selects. Pure.
 *
 * The rule of NCCL 2.30.7 (src/misc/utils.cc: parseStringList, matchIfList; src/transport/net_ib/
 * init.cc): "^" in front excludes, then "=" makes names match whole. Otherwise the beginning of a
 * name suffices. An entry is NAME, NAME:PORT or NAME:PORT:RAIL:PLANE, where port -1 or none is any;
 * rail and plane select nothing. Before 2.30.7, an entry without a port before its rail is of port
 * 0, which no HCA has. Only the first 32 entries count. A list without an entry names all ports, so
 * "^" excludes all.
 */
#ifndef RAILHEAD_LIB_RDMA_HCA_LIST_H
#define RAILHEAD_LIB_RDMA_HCA_LIST_H

#include "lib/base/base.h"

/* A port that every number of an entry fits. */
#define HCA_PORT_UNKNOWN 0

/* hca_list_selects - whether NCCL uses that port; "": it uses all. */
bool hca_list_selects(const char *list, const char *device, uint32_t port);

/* hca_list_rail - the rail that the first fitting entry gives that port; -1: it gives none. */
int hca_list_rail(const char *list, const char *device, uint32_t port);

#endif
