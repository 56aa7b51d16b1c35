/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ipoib.h: the plugin ipoib as the attach engine takes it. It makes a child of an IPoIB interface.
 */
#ifndef RAILHEAD_PLUGINS_ETHER_IPOIB_H
#define RAILHEAD_PLUGINS_ETHER_IPOIB_H

#include "cni/engine/attach.h"

extern const struct attach_type ipoib_type;

#endif
