/* SPDX-License-Identifier: Apache-2.0 */
/* types.h: the tables of all plugins, for programs that ask each of them. */
#ifndef RAILHEAD_PLUGINS_TYPES_H
#define RAILHEAD_PLUGINS_TYPES_H

#include "cni/engine/attach.h"

/* plugin_types - those of plugins/names.h, in its order; NULL ends them. */
extern const struct attach_type *const plugin_types[];

#endif
