/* SPDX-License-Identifier: Apache-2.0 */
/* ipam.h: the plugin railhead-ipam, for its own program and for plugins that carry its code. */
#ifndef RAILHEAD_PLUGINS_IPAM_IPAM_H
#define RAILHEAD_PLUGINS_IPAM_IPAM_H

#include "cni/protocol/delegate.h"

/* Of tools/ident.c, which every program of the build carries; no test does. */
extern const char railhead_ipam_mark[];

/* ipam_builtin - run() is the whole program: one CNI call from the environment and stdin. */
extern const struct delegate_builtin ipam_builtin;

#endif
