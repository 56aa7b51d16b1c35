/* SPDX-License-Identifier: Apache-2.0 */
/*
 * connect_pairs.c: `rdma-probe connect --all-pairs`. The pairs of a round run at once and do not
 * share a link: in each round every server is in at most one pair.
 */
#include <stdio.h>

#include "rdma/job/matrix.h"
#include "rdma/probe/run.h"
#include "rdma/probe/session.h"

struct pair {
	size_t a, b;
	bool measured;
	struct wire_result result; /* out: from a to b */
	struct err failed;
};

struct mesh {
	const struct cmd_run *p;
	struct wire_hello hello;
	struct peers peers;
	struct pair *pairs; /* of all rounds */
	size_t n_pairs;
	struct matrix matrix; /* of writes, bytes a second */
};

/* ---- measuring ---- */

static int send_order(const struct mesh *m, const struct pair *pair, struct tcp *tcp, struct err *e)
{
	const struct peer *a = &m->peers.list[pair->a], *b = &m->peers.list[pair->b];
	const struct conf *c = probe_conf(m->p);
	struct tcp_to to = { .peer = *a, .from = c->bind, .timeout_ms = c->timeout_ms };
	struct wire_msg msg = { .type = WIRE_HELLO, .hello = m->hello };

	ip_format(b->addr, msg.hello.addr);
	msg.hello.port = b->port;
	return tcp_connect(&to, tcp, e) || tcp_send(tcp, &msg, e) ? -1 : 0;
}

/* Without a timeout: a server that ends closes the connection. */
static void collect_result(struct pair *pair, struct tcp *tcp)
{
	struct wire_msg m;

	tcp->timeout_ms = -1;
	if (tcp_receive(tcp, WIRE_RESULT, &m, &pair->failed))
		return;
	pair->result = m.result;
	pair->measured = true;
}

static void run_round(struct mesh *m, size_t first, size_t count, struct tcp *tcp)
{
	for (size_t i = 0; i < count; i++) {
		struct pair *pair = &m->pairs[first + i];
		tcp[i] = (struct tcp)TCP_NONE;
		(void)send_order(m, pair, &tcp[i], &pair->failed);
	}
	for (size_t i = 0; i < count; i++) {
		if (!m->pairs[first + i].failed.code)
			collect_result(&m->pairs[first + i], &tcp[i]);
		tcp_close(&tcp[i]);
	}
}

static int measure_all(struct mesh *m, struct err *e)
{
	size_t n = m->peers.n, at = 0, pair[2];
	auto_free struct tcp *tcp = calloc(n, sizeof(*tcp));

	m->n_pairs = n * (n - 1) / 2;
	m->pairs = calloc(m->n_pairs, sizeof(*m->pairs));
	if (!tcp || !m->pairs)
		return err_nomem(e);
	for (size_t round = 0; round < peers_rounds(n); round++) {
		size_t count = 0;
		while (peers_pair(n, round, count, pair)) {
			m->pairs[at + count].a = pair[0];
			m->pairs[at + count].b = pair[1];
			count++;
		}
		run_round(m, at, count, tcp);
		at += count;
	}
	return 0;
}

static void fill_matrix(struct mesh *m)
{
	for (size_t i = 0; i < m->n_pairs; i++) {
		const struct pair *p = &m->pairs[i];
		const struct wire_flow *out = &p->result.out[WAY_WRITE],
				       *in = &p->result.in[WAY_WRITE];
		if (!p->measured)
			continue;
		if (p->result.one_card)
			matrix_set_local(&m->matrix, p->a, p->b);
		matrix_set(&m->matrix, p->a, p->b, stats_per_second(out->bytes, out->ns));
		matrix_set(&m->matrix, p->b, p->a, stats_per_second(in->bytes, in->ns));
	}
}

/* ---- text ---- */

static const char *peer_name(const struct mesh *m, size_t i, char buf[PEER_TEXT_LEN])
{
	return peer_format(&m->peers.list[i], buf);
}

/* Columns are numbered: addresses are too wide for them. */
static int show_matrix(const struct mesh *m, struct err *e)
{
	size_t n = m->peers.n;
	auto_free struct out_column *columns = calloc(n + 2, sizeof(*columns));
	auto_free struct out_cell *cells = calloc(n + 2, sizeof(*cells));
	auto_free char(*text)[PEER_TEXT_LEN] = calloc(2 * n + 2, sizeof(*text));

	if (!columns || !cells || !text)
		return err_nomem(e);
	auto_table struct out_table t = { .columns = columns, .n_columns = n + 2 };
	columns[0] = (struct out_column){ "FROM", OUT_RIGHT };
	columns[1] = (struct out_column){ "ADDRESS", 0 };
	for (size_t j = 0; j < n; j++) {
		(void)snprintf(text[n + 2 + j], PEER_TEXT_LEN, "TO %zu", j);
		columns[2 + j] = (struct out_column){ text[n + 2 + j], OUT_RIGHT };
	}
	for (size_t i = 0; i < n; i++) {
		(void)snprintf(text[0], PEER_TEXT_LEN, "%zu", i);
		cells[0] = (struct out_cell){ text[0], OUT_PLAIN };
		cells[1] = (struct out_cell){ peer_name(m, i, text[1]), OUT_PLAIN };
		for (size_t j = 0; j < n; j++) {
			double rate = matrix_get(&m->matrix, i, j);
			bool slow = m->matrix.slow[i * n + j] || m->matrix.slow_node[i] ||
				    m->matrix.slow_node[j];
			cells[2 + j].text = rate < 0 ? NULL : stats_rate(rate, text[2 + j]);
			cells[2 + j].style = slow ? OUT_BAD : OUT_PLAIN;
		}
		if (out_row(&t, cells, e))
			return -1;
	}
	out_table(&m->p->out, &t);
	return 0;
}

static void show_failures(const struct mesh *m)
{
	char a[PEER_TEXT_LEN], b[PEER_TEXT_LEN];

	for (size_t i = 0; i < m->n_pairs; i++) {
		const struct pair *p = &m->pairs[i];
		if (!p->measured)
			out_line(&m->p->out, OUT_BAD, "failed: %s and %s: %s",
				 peer_name(m, p->a, a), peer_name(m, p->b, b), p->failed.msg);
	}
}

static void show_outliers(const struct mesh *m)
{
	const struct matrix *x = &m->matrix;
	char a[PEER_TEXT_LEN], b[PEER_TEXT_LEN], rate[STATS_TEXT_LEN], median[STATS_TEXT_LEN];

	for (size_t i = 0; i < x->n; i++) {
		if (x->slow_node[i])
			out_line(&m->p->out, OUT_BAD,
				 "slow node: %s: %s where the median of the others is %s",
				 peer_name(m, i, a), stats_rate(x->node[i], rate),
				 stats_rate(x->links.median, median));
	}
	for (size_t i = 0; x->n && i < x->n * x->n; i++) {
		const struct spread *s = x->local[i] && !x->all_local ? &x->locals : &x->links;

		if (x->slow[i])
			out_line(&m->p->out, OUT_BAD,
				 "slow link: %s to %s: %s where the median is %s",
				 peer_name(m, i / x->n, a), peer_name(m, i % x->n, b),
				 stats_rate(x->rate[i], rate), stats_rate(s->median, median));
	}
}

/* The rule for outliers among links of one kind. */
static void show_rule(const struct mesh *m, const char *what, const struct spread *s)
{
	char median[STATS_TEXT_LEN], low[STATS_TEXT_LEN];

	stats_rate(s->median, median);
	stats_rate(s->low, low);
	if (s->low <= 0)
		out_line(&m->p->out, OUT_FAINT,
			 "%s: median %s; they differ too much for one to be called slow", what,
			 median);
	else
		out_line(&m->p->out, OUT_FAINT,
			 "%s: median %s; slow is below %s: 5 x 1.4826 MAD and a tenth under the "
			 "median",
			 what, median, low);
}

static void connect_pairs_show_rules(const struct mesh *m, size_t outliers)
{
	const struct matrix *x = &m->matrix;
	bool any = x->links.n || x->locals.n;

	if (x->links.n)
		show_rule(m,
			  x->all_local  ? "RDMA writes inside one card"
			  : x->locals.n ? "RDMA writes between cards"
					: "RDMA writes",
			  &x->links);
	if (x->locals.n)
		show_rule(m, "RDMA writes inside a card, which are compared with no others",
			  &x->locals);
	if (!any)
		out_line(&m->p->out, OUT_FAINT, "nothing was measured");
	else if (!outliers)
		out_line(&m->p->out, OUT_GOOD, "nothing is slow");
}

/* ---- JSON ---- */

static int json_pair(const struct mesh *m, struct json *list, const struct pair *p)
{
	struct json *o = json_push_object(list), *to, *from;
	char a[PEER_TEXT_LEN], b[PEER_TEXT_LEN];

	if (!o || json_add_str(o, "a", peer_name(m, p->a, a)) ||
	    json_add_str(o, "b", peer_name(m, p->b, b)) ||
	    json_add_str(o, "error", p->measured ? NULL : p->failed.msg))
		return -1;
	if (!p->measured)
		return 0;
	to = json_add_object(o, "aToB");
	from = json_add_object(o, "bToA");
	if (!to || !from || json_add_bool(o, "oneCard", p->result.one_card) ||
	    json_add_int(o, "latencyP50Ns", (int64_t)p->result.lat_p50) ||
	    json_add_int(o, "latencyP99Ns", (int64_t)p->result.lat_p99) ||
	    json_add_int(o, "latencyMaxNs", (int64_t)p->result.lat_max) ||
	    report_flow(to, "send", p->result.out[WAY_SEND]) ||
	    report_flow(to, "write", p->result.out[WAY_WRITE]) ||
	    report_flow(from, "send", p->result.in[WAY_SEND]) ||
	    report_flow(from, "write", p->result.in[WAY_WRITE]))
		return -1;
	return 0;
}

static int json_slow(const struct mesh *m, struct json *nodes, struct json *links)
{
	const struct matrix *x = &m->matrix;
	char text[PEER_TEXT_LEN];

	if (!nodes || !links)
		return -1;
	for (size_t i = 0; i < x->n; i++) {
		if (x->slow_node[i] && json_push_str(nodes, peer_name(m, i, text)))
			return -1;
	}
	for (size_t i = 0; x->n && i < x->n * x->n; i++) {
		if (!x->slow[i])
			continue;
		struct json *o = json_push_object(links);
		if (!o || json_add_str(o, "from", peer_name(m, i / x->n, text)) ||
		    json_add_str(o, "to", peer_name(m, i % x->n, text)))
			return -1;
	}
	return 0;
}

static int show_mesh_json(const struct mesh *m, struct err *e)
{
	auto_json struct json *root = json_new_object();
	struct json *peers = json_add_array(root, "peers"), *pairs = json_add_array(root, "pairs");
	char text[PEER_TEXT_LEN];

	if (!root || !peers || !pairs)
		return err_nomem(e);
	for (size_t i = 0; i < m->peers.n; i++) {
		if (json_push_str(peers, peer_name(m, i, text)))
			return err_nomem(e);
	}
	for (size_t i = 0; i < m->n_pairs; i++) {
		if (json_pair(m, pairs, &m->pairs[i]))
			return err_nomem(e);
	}
	if (json_add_int(root, "medianBytesPerSecond", (int64_t)m->matrix.links.median) ||
	    json_add_int(root, "slowBelowBytesPerSecond", (int64_t)m->matrix.links.low) ||
	    json_slow(m, json_add_array(root, "slowNodes"), json_add_array(root, "slowLinks")))
		return err_nomem(e);
	return out_json(&m->p->out, root, e);
}

/* ---- all of it ---- */

/* An error matters more than a slow link. */
static int mesh_status(const struct mesh *m, size_t outliers)
{
	int status = outliers ? (int)PROBE_OUTLIERS : (int)CMD_OK;

	for (size_t i = 0; i < m->n_pairs; i++) {
		if (m->pairs[i].failed.code == ERR_STATE)
			return PROBE_WRONG;
		if (!m->pairs[i].measured)
			status = CMD_FAILED;
	}
	return status;
}

static int run_mesh(struct mesh *m, int *status, struct err *e)
{
	size_t outliers;

	if (measure_all(m, e))
		return -1;
	fill_matrix(m);
	if (matrix_judge(&m->matrix, &outliers, e))
		return -1;
	*status = mesh_status(m, outliers);
	if (m->p->out.json)
		return show_mesh_json(m, e);
	if (show_matrix(m, e))
		return -1;
	show_failures(m);
	show_outliers(m);
	connect_pairs_show_rules(m, outliers);
	return 0;
}

int probe_all_pairs(struct cmd_run *p, struct err *e)
{
	const struct conf *c = probe_conf(p);
	auto_free struct mesh *m = calloc(1, sizeof(*m));

	if (!m)
		return err_nomem(e);
	m->p = p;
	if (probe_read_peers(c->all_pairs, c->port, &m->peers, e) ||
	    session_hello(c, WIRE_ORDER, &m->hello, e) || matrix_new(m->peers.n, &m->matrix, e))
		return -1;
	int rc = run_mesh(m, &p->status, e);
	matrix_free(&m->matrix);
	free(m->pairs);
	return rc;
}
