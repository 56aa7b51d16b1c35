/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_connect.c: `rdma-probe connect`: to one server, or between all pairs of many. */
#include "rdma/probe/run.h"
#include "rdma/probe/session.h"

static int connect_one(struct cmd_run *p, struct err *e)
{
	const struct conf *c = probe_conf(p);
	struct wire_hello h;
	struct peer peer;
	struct run r;

	if (peer_parse(p->opts.words[0], c->port, &peer, e))
		return cmd_usage(p, e, "%s", e->msg);
	if (session_hello(c, WIRE_MEASURE, &h, e))
		return -1;
	if (session_measure(c, &h, &peer, &r, e))
		return -1;
	return report_run(&p->out, &r, &peer, e);
}

static int connect_any(struct cmd_run *p, struct err *e)
{
	const char *all_pairs = probe_conf(p)->all_pairs;

	if (!all_pairs == !p->opts.n_words)
		return cmd_usage(p, e, "connect needs one of ADDR and --all-pairs FILE");
	return all_pairs ? probe_all_pairs(p, e) : connect_one(p, e);
}

const struct cmd probe_connect = {
	.name = "connect",
	.words = "ADDR[:PORT]",
	.summary = "exchange data with a server, check every byte, show latency and bandwidth",
	.about = "ADDR is the server's address on the network to test. The RDMA device and its GID "
		 "follow from the own address towards it.\nWith --all-pairs FILE every two of the "
		 "servers in the file, which run \"serve --mesh\", measure to each other. The "
		 "result is a matrix, and links that are much slower than the rest are named (exit "
		 "status 7).",
	.opts = { conf_device, conf_connection, conf_amount, conf_connect },
	.max_words = 1,
	.run = connect_any,
};
