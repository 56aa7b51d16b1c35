/* SPDX-License-Identifier: Apache-2.0 */
/* support.h: `railctl support-bundle`. */
#ifndef RAILHEAD_RAILCTL_ATTACHMENTS_SUPPORT_H
#define RAILHEAD_RAILCTL_ATTACHMENTS_SUPPORT_H

#include "lib/cli/cmd.h"

extern const struct cmd cmd_support_bundle;

#endif
