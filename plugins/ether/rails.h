/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rails.h: the plugin rails: one network, one ADD, an interface on each rail of the node.
 *
 * Each interface is a macvlan, an ipvlan, a child of IPoIB or a VF of its rail, of its own type
 * (plugins/ether, plugins/sriov). docs/decisions/2026-11-27-rails-in-one-add.md.
 */
#ifndef RAILHEAD_PLUGINS_ETHER_RAILS_H
#define RAILHEAD_PLUGINS_ETHER_RAILS_H

#include "cni/engine/attach.h"
#include "cni/engine/attach_parts.h"

extern const struct attach_type rails_type;

/* rails_rdma_check_mode - ERR_STATE unless the node shares its RDMA devices. */
int rails_rdma_check_mode(struct err *e) must_check;

#endif
