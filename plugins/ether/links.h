/* SPDX-License-Identifier: Apache-2.0 */
/* links.h: the interfaces that the kernel makes on a master: macvlan and ipvlan. */
#ifndef RAILHEAD_PLUGINS_ETHER_LINKS_H
#define RAILHEAD_PLUGINS_ETHER_LINKS_H

#include "cni/engine/attach.h"

extern const struct attach_type link_macvlan, link_ipvlan;

#endif
