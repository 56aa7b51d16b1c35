/* SPDX-License-Identifier: Apache-2.0 */
/* rails.c: `railctl rails`: what the rails of pods look like now. */
#include "railctl/attachments/rails.h"

#include <net/if.h>
#include <stdio.h>

#include "lib/base/text.h"

static const struct out_column columns[] = {
	{ "POD", OUT_SHRINK },
	{ "IFNAME", 0 },
	{ "RAIL", OUT_RIGHT },
	{ "HCA", OUT_SPARE },
	{ "ADDRESS", OUT_SHRINK },
	{ "TABLE", OUT_RIGHT },
	{ "RULES", OUT_RIGHT | OUT_SPARE },
	{ "MTU", OUT_RIGHT },
	{ "LINK", 0 },
	{ "GATEWAY", OUT_SHRINK | OUT_SPARE },
	{ "CLAIM", OUT_SHRINK | OUT_SPARE },
};

static void put_addresses(const struct inspect_rail *r, struct text *out)
{
	char text[PREFIX_STR_LEN];

	text_add(out, "");
	for (size_t i = 0; i < r->n_addrs; i++)
		text_addf(out, "%s%s", i ? " " : "", ip_format_prefix(r->addr[i].addr, text));
}

/* "10.30.0.1=02:00:00:00:00:01 10.31.0.1=failed"; "?": it was not asked for yet. */
static void put_gateways(const struct inspect *s, const struct inspect_rail *r, struct text *out)
{
	struct ip last = { 0 };
	char ip[IP_STR_LEN], hw[HW_ADDR_STR_LEN];

	text_add(out, "");
	for (size_t i = 0; i < s->n_routes; i++) {
		const struct ip gw = s->route[i].gw;
		const char *state = "?";

		if (!inspect_is_gateway(r, &s->route[i]) || ip_equal(gw, last))
			continue;
		last = gw;
		for (size_t k = 0; k < r->n_neighs; k++) {
			const struct neigh_info *n = &r->neigh[k];

			if (ip_equal(n->addr, gw))
				state = n->state == NEIGH_KNOWN ? hw_addr_format(n->hw, hw)
								: neigh_state_name(n->state);
		}
		text_addf(out, "%s%s=%s", out->len ? " " : "", ip_format(gw, ip), state);
	}
}

static size_t count_rules(const struct inspect *s, const struct inspect_rail *r)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_rules; i++)
		n += r->table && s->rule[i].table == r->table;
	return n;
}

static const char *link_word(const struct inspect_rail *r, enum out_style *style)
{
	*style = OUT_BAD;
	if (!r->link.ifindex)
		return "missing";
	if (!(r->link.flags & IFF_UP))
		return "down";
	if (!(r->link.flags & IFF_RUNNING))
		return "no-carrier";
	*style = OUT_GOOD;
	return "up";
}

/* "" for 0, which a table shows as "-". */
static const char *rails_number(uint32_t n, char out[16])
{
	*out = '\0';
	if (n)
		(void)snprintf(out, 16, "%u", n);
	return out;
}

static int rails_add_row(struct out_table *t, const struct rails_pod *p, size_t i, struct err *e)
{
	const struct inspect_rail *r = &p->s.rail[i];
	char pod[RAILS_POD_LEN], rail[16] = "", table[16], rules[16], mtu[16];
	struct text addresses = { 0 }, gateways = { 0 };
	enum out_style style;
	const char *link = link_word(r, &style);

	if (p->hw && p->hw[i].rail >= 0)
		(void)snprintf(rail, sizeof(rail), "%d", p->hw[i].rail);
	put_addresses(r, &addresses);
	put_gateways(&p->s, r, &gateways);
	(void)rails_number((uint32_t)count_rules(&p->s, r), rules);

	const struct out_cell cells[] = {
		{ rails_pod_name(p, pod), OUT_PLAIN },
		{ r->ifname, OUT_PLAIN },
		{ rail, OUT_PLAIN },
		{ p->hw ? p->hw[i].hca : "", OUT_PLAIN },
		{ addresses.s, OUT_PLAIN },
		{ rails_number(r->table, table), OUT_PLAIN },
		{ rules, OUT_PLAIN },
		{ rails_number(r->link.mtu, mtu), OUT_PLAIN },
		{ link, style },
		{ gateways.s, OUT_PLAIN },
		{ r->claim, OUT_PLAIN },
	};
	int rc = addresses.failed || gateways.failed ? err_nomem(e) : out_row(t, cells, e);

	free(addresses.s);
	free(gateways.s);
	return rc;
}

static int rails_show_table(const struct cmd_run *r, const struct rails_pods *p, struct err *e)
{
	auto_table struct out_table t = { .columns = columns, .n_columns = ARRAY_SIZE(columns) };
	char pod[RAILS_POD_LEN];

	for (size_t i = 0; i < p->n; i++)
		for (size_t k = 0; !*p->pod[i].why && k < p->pod[i].s.n_rails; k++)
			if (rails_add_row(&t, &p->pod[i], k, e))
				return -1;
	if (t.n_rows)
		out_table(&r->out, &t);
	else if (opt_is_set(&r->opts, "netns"))
		out_line(&r->out, OUT_PLAIN, "No rails in this namespace.");
	else
		out_none(&r->out, "No rails", r->ctx.run_dir, "attachments");
	for (size_t i = 0; i < p->n; i++)
		if (*p->pod[i].why)
			out_line(&r->out, OUT_BAD, "%s: %s", rails_pod_name(&p->pod[i], pod),
				 p->pod[i].why);
	return 0;
}

static int rails_show(struct cmd_run *r, struct err *e)
{
	auto_rails_pods struct rails_pods p = { 0 };

	if (rails_pods_read(r, &p, e))
		return -1;
	if (!r->out.json)
		return rails_show_table(r, &p, e);

	auto_json struct json *list = rails_json(&p);

	return list ? out_json(&r->out, list, e) : err_nomem(e);
}

static const struct opt options[] = {
	RAILS_OPT_POD,
	RAILS_OPT_NETNS,
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl rails",
	"railctl rails --netns /run/netns/pod1 --json",
	NULL,
};

static const struct cmd *const commands[] = { &rails_check_cmd, &rails_slots_cmd, NULL };

const struct cmd cmd_rails = {
	.name = "rails",
	.summary = "show the rails of pods as they are now",
	.about = "A rail is an interface that a plugin attached, or one with an address from which "
		 "a rule leads to a table of its own. RAIL is the number of \"railctl topo\". "
		 "GATEWAY is the address of each gateway and the hardware address that the kernel "
		 "knows for it, or ? if nothing was sent to it yet.",
	.opts = { options },
	.examples = examples,
	.sub = commands,
	.run = rails_show,
};
