/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rails.h: the plugin rails: one network, one ADD, an interface on each rail of the node.
 *
 * Each interface is a macvlan or ipvlan on the rail's interface of the host, of its own type
 * (plugins/ether). docs/decisions/2026-11-27-rails-in-one-add.md.
 */
#ifndef RAILHEAD_PLUGINS_ETHER_RAILS_H
#define RAILHEAD_PLUGINS_ETHER_RAILS_H

#include "cni/engine/attach.h"
#include "cni/engine/attach_parts.h"

extern const struct attach_type rails_type;

#endif
