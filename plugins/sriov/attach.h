/* SPDX-License-Identifier: Apache-2.0 */
/* attach.h: the sriov plugin as the attach engine sees it. It moves a VF. */
#ifndef RAILHEAD_PLUGINS_SRIOV_ATTACH_H
#define RAILHEAD_PLUGINS_SRIOV_ATTACH_H

#include "cni/engine/attach.h"

extern const struct attach_type sriov_type;

#endif
