/* SPDX-License-Identifier: Apache-2.0 */
/* rule.c: adds, deletes and lists routing rules. */
#include "lib/net/rule.h"

#include <errno.h>
#include <linux/fib_rules.h>
#include <linux/rtnetlink.h>

#include "lib/net/nl_msg.h"

/* ---- changing ---- */

static int rule_explain(const char *what, const struct rule_spec *r, struct err *e)
{
	char from[PREFIX_STR_LEN];

	return err_wrap(e, "%s rule from %s to table %u", what, ip_format_prefix(r->from, from),
			r->table);
}

static int request(struct nl *nl, int type, const struct rule_spec *r, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct fib_rule_hdr head = {
		.family = nl_family(r->from.addr.family),
		.src_len = r->from.len,
		.table = r->table <= UINT8_MAX ? (uint8_t)r->table : RT_TABLE_UNSPEC,
		.action = FR_ACT_TO_TBL,
		.flags = r->chosen ? FIB_RULE_FIND_SADDR : 0,
	};

	nl_req_begin(&rq, type, type == RTM_NEWRULE ? NLM_F_CREATE | NLM_F_EXCL : 0, &head,
		     sizeof(head));
	nl_req_put_u32(&rq, FRA_TABLE, r->table);
	nl_req_put_u32(&rq, FRA_PRIORITY, r->priority);
	if (r->from.len)
		nl_req_put_ip(&rq, FRA_SRC, ip_network(r->from));
	return nl_request(nl, &rq, e);
}

int nl_rule_add(struct nl *nl, const struct rule_spec *r, struct err *e)
{
	return request(nl, RTM_NEWRULE, r, e) ? rule_explain("add", r, e) : 0;
}

/* A namespace without IPv6 has no rules of that family. */
int nl_rule_delete(struct nl *nl, const struct rule_spec *r, struct err *e)
{
	struct err why;

	if (request(nl, RTM_DELRULE, r, &why) == 0 || why.errnum == ENOENT ||
	    why.errnum == EAFNOSUPPORT)
		return 0;
	*e = why;
	return rule_explain("delete", r, e);
}

/* ---- reading ---- */

static const struct nla_policy rule_policy[FRA_MAX + 1] = {
	[FRA_PRIORITY] = { .type = NLA_U32 },
	[FRA_TABLE] = { .type = NLA_U32 },
};

struct rule_dump {
	struct nl_list found; /* struct rule_spec */
	size_t start;         /* of this family in found */
	uint8_t family;
};

static void rule_dump_clear(struct rule_dump *w)
{
	nl_list_clear(&w->found);
}
#define auto_rule_dump auto_clean(rule_dump_clear)

/* More than the sender decides; linux/fib_rules.h. */
static bool is_conditional(const struct fib_rule_hdr *head, struct nlattr *const *tb)
{
	static const int more[] = { FRA_IIFNAME,  FRA_OIFNAME,     FRA_FWMARK,
				    FRA_TUN_ID,   FRA_L3MDEV,      FRA_UID_RANGE,
				    FRA_IP_PROTO, FRA_SPORT_RANGE, FRA_DPORT_RANGE };

	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		if (tb[more[i]])
			return true;
	return head->dst_len || head->tos || (head->flags & FIB_RULE_INVERT);
}

static int decode_rule(const struct fib_rule_hdr *head, struct nlattr *const *tb,
		       struct rule_spec *out)
{
	struct rule_spec r = {
		.from.addr.family = head->family == AF_INET6 ? IP_V6 : IP_V4,
		.from.len = head->src_len,
		.table = tb[FRA_TABLE] ? nla_get_u32(tb[FRA_TABLE]) : head->table,
		.priority = tb[FRA_PRIORITY] ? nla_get_u32(tb[FRA_PRIORITY]) : 0,
		.conditional = is_conditional(head, tb),
		.chosen = head->flags & FIB_RULE_FIND_SADDR,
	};

	if (r.from.len > ip_bits(r.from.addr.family) || (r.from.len && !tb[FRA_SRC]) ||
	    (tb[FRA_SRC] && nl_attr_ip(tb[FRA_SRC], head->family, &r.from.addr)))
		return -1;
	*out = r;
	return 0;
}

static int on_net_rule(const struct nlmsghdr *h, void *arg, struct err *e)
{
	struct rule_dump *w = arg;
	struct nlattr *tb[FRA_MAX + 1];
	const struct fib_rule_hdr *head;
	struct rule_spec r;

	if (!h) {
		w->found.n = w->start;
		return 0;
	}
	if (h->nlmsg_type != RTM_NEWRULE || nlmsg_datalen(h) < (int)sizeof(*head))
		return 0;
	head = nlmsg_data(h);
	if (head->family != w->family || head->action != FR_ACT_TO_TBL)
		return 0;
	if (nl_parse_attrs(h, sizeof(*head), tb, FRA_MAX, rule_policy) || decode_rule(head, tb, &r))
		return err_set(e, ERR_KERNEL, EBADMSG, "read a rule from the kernel");
	return nl_list_add(&w->found, &r, sizeof(r), e);
}

/* A kernel without rules, or without IPv6, has none. */
static int rule_dump_family(struct nl *nl, struct rule_dump *w, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	const struct fib_rule_hdr head = { .family = w->family };
	struct err why;

	w->start = w->found.n;
	nl_req_begin(&rq, RTM_GETRULE, 0, &head, sizeof(head));
	if (nl_get_dump(nl, &rq, (struct nl_sink){ on_net_rule, w }, &why) == 0 ||
	    why.errnum == EAFNOSUPPORT || why.errnum == EOPNOTSUPP)
		return 0;
	*e = why;
	return err_wrap(e, "rules");
}

int nl_rule_list(struct nl *nl, rule_fn fn, void *arg, struct err *e)
{
	static const uint8_t families[] = { AF_INET, AF_INET6 };
	auto_rule_dump struct rule_dump w = { .start = 0 };

	for (size_t i = 0; i < ARRAY_SIZE(families); i++) {
		w.family = families[i];
		if (rule_dump_family(nl, &w, e))
			return -1;
	}

	const struct rule_spec *r = w.found.items;

	for (size_t i = 0; i < w.found.n; i++)
		if (fn(&r[i], arg))
			break;
	return 0;
}
