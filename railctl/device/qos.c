/* SPDX-License-Identifier: Apache-2.0 */
/* qos.c: `railctl rdma qos`, and `show`. */
#include "railctl/device/qos.h"

#include <stdio.h>

#include "railctl/device/rdma.h"
#include "railctl/device/lossy.h"
#include "rdma/inventory/inventory.h"

/* ---- show ---- */

struct view {
	struct cmd_run *run;
	struct nl *nl;
	struct out_table *table;
	struct json *array; /* NULL: a table */
	struct qos_cards cards;
};

/* A remark about settings that a profile cannot have; "": no remark. */
static void remark_text(enum qos_setting what, const struct qos_state *s, char *out, size_t size)
{
	const struct dcb_info *d = &s->dcb;
	char np[QOS_LIST_LEN], rp[QOS_LIST_LEN];

	*out = '\0';
	if (what == QOS_TRUST && s->trust_dscp)
		(void)snprintf(out, size, " (%u DSCP values have a priority of their own)",
			       d->dscp_rules);
	if (what == QOS_PFC && d->has_dcbx && !d->dcbx_host)
		(void)snprintf(out, size, " (the firmware negotiates with the switch: DCBX)");
	if (what == QOS_ECN && s->ecn_np != s->ecn_rp)
		(void)snprintf(out, size, " (notification point %s, reaction point %s)",
			       qos_list(s->ecn_np, np), qos_list(s->ecn_rp, rp));
}

static int show_row(struct view *v, const struct qos_port *p, const struct qos_state *s,
		    enum qos_setting what, struct err *e)
{
	char value[QOS_TEXT_LEN], more[128], text[QOS_TEXT_LEN + sizeof(more)];
	bool known = s->known & QOS_BIT(what);

	/* Trust and PFC say why there is no data center bridging. */
	if (!known && what > QOS_TRUST && what < QOS_PFC)
		return 0;

	remark_text(what, s, more, sizeof(more));
	if (what == QOS_PFC && rdma_is_lossy(&v->cards, p->netdev))
		(void)snprintf(more, sizeof(more), " (lossy, as a file of " QOS_DIR " says)");
	(void)snprintf(text, sizeof(text), "%s%s", qos_state_text(what, s, value), more);

	const struct out_cell cells[] = { { p->netdev, OUT_PLAIN },
					  { qos_name(what), OUT_PLAIN },
					  { text, known ? OUT_PLAIN : OUT_FAINT } };

	return out_row(v->table, cells, e);
}

static int add_dscp(struct json *o, const struct dcb_info *d)
{
	struct json *rules = json_add_object(o, "dscp");
	char key[8], list[QOS_LIST_LEN];

	for (unsigned i = 0; rules && i < DCB_DSCP; i++) {
		if (!d->dscp[i])
			continue;
		(void)snprintf(key, sizeof(key), "%u", i);
		if (json_add_str(rules, key, qos_list(d->dscp[i], list)))
			return -1;
	}
	return rules ? 0 : -1;
}

static int qos_add_unknown(struct json *o, const struct qos_state *s)
{
	struct json *why = json_add_object(o, "unknown");

	for (unsigned i = 0; why && i < QOS_N; i++) {
		if (!(s->known & QOS_BIT(i)) &&
		    json_add_str(why, qos_name((enum qos_setting)i), s->why[i]))
			return -1;
	}
	return why ? 0 : -1;
}

static int qos_show_json(const struct view *v, const struct qos_port *p, const struct qos_state *s,
			 struct err *e)
{
	struct qos_profile is = qos_profile_of(s);
	struct json *o = json_push_object(v->array);

	is.lossy = rdma_is_lossy(&v->cards, p->netdev);
	/* A value may have more than one priority, which a profile cannot say. */
	is.has &= ~QOS_BIT(QOS_DSCP);
	if (!o || json_add_str(o, "pf", p->netdev) || json_add_known(o, "pciAddress", p->pci) ||
	    json_add_known(o, "rdmaDevice", p->rdma) || qos_add_json(o, &is) ||
	    ((s->known & QOS_BIT(QOS_CM)) && json_add_int(o, qos_name(QOS_CM), s->cm)) ||
	    ((s->known & QOS_BIT(QOS_DSCP)) && add_dscp(o, &s->dcb)) ||
	    (s->dcb.has_dcbx && json_add_str(o, "dcbx", s->dcb.dcbx_host ? "host" : "firmware")) ||
	    qos_add_unknown(o, s))
		return err_nomem(e);
	return 0;
}

static int show_one(struct view *v, const char *pf, struct err *e)
{
	struct qos_port p;
	struct qos_state s;

	if (qos_find(&v->run->ctx, pf, &p, e) || qos_read(&v->run->ctx, v->nl, &p, &s, e))
		return -1;
	if (v->array)
		return qos_show_json(v, &p, &s, e);
	for (unsigned i = 0; i < QOS_N; i++) {
		if (show_row(v, &p, &s, (enum qos_setting)i, e))
			return -1;
	}
	return 0;
}

/* Each RDMA device with Ethernet ports, except VFs. */
static int show_all(struct view *v, struct err *e)
{
	auto_rdma_inventory struct rdma_inventory all = { 0 };

	if (rdma_inventory_read(&v->run->ctx, &all, e))
		return -1;
	for (size_t i = 0; i < all.n_devices; i++) {
		const struct inv_device *d = &all.device[i];

		for (size_t k = 0; !d->vf && k < d->n_ports; k++) {
			if (d->port[k].layer == IB_LAYER_ETHERNET && *d->port[k].netdev &&
			    show_one(v, d->port[k].netdev, e))
				return -1;
		}
	}
	return 0;
}

static int qos_show(struct cmd_run *r, struct err *e)
{
	static const struct out_column columns[] = { { "PF", OUT_ID },
						     { "SETTING", 0 },
						     { "VALUE", OUT_SHRINK } };
	auto_table struct out_table table = { .columns = columns,
					      .n_columns = ARRAY_SIZE(columns) };
	auto_json struct json *array = r->out.json ? json_new_array() : NULL;
	auto_nl struct nl *nl = NULL;
	const char *pf = opt_get(&r->opts, "pf");
	struct view v = { .run = r, .array = array, .table = &table };

	if (r->out.json && !array)
		return err_nomem(e);
	if (nl_open(&nl, e))
		return -1;
	v.nl = nl;

	int rc = rdma_cards_read(&r->ctx, QOS_DIR, &v.cards, e) ||
		 (pf ? show_one(&v, pf, e) : show_all(&v, e));

	qos_cards_clear(&v.cards);
	if (rc)
		return -1;
	if (array)
		return out_json(&r->out, array, e);
	if (table.n_rows)
		out_table(&r->out, &table);
	else
		out_line(&r->out, OUT_PLAIN,
			 "No RDMA devices with Ethernet ports here; --pf shows any interface.");
	return 0;
}

static const struct opt show_options[] = {
	{ "pf", "NAME", "only this card: an interface or a PCI address", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const show_examples[] = { "railctl rdma qos show",
					     "railctl rdma qos show --pf ens3f0 --json", NULL };

static const struct cmd show_cmd = {
	.name = "show",
	.summary =
		"show the priority of RDMA traffic on each card, and whether it may lose packets",
	.about = "trust is the source of a packet's priority: its DSCP or its VLAN tag. pfc are "
		 "the priorities that pause instead of dropping packets, ecn those with ECN. A "
		 "traffic class for programs without a choice exists for the whole device "
		 "(trafficClass) and for connections that RDMA CM makes (cmTrafficClass). A value "
		 "that cannot be read is unknown, with the reason. railhead-qos.d(5) explains the "
		 "others.",
	.opts = { show_options },
	.examples = show_examples,
	.run = qos_show,
};

static const struct cmd *const commands[] = { &show_cmd, &rdma_qos_set_cmd, &rdma_qos_apply_cmd,
					      &rdma_qos_check_cmd, NULL };

const struct cmd rdma_qos_cmd = {
	.name = "qos",
	.summary = "quality of service of the cards: DSCP trust, PFC, ECN, traffic class",
	.sub = commands,
};
