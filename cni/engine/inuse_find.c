/* SPDX-License-Identifier: Apache-2.0 */
/* inuse_find.c: which living interface has a MAC or an address: of the host, or of an attachment.
 */
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cni/engine/inuse_priv.h"
#include "cni/record/part.h"
#include "lib/sys/netns.h"

struct finding {
	const struct inuse_place *at;
	const struct inuse_what *what;
	char who[INUSE_WHO_LEN];
	struct netns self;
	bool found;
};

struct address_search {
	struct ip ip;
	bool found;
};

static int inuse_find_match_address(const struct addr_info *a, void *arg)
{
	struct address_search *s = arg;

	s->found = ip_equal(a->addr.addr, s->ip);
	return s->found;
}

/* Only a macvlan that is up holds its MAC. */
static bool has_it(const struct finding *f, struct nl *nl, const struct link_info *link)
{
	struct address_search s = { .ip = f->what->ip };
	struct err ignored;

	if (!s.ip.family)
		return (link->flags & IFF_UP) && hw_addr_equal(link->addr, f->at->link->addr);
	return nl_addr_list(nl, link->ifindex, inuse_find_match_address, &s, &ignored) == 0 &&
	       s.found;
}

/* ---- in the namespace of the lower device ---- */

/* A macvlan may not have the MAC of its lower device either; an ipvlan has it. */
static bool is_beside(const struct finding *f, const struct link_info *link)
{
	const struct link_info *own = f->at->link;
	bool same_netns = f->at->lower_nl == f->at->pod_nl;

	if (same_netns && link->ifindex == own->ifindex)
		return false;
	return link->lower_ifindex == own->lower_ifindex
		       ? strcmp(link->kind, own->kind) == 0
		       : link->ifindex == own->lower_ifindex && !f->what->ip.family;
}

static int inuse_find_look_at_link(const struct link_info *link, void *arg)
{
	struct finding *f = arg;

	if (!is_beside(f, link) || !has_it(f, f->at->lower_nl, link))
		return 0;
	f->found = true;
	(void)snprintf(f->who, sizeof(f->who), "the interface %s of %s", link->name,
		       f->at->lower_nl == f->at->pod_nl ? "the pod" : "the host");
	return 1;
}

/* ---- in the namespaces of attachments ---- */

static void look_at_part(struct finding *f, struct nl *nl, const struct record *part)
{
	const struct link_info *own = f->at->link;
	struct link_info link;
	struct err ignored;

	if (f->found || part->lower_ifindex != own->lower_ifindex ||
	    nl_link_by_index(nl, part->ifindex, &link, &ignored) ||
	    link.lower_ifindex != own->lower_ifindex || strcmp(link.kind, own->kind) != 0 ||
	    !has_it(f, nl, &link))
		return;
	f->found = true;
	/* The author of a pod reads the error, and the operator the log. */
	(void)snprintf(f->who, sizeof(f->who),
		       "the interface %s of a pod, which the log of the node names", link.name);
	log_warn(&f->at->ctx->log,
		 "%s on %s is in use by %s of container %.64s (network %.64s), in %.160s",
		 f->what->text, f->at->master, link.name, part->key.container, part->key.network,
		 part->netns);
}

static int look_at_record(const struct record *r, void *arg)
{
	struct finding *f = arg;
	auto_netns struct netns pod = { .fd = -1 };
	auto_nl struct nl *nl = NULL;
	struct record part;
	struct err ignored;

	/* A path that leads to another namespace, or to none, says nothing here. */
	if (!r->tree || r->name_mismatch || netns_open(r->netns, &pod, &ignored) ||
	    !netns_same(pod.id, r->netns_id) || netns_same(pod.id, f->self.id) ||
	    nl_open_in(&pod, &f->self, &nl, &ignored))
		return 0;
	for (size_t i = 0; i < record_parts(r); i++) {
		record_part(r, i, &part);
		look_at_part(f, nl, &part);
	}
	return f->found;
}

int inuse_find(const struct inuse_place *at, const struct inuse_what *what, char who[INUSE_WHO_LEN],
	       struct err *e)
{
	auto_netns struct netns self = { .fd = -1 };

	if (netns_open_self(&self, e))
		return -1;

	struct finding f = { .at = at, .what = what, .self = self };

	if (nl_link_each(at->lower_nl, NULL, inuse_find_look_at_link, &f, e))
		return -1;
	/* A lower device in the pod has no interfaces of other pods. */
	if (!f.found && at->lower_nl != at->pod_nl &&
	    (record_each(at->ctx, NULL, look_at_record, &f, e) || netns_enter(&self, e)))
		return -1;
	(void)memcpy(who, f.who, INUSE_WHO_LEN);
	return f.found;
}
