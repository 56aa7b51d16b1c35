/* SPDX-License-Identifier: Apache-2.0 */
/* status.h: `railctl status`. */
#ifndef RAILHEAD_RAILCTL_STATUS_H
#define RAILHEAD_RAILCTL_STATUS_H

#include "lib/cli/cmd.h"

extern const struct cmd cmd_status;

#endif
