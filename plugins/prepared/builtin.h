/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.h: the plugin rails, carried by the programs railhead and railhead-hook. No test does. */
#ifndef RAILHEAD_PLUGINS_PREPARED_BUILTIN_H
#define RAILHEAD_PLUGINS_PREPARED_BUILTIN_H

#include "cni/protocol/delegate.h"

/* prepared_rails - run() is the whole program rails, which carries railhead-ipam. */
extern const struct delegate_builtin prepared_rails;

#endif
