/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: railctl: the commands that it has, and the options of all of them. */
#include "railctl/attachments/attachments.h"
#include "railctl/cluster/cluster.h"
#include "railctl/ipam/ipam.h"
#include "railctl/attachments/netconf.h"
#include "railctl/attachments/rails.h"
#include "railctl/device/rdma.h"
#include "railctl/attachments/support.h"
#include "railctl/topo/topo.h"
#include "railctl/device/vf.h"
#include "railctl/check.h"
#include "railctl/status.h"

static const char *const help_examples[] = {
	"railctl help ipam pool add",
	"railctl help --json",
	NULL,
};

static const struct cmd help = {
	.name = "help",
	.words = "[COMMAND...]",
	.summary = "show help for a command",
	.about = "With --json: print the command and all commands below it as an array, with their "
		 "options and examples.",
	.examples = help_examples,
	.max_words = 8,
	.run = cmd_run_help,
};

static const char *const version_examples[] = { "railctl version", NULL };

static const struct cmd version = {
	.name = "version",
	.summary = "print the version",
	.examples = version_examples,
	.run = cmd_run_version,
};

static const struct cmd *const commands[] = {
	&cmd_status,         &cmd_check, &cmd_attachments, &cmd_cluster, &cmd_ipam,
	&cmd_netconf,        &cmd_rails, &cmd_rdma,        &cmd_topo,    &cmd_vf,
	&cmd_support_bundle, &help,      &version,         NULL,
};

/* Other programs of clusters have these. */
static const struct cmd_alias aliases[] = {
	{ "doctor", "check" },
	{ "health", "status" },
	{ "pods", "rails" },
	{ "ips", "ipam lease list" },
	{ "devices", "rdma list" },
	{ "gpus", "topo" },
	{ "nics", "topo" },
	{ "lldp", "cluster fabric" },
	{ "sysdump", "support-bundle" },
	{ NULL, NULL },
};

static const struct cmd root = {
	.name = "railctl",
	.summary = "show and repair the state of railhead's plugins",
	.about = "railctl shows and changes the state that the CNI plugins of railhead keep on "
		 "this node: leased addresses, attached interfaces, and VFs. It needs no daemon "
		 "and works while plugins run.",
	.sub = commands,
	.aliases = aliases,
};

static const struct opt globals[] = {
	CMD_OPT_JSON,
	{ "data-dir", "DIR",
	  "use the store of networks with this dataDir, not /var/lib/railhead/ipam", 0 },
	{ "run-dir", "DIR", "the folder of the attachments' records (default: /run/railhead)", 0 },
	CMD_OPT_NO_COLOR,
	CMD_OPT_HELP,
	CMD_OPT_VERSION,
	{ NULL, NULL, NULL, 0 },
};

static int take_dir(struct cmd_run *r, const char *option, const char **dir, struct err *e)
{
	const char *value = opt_get(&r->opts, option);

	if (value && value[0] != '/')
		return cmd_usage(r, e, "--%s \"%.256s\" must be an absolute path", option, value);
	if (value)
		*dir = value;
	return 0;
}

static int main_begin(struct cmd_run *r, struct err *e)
{
	struct ctl *ctl = r->own;

	if (take_dir(r, "data-dir", &ctl->data_dir, e) ||
	    take_dir(r, "run-dir", &r->ctx.run_dir, e))
		return -1;
	return 0;
}

int main(int argc, char **argv)
{
	static const struct cmd_program program = { &root, globals, main_begin, NULL, false };
	struct ctl ctl = { .data_dir = NULL };

	(void)argc;
	return cmd_main(&program, argv, &ctl);
}
