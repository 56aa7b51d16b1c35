/* SPDX-License-Identifier: Apache-2.0 */
/* main.c: rdma-probe: the commands that it has, and the options of all of them. */
#include <stdlib.h>

#include "rdma/probe/run.h"

static const struct cmd *const commands[] = {
	&probe_list, &probe_dmabuf, &probe_serve, &probe_connect, &probe_job, NULL,
};

static const struct cmd root = {
	.name = "rdma-probe",
	.summary = "test RDMA traffic and measure its speed",
	.sub = commands,
};

static const struct opt globals[] = {
	CMD_OPT_JSON, CMD_OPT_NO_COLOR, CMD_OPT_HELP, CMD_OPT_VERSION, { NULL, NULL, NULL, 0 },
};

static const char *environment(const char *name)
{
	return getenv(name);
}

static int rdma_probe_begin(struct cmd_run *r, struct err *e)
{
	struct err why = { 0 };
	struct conf *c = r->own;

	if (conf_read(&r->opts, c, &why))
		return cmd_usage(r, e, "%s", why.msg);
	conf_take_nccl(&r->opts, environment, c);
	if (c->nccl.odd_tc) {
		(void)err_set(
			&why, ERR_CONFIG, 0,
			"NCCL_IB_TC is \"%.32s\", which is not a class (0 to 255): NCCL uses %d",
			getenv("NCCL_IB_TC"), c->nccl.tc);
		out_complain("rdma-probe", &why);
	}
	return 0;
}

static int rdma_probe_status_of(const struct err *e)
{
	if (e->code == ERR_STATE)
		return PROBE_WRONG;
	return e->code == ERR_UNAVAILABLE ? (int)PROBE_NOTHING : (int)CMD_FAILED;
}

int main(int argc, char **argv)
{
	static const struct cmd_program program = { &root, globals, rdma_probe_begin,
						    rdma_probe_status_of, true };
	struct conf conf = { 0 };

	(void)argc;
	return cmd_main(&program, argv, &conf);
}
