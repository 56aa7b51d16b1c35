/* SPDX-License-Identifier: Apache-2.0 */
/* ipam.c: the commands of `railctl ipam`. */
#include "railctl/cmd.h"

static const struct cmd *const commands[] = { NULL };

const struct cmd cmd_ipam = {
	.name = "ipam",
	.summary = "pools of addresses and their leases",
	.sub = commands,
};
