/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: the commands that railctl has. */
#include "lib/cli/cmd.h"

static const struct cmd *const commands[] = {
	&cmd_attachments, &cmd_ipam, &cmd_rdma, &cmd_topo, &cmd_vf, &cmd_help, &cmd_version, NULL,
};

static const struct cmd root = {
	.name = "railctl",
	.summary = "show and repair the state of railhead's plugins",
	.about = "railctl shows and changes the state that the CNI plugins of railhead keep on "
		 "this node: leased addresses, attached interfaces, and VFs. It needs no daemon "
		 "and works while plugins run.",
	.sub = commands,
};

int main(int argc, char **argv)
{
	(void)argc;
	return cmd_main(&root, argv);
}
