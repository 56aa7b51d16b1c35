/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_serve.c: `rdma-probe serve`: measure with one client after the other. */
#include <stdio.h>
#include <string.h>

#include "rdma/probe/run.h"
#include "rdma/probe/session.h"

static int serve_one(const struct cmd_run *p, struct run *r, struct err *e)
{
	struct wire_msg m;

	if (tcp_receive(r->tcp, WIRE_HELLO, &m, e))
		return -1;
	r->hello = m.hello;
	return session_server(r, probe_conf(p), e) || measure(r, e) ? -1 : 0;
}

static int report_client_json(const struct cmd_run *p, const struct run *r, const char *client,
			      const struct err *why)
{
	auto_json struct json *o = json_new_object();

	if (!o || json_add_str(o, "client", client) ||
	    json_add_int(o, "checkedBytes", (int64_t)r->result.checked) ||
	    json_add_int(o, "checkedMessages", (int64_t)r->result.messages) ||
	    json_add_str(o, "error", why ? why->msg : NULL))
		return -1;
	auto_free char *text = json_print(o, false);
	if (text)
		out_line(&p->out, OUT_PLAIN, "%s", text);
	return text ? 0 : -1;
}

/* One line for each client. The server goes on if no program reads them. */
static int report_client(const struct cmd_run *p, const struct run *r, const struct err *why)
{
	char client[IP_STR_LEN];

	ip_format(r->tcp->peer, client);
	if (p->out.json)
		return report_client_json(p, r, client, why);
	if (why)
		out_line(&p->out, OUT_BAD, "%s: %s", client, why->msg);
	else
		out_line(&p->out, OUT_PLAIN, "%s: %llu bytes in %llu messages: every byte is right",
			 client, (unsigned long long)r->result.checked,
			 (unsigned long long)r->result.messages);
	return 0;
}

static int next_client(const struct cmd_run *p, int listening, struct err *e)
{
	auto_tcp struct tcp tcp = TCP_NONE;
	struct run r = { .tcp = &tcp };
	struct err failed = { 0 };

	const struct tcp_wait wait = { .listening = listening,
				       .wait_ms = -1,
				       .timeout_ms = probe_conf(p)->timeout_ms };

	if (tcp_accept(&wait, &tcp, e))
		return -1;
	int rc = serve_one(p, &r, &failed);
	verbs_close(&r.conn);
	if (rc)
		tcp_send_fault(&tcp, &failed);
	if (report_client(p, &r, rc ? &failed : NULL))
		return err_nomem(e);
	(void)fflush(p->out.to);
	if (rc && probe_conf(p)->once)
		return err_pass(e, &failed);
	return 0;
}

static int cmd_serve_serve(struct cmd_run *p, struct err *e)
{
	const struct conf *c = probe_conf(p);
	auto_fd int listening = tcp_listen(c->bind, c->port, e);

	if (listening < 0)
		return -1;
	if (!p->out.json)
		out_line(&p->out, OUT_PLAIN, "listening at TCP port %u", c->port);
	(void)fflush(p->out.to);
	do {
		if (next_client(p, listening, e))
			return -1;
	} while (!c->once);
	return 0;
}

const struct cmd probe_serve = {
	.name = "serve",
	.summary = "wait for clients and exchange data with them",
	.about = "Serves one client after the other, for ever unless --once is given. While it "
		 "runs, every program that can reach the TCP port can use the RDMA device. Run it "
		 "only while you test.",
	.opts = { conf_device, conf_serve },
	.run = cmd_serve_serve,
};
