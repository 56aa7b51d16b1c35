/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ingress.c: a filter for what arrives at an interface, by the addresses of the senders.
 *
 * It is one program of classic BPF at the qdisc clsact. The kernel has removed an outer VLAN tag by
 * then, and a frame with another one is not IP to the program. A frame that is too short for the
 * address of its sender passes, and the IP layer drops it.
 */
#include "lib/net/ingress.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/pkt_cls.h>
#include <linux/pkt_sched.h>
#include <linux/rtnetlink.h>
#include <string.h>

#include "lib/net/nl_msg.h"

#define PASS     UINT32_MAX /* TC_ACT_UNSPEC: other filters decide */
#define MOST     480        /* instructions: what one request has room for */
#define SRC_V4   (ETH_HLEN + 12)
#define SRC_V6   (ETH_HLEN + 8)
#define HANDLE   1
#define PRIORITY 1

/* ---- the program ---- */

struct program {
	struct sock_filter op[MOST];
	uint32_t n; /* may be more than MOST: then it is too long */
};

/* Of a jump: so many instructions are skipped if the values are equal, and if they differ. */
struct skip {
	uint8_t equal, differ;
};

static void emit(struct program *p, uint16_t code, uint32_t k, struct skip skip)
{
	if (p->n < MOST)
		p->op[p->n] = (struct sock_filter){ code, skip.equal, skip.differ, k };
	p->n++;
}

static void ingress_load(struct program *p, uint16_t size, uint32_t at)
{
	emit(p, BPF_LD | BPF_ABS | size, at, (struct skip){ 0 });
}

static void ingress_compare(struct program *p, uint32_t value, struct skip skip)
{
	emit(p, BPF_JMP | BPF_JEQ | BPF_K, value, skip);
}

static void ingress_end(struct program *p, uint32_t verdict)
{
	emit(p, BPF_RET | BPF_K, verdict, (struct skip){ 0 });
}

static void pass(struct program *p, struct ip a)
{
	if (a.family == IP_V4)
		ingress_compare(p, (uint32_t)a.v, (struct skip){ .differ = 1 });
	for (uint8_t i = 0; a.family == IP_V6 && i < 4; i++) {
		ingress_load(p, BPF_W, SRC_V6 + 4U * i);
		ingress_compare(p, (uint32_t)(a.v >> (96 - 32 * i)),
				(struct skip){ .differ = (uint8_t)(7 - 2 * i) });
	}
	ingress_end(p, PASS);
}

/* The least address of the family that is more than `after`; false: there is none. */
static bool next_of(const struct ip *addr, size_t n, enum ip_family f, const struct ip *after,
		    struct ip *out)
{
	bool found = false;

	for (size_t i = 0; i < n; i++) {
		if (addr[i].family != f || (after && ip_cmp(addr[i], *after) <= 0) ||
		    (found && ip_cmp(addr[i], *out) >= 0))
			continue;
		*out = addr[i];
		found = true;
	}
	return found;
}

static void pass_family(struct program *p, const struct ip *addr, size_t n, enum ip_family f)
{
	struct ip a, before;

	for (bool more = next_of(addr, n, f, NULL, &a); more;
	     more = next_of(addr, n, f, &before, &a)) {
		pass(p, a);
		before = a;
	}
	ingress_end(p, TC_ACT_SHOT);
}

/* One program for one set of addresses, whatever their order is. */
static void build(struct program *p, const struct ip *addr, size_t n)
{
	p->n = 0;
	ingress_load(p, BPF_H, ETH_HLEN - 2);
	ingress_compare(p, ETH_P_IP, (struct skip){ .equal = 1 });
	const uint32_t to_v6 = p->n;
	emit(p, BPF_JMP | BPF_JA, 0, (struct skip){ 0 });
	ingress_load(p, BPF_W, SRC_V4);
	pass_family(p, addr, n, IP_V4);
	p->op[to_v6].k = p->n - to_v6 - 1;
	ingress_compare(p, ETH_P_IPV6, (struct skip){ .equal = 1 });
	ingress_end(p, TC_ACT_SHOT);
	pass_family(p, addr, n, IP_V6);
}

/* ---- the kernel ---- */

static struct tcmsg filter_head(int ifindex)
{
	return (struct tcmsg){
		.tcm_ifindex = ifindex,
		.tcm_handle = HANDLE,
		.tcm_parent = TC_H_MAKE(TC_H_CLSACT, TC_H_MIN_INGRESS),
		.tcm_info = TC_H_MAKE(PRIORITY << 16, htons(ETH_P_ALL)),
	};
}

static int ingress_explain(int ifindex, struct err *e)
{
	if (e->errnum == ENOENT || e->errnum == EOPNOTSUPP)
		err_hint(e, "the kernel needs the modules sch_ingress and cls_bpf "
			    "(CONFIG_NET_SCH_INGRESS, CONFIG_NET_CLS_BPF)");
	return err_wrap(e, "filter what arrives at interface number %d", ifindex);
}

static int add_qdisc(struct nl *nl, int ifindex, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	const struct tcmsg head = {
		.tcm_ifindex = ifindex,
		.tcm_handle = TC_H_MAKE(TC_H_CLSACT, 0),
		.tcm_parent = TC_H_CLSACT,
	};
	struct err why;

	nl_req_begin(&rq, RTM_NEWQDISC, NLM_F_CREATE | NLM_F_EXCL, &head, sizeof(head));
	nl_req_put_str(&rq, TCA_KIND, "clsact");
	if (nl_request(nl, &rq, &why) == 0 || why.errnum == EEXIST)
		return 0;
	return err_pass(e, &why);
}

static int ingress_set_filter(struct nl *nl, int ifindex, const struct program *p, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	const struct tcmsg head = filter_head(ifindex);

	nl_req_begin(&rq, RTM_NEWTFILTER, NLM_F_CREATE, &head, sizeof(head));
	nl_req_put_str(&rq, TCA_KIND, "bpf");

	struct nlattr *options = nl_req_nest(&rq, TCA_OPTIONS);

	nl_req_put_u32(&rq, TCA_BPF_FLAGS, TCA_BPF_FLAG_ACT_DIRECT);
	nl_req_put_u16(&rq, TCA_BPF_OPS_LEN, (uint16_t)p->n);
	nl_req_put(&rq, TCA_BPF_OPS, p->op, p->n * sizeof(*p->op));
	nl_req_nest_end(&rq, options);
	return nl_request(nl, &rq, e);
}

int nl_ingress_allow(struct nl *nl, int ifindex, const struct ip *addr, size_t n, struct err *e)
{
	struct program p;

	build(&p, addr, n);
	if (p.n > MOST)
		return err_set(e, ERR_CONFIG, 0,
			       "%zu addresses are too many for the filter of one interface", n);
	return add_qdisc(nl, ifindex, e) || ingress_set_filter(nl, ifindex, &p, e)
		       ? ingress_explain(ifindex, e)
		       : 0;
}

struct search {
	const struct program *wanted;
	bool found;
};

static int on_filter(const struct nlmsghdr *h, void *arg, struct err *e)
{
	static const struct nla_policy none[TCA_MAX + 1], in_options[TCA_BPF_MAX + 1];
	struct nlattr *tb[TCA_MAX + 1], *options[TCA_BPF_MAX + 1];
	struct search *s = arg;

	(void)e;
	if (!h || h->nlmsg_type != RTM_NEWTFILTER || nlmsg_datalen(h) < (int)sizeof(struct tcmsg) ||
	    nl_parse_attrs(h, sizeof(struct tcmsg), tb, TCA_MAX, none) || !tb[TCA_OPTIONS] ||
	    nla_parse_nested(options, TCA_BPF_MAX, tb[TCA_OPTIONS], in_options) < 0)
		return 0;

	const struct nlattr *ops = options[TCA_BPF_OPS];
	const size_t size = s->wanted->n * sizeof(*s->wanted->op);

	s->found = ops && options[TCA_BPF_FLAGS] && (size_t)nla_len(ops) == size &&
		   memcmp(nla_data(ops), s->wanted->op, size) == 0;
	return 0;
}

int nl_ingress_check(struct nl *nl, int ifindex, const struct ip *addr, size_t n, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	const struct tcmsg head = filter_head(ifindex);
	struct program p;
	struct search s = { .wanted = &p };
	struct err why;

	build(&p, addr, n);
	nl_req_begin(&rq, RTM_GETTFILTER, 0, &head, sizeof(head));
	nl_req_put_str(&rq, TCA_KIND, "bpf");
	if (nl_get(nl, &rq, (struct nl_sink){ on_filter, &s }, &why) && why.code != ERR_KERNEL) {
		*e = why;
		return err_wrap(e, "filter of interface number %d", ifindex);
	}
	return s.found ? 0 : err_set(e, ERR_STATE, 0, "lacks the filter that checks the senders");
}
