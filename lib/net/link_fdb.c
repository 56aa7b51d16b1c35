/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link_fdb.c: lists the addresses, of stations and groups, whose frames an Ethernet interface
 * accepts.
 */
#include <errno.h>
#include <linux/neighbour.h>
#include <string.h>

#include "lib/net/link.h"
#include "lib/net/nl_msg.h"

struct fdb {
	int ifindex;
	struct nl_list all;
};

struct entry {
	uint8_t mac[MAC_LEN];
};

/* Of other interfaces, too: a kernel without strict checks ignores the filter. */
static int on_entry(const struct nlmsghdr *h, void *arg, struct err *e)
{
	static const struct nla_policy policy[NDA_MAX + 1] = {
		[NDA_LLADDR] = { .type = NLA_UNSPEC },
	};
	struct nlattr *tb[NDA_MAX + 1];
	struct fdb *f = arg;
	struct entry x;

	if (!h) {
		f->all.n = 0;
		return 0;
	}
	const struct ndmsg *nd = nlmsg_data(h);
	if (h->nlmsg_type != RTM_NEWNEIGH || nlmsg_datalen(h) < (int)sizeof(*nd) ||
	    nd->ndm_ifindex != f->ifindex || !(nd->ndm_flags & NTF_SELF))
		return 0;
	if (nl_parse_attrs(h, sizeof(*nd), tb, NDA_MAX, policy))
		return err_set(e, ERR_KERNEL, EBADMSG, "read an address from the kernel");
	if (!tb[NDA_LLADDR] || nla_len(tb[NDA_LLADDR]) != MAC_LEN)
		return 0;
	memcpy(x.mac, nla_data(tb[NDA_LLADDR]), MAC_LEN);
	return nl_list_add(&f->all, &x, sizeof(x), e);
}

int nl_link_listens(struct nl *nl, int ifindex, link_mac_fn fn, void *arg, struct err *e)
{
	auto_nl_req struct nl_req rq = { 0 };
	struct ndmsg nd = { .ndm_family = AF_BRIDGE, .ndm_ifindex = ifindex };
	struct fdb f = { .ifindex = ifindex };

	nl_req_begin(&rq, RTM_GETNEIGH, 0, &nd, sizeof(nd));
	int rc = nl_get_dump(nl, &rq, (struct nl_sink){ on_entry, &f }, e);
	const struct entry *x = f.all.items;
	for (size_t i = 0; rc == 0 && i < f.all.n; i++) {
		if (fn(x[i].mac, arg))
			break;
	}
	nl_list_clear(&f.all);
	return rc ? err_wrap(e, "addresses that interface number %d listens to", ifindex) : 0;
}
