/* SPDX-License-Identifier: Apache-2.0 */
/*
 * attach.h: the rdma plugin as the attach engine sees it. It follows the plugin that made or moved
 * the pod's interface.
 */
#ifndef RAILHEAD_PLUGINS_RDMA_ATTACH_H
#define RAILHEAD_PLUGINS_RDMA_ATTACH_H

#include "cni/engine/attach.h"

extern const struct attach_type rdma_type;

#endif
