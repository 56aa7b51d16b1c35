/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_connect.c: `rdma-probe connect`. */
#include "rdma/probe/run.h"
#include "rdma/probe/session.h"

static int connect_run(struct cmd_run *p, struct err *e)
{
	const struct conf *c = probe_conf(p);
	struct wire_hello h;
	struct peer peer;
	struct run r;

	if (!p->opts.n_words)
		return cmd_usage(p, e, "connect needs ADDR");
	if (peer_parse(p->opts.words[0], c->port, &peer, e))
		return cmd_usage(p, e, "%s", e->msg);
	if (session_hello(c, &h, e) || session_measure(c, &h, &peer, &r, e))
		return -1;
	return report_run(&p->out, &r, &peer, e);
}

const struct cmd probe_connect = {
	.name = "connect",
	.words = "ADDR[:PORT]",
	.summary = "exchange data with a server, check every byte, show latency and bandwidth",
	.about = "ADDR is the server's address on the network to test. The RDMA device and its GID "
		 "follow from the own address towards it.",
	.opts = { conf_device, conf_connection, conf_amount },
	.max_words = 1,
	.run = connect_run,
};
