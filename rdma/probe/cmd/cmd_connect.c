/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_connect.c: `rdma-probe connect`: to one server, or between all pairs of many. */
#include "rdma/probe/run/run.h"
#include "rdma/probe/run/session.h"

static int connect_one(struct probe *p, struct err *e)
{
	struct wire_hello h;
	struct peer peer;
	struct run r;

	if (peer_parse(p->opts.words[0], p->conf.port, &peer, e))
		return probe_usage(p, e, "%s", e->msg);
	if (session_hello(&p->conf, WIRE_MEASURE, &h, e))
		return -1;
	if (session_measure(&p->conf, &h, &peer, &r, e))
		return -1;
	return report_run(&p->out, &r, &peer, e);
}

static int connect_any(struct probe *p, struct err *e)
{
	if (!p->conf.all_pairs == !p->opts.n_words)
		return probe_usage(p, e, "connect needs one of ADDR and --all-pairs FILE");
	return p->conf.all_pairs ? probe_all_pairs(p, e) : connect_one(p, e);
}

const struct probe_cmd probe_connect = {
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
