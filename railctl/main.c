/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: the commands that railctl has. */
#include "railctl/cmd.h"

static const struct cmd *const commands[] = {
	&cmd_attachments, &cmd_ipam, &cmd_rdma, &cmd_topo, &cmd_vf, &cmd_help, &cmd_version, NULL,
};

static const struct cmd root = {
	.name = "railctl",
	.summary = "look at and mend what railhead's plugins keep",
	.about =
		"railctl reads and changes what the CNI plugins of railhead keep on this node: the "
		"addresses they lease, the interfaces they attached to containers and the VFs they "
		"attach. It needs no daemon and works while plugins run.",
	.sub = commands,
};

int main(int argc, char **argv)
{
	(void)argc;
	return cmd_main(&root, argv);
}
