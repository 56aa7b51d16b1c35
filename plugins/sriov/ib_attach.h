/* SPDX-License-Identifier: Apache-2.0 */
/* ib_attach.h: the ib-sriov plugin as the attach engine sees it. It moves a VF. */
#ifndef RAILHEAD_PLUGINS_SRIOV_IB_ATTACH_H
#define RAILHEAD_PLUGINS_SRIOV_IB_ATTACH_H

#include "cni/engine/attach.h"

extern const struct attach_type ib_sriov_type;

#endif
