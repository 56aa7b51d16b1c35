/* SPDX-License-Identifier: Apache-2.0 */
/* cmd_allreduce.c: `rdma-probe allreduce`: run one rank of a ring, and report slow links. */
#include <stdio.h>

#include "rdma/probe/allreduce.h"
#include "rdma/probe/run.h"
#include "rdma/job/stats.h"

/* ---- which rank this is ---- */

static bool cmd_allreduce_is_here(struct ip addr)
{
	struct err ignored = { 0 };
	auto_fd int fd = tcp_listen(addr, 0, &ignored);

	return fd >= 0;
}

static int find_rank(struct cmd_run *p, struct allreduce *a, struct err *e)
{
	const struct conf *c = probe_conf(p);
	size_t found = 0;

	if (c->rank >= (int)a->peers.n)
		return cmd_usage(p, e, "--rank %d: %s lists %zu ranks, from 0", c->rank, c->peers,
				 a->peers.n);
	if (c->rank >= 0) {
		a->rank = (unsigned)c->rank;
		return 0;
	}
	for (size_t i = 0; i < a->peers.n; i++) {
		if (!cmd_allreduce_is_here(a->peers.list[i].addr))
			continue;
		a->rank = (unsigned)i;
		found++;
	}
	if (found == 1)
		return 0;
	return cmd_usage(p, e,
			 "%zu of the addresses in %s are of this network namespace: --rank says "
			 "which rank this is. A ring has one rail of each pod: for several rails "
			 "write one file a rail, and start one ring a rail",
			 found, c->peers);
}

/* ---- the results ---- */

struct summary {
	const struct allreduce *a;
	const struct wire_hop *hops;
	struct spread spread;
	uint64_t slowest_ns;   /* the longest that a rank took for all rounds */
	double algorithm, bus; /* bytes a second, as nccl-tests counts them */
	size_t slow;
	bool all_local; /* all ranks are on one card */
};

static double hop_rate(const struct wire_hop *h)
{
	return stats_per_second(h->bytes, h->ns);
}

/* Links inside a card are not compared with links over a network. */
static bool cmd_allreduce_is_compared(const struct summary *s, const struct wire_hop *h)
{
	return s->all_local || !h->one_card;
}

static bool is_slow(const struct summary *s, unsigned rank)
{
	const struct wire_hop *h = &s->hops[rank];

	return cmd_allreduce_is_compared(s, h) && hop_rate(h) < s->spread.low;
}

static int make_summary(struct summary *s, struct err *e)
{
	unsigned ranks = s->a->data.ranks;
	uint64_t bytes = (uint64_t)s->a->data.round * s->a->data.elements * RING_ELEMENT;
	auto_free double *rates = calloc(ranks, sizeof(*rates));
	size_t n = 0;

	if (!rates)
		return err_nomem(e);
	s->all_local = true;
	for (unsigned i = 0; i < ranks; i++)
		s->all_local &= s->hops[i].one_card == 1;
	for (unsigned i = 0; i < ranks; i++) {
		if (cmd_allreduce_is_compared(s, &s->hops[i]))
			rates[n++] = hop_rate(&s->hops[i]);
		if (s->hops[i].total_ns > s->slowest_ns)
			s->slowest_ns = s->hops[i].total_ns;
	}
	s->spread = stats_spread(rates, n);
	for (unsigned i = 0; i < ranks; i++)
		s->slow += is_slow(s, i);
	s->algorithm = stats_per_second(bytes, s->slowest_ns);
	s->bus = s->algorithm * ring_steps(ranks) / ranks;
	return 0;
}

static const char *type_name(const struct allreduce *a)
{
	return a->data.type == RING_F32 ? "f32" : "u32";
}

static int json_hops(struct json *list, const struct summary *s)
{
	for (unsigned i = 0; list && i < s->a->data.ranks; i++) {
		struct json *o = json_push_object(list);
		char from[PEER_TEXT_LEN], to[PEER_TEXT_LEN];
		peer_format(&s->a->peers.list[i], from);
		peer_format(&s->a->peers.list[(i + 1) % s->a->data.ranks], to);
		struct wire_flow flow = { s->hops[i].bytes, s->hops[i].ns };
		if (!o || json_add_int(o, "rank", i) || json_add_str(o, "from", from) ||
		    json_add_str(o, "to", to) || report_flow(o, "writes", flow) ||
		    json_add_bool(o, "oneCard", s->hops[i].one_card) ||
		    json_add_bool(o, "slow", is_slow(s, i)))
			return -1;
	}
	return list ? 0 : -1;
}

static int cmd_allreduce_show_json(const struct out *out, const struct summary *s, struct err *e)
{
	const struct allreduce *a = s->a;
	auto_json struct json *o = json_new_object();

	if (!o || json_add_int(o, "rank", a->rank) || json_add_int(o, "ranks", a->data.ranks) ||
	    json_add_str(o, "type", type_name(a)) ||
	    json_add_int(o, "bytes", (int64_t)(a->data.elements * RING_ELEMENT)) ||
	    json_add_int(o, "iterations", a->data.round) ||
	    json_add_int(o, "checkedSums", (int64_t)a->checked) ||
	    json_add_int(o, "ns", (int64_t)s->slowest_ns) ||
	    (a->hello.has_tc && (json_add_int(o, "trafficClass", a->hello.tc) ||
				 json_add_int(o, "dscp", a->hello.tc / 4))) ||
	    json_add_int(o, "algorithmBytesPerSecond", (int64_t)s->algorithm) ||
	    json_add_int(o, "busBytesPerSecond", (int64_t)s->bus) ||
	    json_hops(json_add_array(o, "hops"), s))
		return err_nomem(e);
	return out_json(out, o, e);
}

static int show_hops(const struct out *out, const struct summary *s, struct err *e)
{
	enum { COLUMNS = 4 };
	static const struct out_column columns[COLUMNS] = {
		{ "RANK", OUT_RIGHT }, { "FROM", 0 }, { "TO", 0 }, { "WRITES", OUT_RIGHT }
	};
	auto_table struct out_table t = { .columns = columns, .n_columns = COLUMNS };
	char rank[16], from[PEER_TEXT_LEN], to[PEER_TEXT_LEN], plain[STATS_TEXT_LEN],
		rate[STATS_TEXT_LEN + 8];

	for (unsigned i = 0; i < s->a->data.ranks; i++) {
		bool slow = is_slow(s, i);
		(void)snprintf(rank, sizeof(rank), "%u", i);
		stats_rate(hop_rate(&s->hops[i]), plain);
		(void)snprintf(rate, sizeof(rate), "%s%s", slow ? "slow: " : "", plain);
		const struct out_cell cells[COLUMNS] = {
			{ rank, OUT_PLAIN },
			{ peer_format(&s->a->peers.list[i], from), OUT_PLAIN },
			{ peer_format(&s->a->peers.list[(i + 1) % s->a->data.ranks], to),
			  OUT_PLAIN },
			{ rate, slow ? OUT_BAD : OUT_PLAIN },
		};
		if (out_row(&t, cells, e))
			return -1;
	}
	out_table(out, &t);
	return 0;
}

static int show_summary(const struct out *out, const struct summary *s, struct err *e)
{
	const struct allreduce *a = s->a;
	char size[STATS_TEXT_LEN], time[STATS_TEXT_LEN], alg[STATS_TEXT_LEN], bus[STATS_TEXT_LEN];

	if (show_hops(out, s, e))
		return -1;
	out_pair(out, "allreduce", "%u rounds of %s %s among %u ranks, %s each", a->data.round,
		 stats_size(a->data.elements * RING_ELEMENT, size), type_name(a), a->data.ranks,
		 stats_time(s->slowest_ns / a->data.round, time));
	out_pair(out, "bandwidth", "%s, on the bus %s", stats_rate(s->algorithm, alg),
		 stats_rate(s->bus, bus));
	if (a->hello.has_tc)
		out_pair(out, "class",
			 "%u (all ranks): DSCP %u, unless the driver sets another class",
			 a->hello.tc, a->hello.tc / 4u);
	else
		out_pair(out, "class",
			 "none asked for, by no rank: that of the system or the driver");
	out_pair(out, "checked", "%llu sums: every one is right", (unsigned long long)a->checked);
	return 0;
}

/* ---- the command ---- */

static int all_rounds(struct allreduce *a, const struct conf *c, struct wire_hop *hops,
		      struct err *e)
{
	if (allreduce_join(a, c, e))
		return -1;
	for (uint32_t i = 0; i < c->iterations; i++) {
		if (allreduce_round(a, e))
			return -1;
	}
	return allreduce_gather(a, hops, e);
}

static int run_rounds(struct cmd_run *p, struct allreduce *a, struct err *e)
{
	auto_free struct wire_hop *hops = calloc(a->data.ranks, sizeof(*hops));
	struct summary s = { .a = a, .hops = hops };

	if (!hops)
		return err_nomem(e);
	int rc = all_rounds(a, probe_conf(p), hops, e);
	if (rc)
		allreduce_report(a, e);
	allreduce_close(a);
	if (rc || make_summary(&s, e))
		return -1;
	p->status = s.slow ? (int)PROBE_OUTLIERS : (int)CMD_OK;
	return p->out.json ? cmd_allreduce_show_json(&p->out, &s, e) : show_summary(&p->out, &s, e);
}

static int allreduce(struct cmd_run *p, struct err *e)
{
	auto_free struct allreduce *a = calloc(1, sizeof(*a));
	const struct conf *c = probe_conf(p);

	if (!a)
		return err_nomem(e);
	a->next_tcp.fd = a->before_tcp.fd = -1;
	if (!c->peers)
		return cmd_usage(p, e, "allreduce needs --peers FILE");
	if (c->size % RING_ELEMENT)
		return cmd_usage(p, e, "--size %u is not a multiple of %u bytes", c->size,
				 RING_ELEMENT);
	if (probe_read_peers(c->peers, c->port, &a->peers, e) || find_rank(p, a, e) ||
	    session_hello(c, WIRE_RING, &a->hello, e))
		return -1;
	/* All ranks need one class, also if it is that of the variable. */
	if (c->nccl.tc >= 0) {
		a->hello.has_tc = true;
		a->hello.tc = (uint8_t)c->nccl.tc;
	}
	a->hello.ranks = (uint16_t)a->peers.n;
	a->hop.rank = (uint16_t)a->rank;
	a->data = (struct ring_data){ .type = c->type,
				      .elements = c->size / RING_ELEMENT,
				      .ranks = (unsigned)a->peers.n,
				      .seed = a->hello.seed };
	return run_rounds(p, a, e);
}

const struct cmd probe_allreduce = {
	.name = "allreduce",
	.summary = "add up a vector over a ring of many, as NCCL does, and check every sum",
	.about = "Run it on every rank with the same file and options, within the timeout. Each "
		 "rank sends to the next one by RDMA write; all hops are busy at once. Exit status "
		 "7: a hop is slower than the rest.",
	.opts = { conf_device, conf_connection, conf_amount, conf_ring },
	.run = allreduce,
};
