/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_qos.c: `railctl rdma qos`, and `show`. */
#include "railctl/rdma/rdma_qos.h"

#include <stdio.h>
#include <string.h>

#include "railctl/rdma/rdma.h"
#include "rdma/inventory/inventory.h"

char *qos_text(enum qos_setting s, const struct qos_profile *p, char out[QOS_LIST_LEN])
{
	switch (s) {
	case QOS_TRUST:
		return strcpy(out, p->trust_dscp ? "dscp" : "pcp");
	case QOS_PFC:
		return qos_list(p->pfc, out);
	case QOS_ECN:
		return qos_list(p->ecn, out);
	case QOS_TC:
	case QOS_CM:
		(void)snprintf(out, QOS_LIST_LEN, "%u", p->tc);
		return out;
	case QOS_N:
		break;
	}
	return strcpy(out, "");
}

/* ---- show ---- */

struct view {
	struct cmd_run *run;
	struct nl *nl;
	struct out_table *table;
	struct json *array; /* NULL: a table */
};

static struct qos_profile as_profile(const struct qos_state *s)
{
	return (struct qos_profile){ .has = s->known & (QOS_BIT(QOS_CM) - 1),
				     .trust_dscp = s->trust_dscp,
				     .pfc = s->pfc,
				     .ecn = s->ecn_np & s->ecn_rp,
				     .tc = s->tc };
}

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
	struct qos_profile is = as_profile(s);
	char value[QOS_LIST_LEN], more[128], text[QOS_WHY_LEN + 32];
	bool known = s->known & QOS_BIT(what);

	if (what == QOS_CM)
		is.tc = s->cm;
	remark_text(what, s, more, sizeof(more));
	if (known)
		(void)snprintf(text, sizeof(text), "%s%s", qos_text(what, &is, value), more);
	else
		(void)snprintf(text, sizeof(text), "unknown (%s)", s->why[what]);

	const struct out_cell cells[] = { { p->netdev, OUT_PLAIN },
					  { qos_name(what), OUT_PLAIN },
					  { text, known ? OUT_PLAIN : OUT_FAINT } };

	return out_row(v->table, cells, e);
}

/* Congestion notifications, which no profile sets. */
static int show_cnp(struct view *v, const struct qos_port *p, const struct qos_cnp *c,
		    struct err *e)
{
	char text[64], priority[24] = "";

	if (c->dscp < 0)
		return 0;
	if (c->priority >= 0)
		(void)snprintf(priority, sizeof(priority), ", priority %d", c->priority);
	(void)snprintf(text, sizeof(text), "DSCP %d%s", c->dscp, priority);

	const struct out_cell cells[] = { { p->netdev, OUT_PLAIN },
					  { "cnp", OUT_PLAIN },
					  { text, OUT_PLAIN } };

	return out_row(v->table, cells, e);
}

static int add_numbers(struct json *o, const char *key, const uint32_t n[DCB_PRIORITIES])
{
	struct json *list = json_add_array(o, key);

	for (unsigned i = 0; list && i < DCB_PRIORITIES; i++) {
		struct json *one = NULL;
		struct err ignored;
		char text[16];

		(void)snprintf(text, sizeof(text), "%u", n[i]);
		if (json_parse(text, strlen(text), "a number", &one, &ignored) ||
		    json_push(list, one))
			return -1;
	}
	return list ? 0 : -1;
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

static int add_dcb(struct json *o, const struct dcb_info *d)
{
	uint32_t queue[DCB_PRIORITIES], buffer[DCB_PRIORITIES];

	for (unsigned i = 0; i < DCB_PRIORITIES; i++) {
		queue[i] = d->prio_tc[i];
		buffer[i] = d->prio_buffer[i];
	}
	return (d->has_app && add_dscp(o, d)) ||
			       (d->has_ets && add_numbers(o, "priorityQueues", queue)) ||
			       (d->has_buffers && (add_numbers(o, "priorityBuffers", buffer) ||
						   add_numbers(o, "bufferBytes", d->buffer))) ||
			       (d->has_dcbx &&
				json_add_str(o, "dcbx", d->dcbx_host ? "host" : "firmware"))
		       ? -1
		       : 0;
}

static int add_cnp(struct json *o, const struct qos_cnp *c)
{
	struct json *cnp = c->dscp < 0 ? NULL : json_add_object(o, "cnp");

	if (c->dscp < 0)
		return 0;
	return !cnp || json_add_int(cnp, "dscp", c->dscp) ||
			       (c->priority >= 0 && json_add_int(cnp, "priority", c->priority))
		       ? -1
		       : 0;
}

static int add_unknown(struct json *o, const struct qos_state *s)
{
	struct json *why = json_add_object(o, "unknown");

	for (unsigned i = 0; why && i < QOS_N; i++) {
		if (!(s->known & QOS_BIT(i)) &&
		    json_add_str(why, qos_name((enum qos_setting)i), s->why[i]))
			return -1;
	}
	return why ? 0 : -1;
}

static int show_json(const struct view *v, const struct qos_port *p, const struct qos_state *s,
		     struct err *e)
{
	const struct qos_profile is = as_profile(s);
	struct json *o = json_push_object(v->array);

	if (!o || json_add_str(o, "pf", p->netdev) || json_add_known(o, "pciAddress", p->pci) ||
	    json_add_known(o, "rdmaDevice", p->rdma) || qos_add_json(o, &is) ||
	    ((s->known & QOS_BIT(QOS_CM)) && json_add_int(o, qos_name(QOS_CM), s->cm)) ||
	    add_dcb(o, &s->dcb) || add_cnp(o, &s->cnp) || add_unknown(o, s))
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
		return show_json(v, &p, &s, e);
	for (unsigned i = 0; i < QOS_N; i++) {
		if (show_row(v, &p, &s, (enum qos_setting)i, e))
			return -1;
	}
	return show_cnp(v, &p, &s.cnp, e);
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
	if (pf ? show_one(&v, pf, e) : show_all(&v, e))
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

const struct cmd rdma_qos_show_cmd = {
	.name = "show",
	.summary =
		"show the priority of RDMA traffic on each card, and whether it may lose packets",
	.about = "trust is the source of a packet's priority: its DSCP or its VLAN tag. pfc are "
		 "the priorities that pause instead of dropping packets, ecn those with ECN. A "
		 "traffic class for programs without a choice exists for the whole device "
		 "(trafficClass) and for connections that RDMA CM makes (cmTrafficClass). A value "
		 "that cannot be read is unknown, with the reason.",
	.opts = { show_options },
	.examples = show_examples,
	.run = qos_show,
};

static const struct cmd *const commands[] = { &rdma_qos_show_cmd, &rdma_qos_set_cmd,
					      &rdma_qos_apply_cmd, NULL };

const struct cmd rdma_qos_cmd = {
	.name = "qos",
	.summary = "quality of service of the cards: DSCP trust, PFC, ECN, traffic class",
	.sub = commands,
};
