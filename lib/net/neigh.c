/* SPDX-License-Identifier: Apache-2.0 */
/* neigh.c: lists the entries of ARP and neighbour discovery. */
#include "lib/net/neigh.h"

#include <errno.h>
#include <linux/neighbour.h>
#include <sys/socket.h>

#include "lib/net/nl_msg.h"

static const char *const state_names[] = {
	[NEIGH_KNOWN] = "known",
	[NEIGH_ASKED] = "asked",
	[NEIGH_FAILED] = "failed",
	[NEIGH_NO_NEED] = "no-need",
};

const char *neigh_state_name(enum neigh_state s)
{
	return state_names[s];
}

static enum neigh_state neigh_state_of(uint16_t nud)
{
	if (nud & NUD_FAILED)
		return NEIGH_FAILED;
	if (nud & NUD_INCOMPLETE)
		return NEIGH_ASKED;
	return nud & (NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT)
		       ? NEIGH_KNOWN
		       : NEIGH_NO_NEED;
}

struct neigh_dump {
	int ifindex;
	struct nl_list found; /* struct neigh_info */
};

/* Of other interfaces, too: a kernel without strict checks ignores the filter. */
static int on_net_neigh(const struct nlmsghdr *h, void *arg, struct err *e)
{
	static const struct nla_policy policy[NDA_MAX + 1] = {
		[NDA_DST] = { .type = NLA_UNSPEC },
		[NDA_LLADDR] = { .type = NLA_UNSPEC },
	};
	struct nlattr *tb[NDA_MAX + 1];
	struct neigh_dump *w = arg;

	if (!h) {
		w->found.n = 0;
		return 0;
	}
	const struct ndmsg *nd = nlmsg_data(h);
	if (h->nlmsg_type != RTM_NEWNEIGH || nlmsg_datalen(h) < (int)sizeof(*nd) ||
	    nd->ndm_ifindex != w->ifindex ||
	    (nd->ndm_family != AF_INET && nd->ndm_family != AF_INET6))
		return 0;

	struct neigh_info n = { .ifindex = nd->ndm_ifindex,
				.state = neigh_state_of(nd->ndm_state) };

	if (nl_parse_attrs(h, sizeof(*nd), tb, NDA_MAX, policy) || !tb[NDA_DST] ||
	    nl_attr_ip(tb[NDA_DST], nd->ndm_family, &n.addr))
		return err_set(e, ERR_KERNEL, EBADMSG, "read a neighbour from the kernel");
	if (tb[NDA_LLADDR] && n.state == NEIGH_KNOWN)
		n.hw = hw_addr_make(nla_data(tb[NDA_LLADDR]), (size_t)nla_len(tb[NDA_LLADDR]));
	return nl_list_add(&w->found, &n, sizeof(n), e);
}

int nl_neigh_list(struct nl *nl, int ifindex, neigh_fn fn, void *arg, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	const struct ndmsg nd = { .ndm_family = AF_UNSPEC };
	struct neigh_dump w = { .ifindex = ifindex };

	nl_req_begin(&rq, RTM_GETNEIGH, 0, &nd, sizeof(nd));
	nl_req_put_u32(&rq, NDA_IFINDEX, (uint32_t)ifindex);
	int rc = nl_get_dump(nl, &rq, (struct nl_sink){ on_net_neigh, &w }, e);
	const struct neigh_info *x = w.found.items;

	for (size_t i = 0; rc == 0 && i < w.found.n; i++) {
		if (fn(&x[i], arg))
			break;
	}
	nl_list_clear(&w.found);
	return rc ? err_wrap(e, "neighbours on interface number %d", ifindex) : 0;
}
