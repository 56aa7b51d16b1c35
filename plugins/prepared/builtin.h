/* SPDX-License-Identifier: Apache-2.0 */
/* builtin.h: the plugin rails, carried by the programs railhead and railhead-hook. No test does. */
#ifndef RAILHEAD_PLUGINS_PREPARED_BUILTIN_H
#define RAILHEAD_PLUGINS_PREPARED_BUILTIN_H

#include "cni/protocol/delegate.h"

/* Of tools/ident.c, which every program of the build carries. */
extern const char railhead_rails_mark[];

/* prepared_rails - run() is the whole program rails, which carries railhead-ipam. */
extern const struct delegate_builtin prepared_rails;

#endif
