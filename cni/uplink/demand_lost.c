/* SPDX-License-Identifier: Apache-2.0 */
/* demand_lost.c: members that a bond on demand does not have any more. Changes nothing. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cni/uplink/demand_priv.h"
#include "lib/base/array.h"
#include "lib/sys/fs.h"

#define LOST_MAX 4096

static const char *const names[] = {
	[DEMAND_AWAY] = "away",
	[DEMAND_CAME_BACK] = "came-back",
	[DEMAND_LEFT] = "left",
	[DEMAND_UNPROVED] = "unproved",
};

const char *demand_lost_name(enum demand_lost_why why)
{
	return names[why];
}

const char *demand_lost_text(const struct demand_lost *x, char out[DEMAND_LOST_LEN])
{
	switch (x->why) {
	case DEMAND_AWAY:
		(void)snprintf(out, DEMAND_LOST_LEN,
			       "its card is not there; when it is back, look here again for what "
			       "joins it");
		break;
	case DEMAND_CAME_BACK:
		(void)snprintf(out, DEMAND_LOST_LEN,
			       "its card came back as number %d; unless something else uses it, "
			       "`railctl attachments repair` joins it again, or the next ADD or GC",
			       x->ifindex);
		break;
	case DEMAND_LEFT:
	case DEMAND_UNPROVED:
		(void)snprintf(out, DEMAND_LOST_LEN,
			       "%s, `ip link set dev %s down` and `ip link set dev %s master %s` "
			       "join it again",
			       x->why == DEMAND_LEFT
				       ? "it was taken out; if nothing else uses it"
				       : "nothing proves that the interface of this name is its "
					 "card; if it is",
			       x->member, x->member, x->bond);
		break;
	}
	return out;
}

bool demand_is_lost(const struct demand_lower *was, int bond, const struct link_info *numbered,
		    const struct link_info *named, enum demand_lost_why *why)
{
	struct demand_lower now;

	if (numbered && demand_is_lower(was, numbered)) {
		*why = DEMAND_LEFT;
		return numbered->upper_ifindex != bond;
	}
	*why = DEMAND_AWAY;
	if (!named)
		return true;
	demand_describe_lower(named, &now);
	*why = demand_came_back(was, &now) ? DEMAND_CAME_BACK : DEMAND_UNPROVED;
	return named->upper_ifindex != bond;
}

/* ---- all masters ---- */

struct looking {
	const struct ctx *ctx;
	struct nl *nl; /* owned */
	char boot[CTX_BOOT_ID_LEN + 1];
	struct netns_id here;
	struct demand_losses all;
};

static void looking_clear(struct looking *l)
{
	nl_release(l->nl);
	demand_losses_clear(&l->all);
}

/* 1: there is one; 0: none. */
static int demand_lost_find(struct nl *nl, int ifindex, const char *name, struct link_info *out,
			    struct err *e)
{
	struct err why;

	if ((name ? nl_link_by_name(nl, name, out, &why)
		  : nl_link_by_index(nl, ifindex, out, &why)) == 0)
		return 1;
	if (why.errnum == ENODEV)
		return 0;
	return err_pass(e, &why);
}

static int demand_lost_look_at(struct looking *l, const char *master,
			       const struct demand_link *bond, size_t i, struct err *e)
{
	const struct demand_lower *was = &bond->lower[i];
	struct demand_lost x = { .ifindex = 0 };
	struct link_info numbered, named;
	const int n = demand_lost_find(l->nl, was->ifindex, NULL, &numbered, e);
	const int m = n < 0 ? -1 : demand_lost_find(l->nl, 0, was->name, &named, e);

	if (m < 0)
		return -1;
	if (!demand_is_lost(was, bond->ifindex, n ? &numbered : NULL, m ? &named : NULL, &x.why))
		return 0;
	(void)snprintf(x.master, sizeof(x.master), "%s", master);
	(void)snprintf(x.bond, sizeof(x.bond), "%s", bond->name);
	(void)snprintf(x.member, sizeof(x.member), "%s", was->name);
	if (x.why != DEMAND_AWAY)
		x.ifindex = x.why == DEMAND_LEFT ? was->ifindex : named.ifindex;
	return ARRAY_PUSH(l->all.item, l->all.n, LOST_MAX, "members of bonds", x, e);
}

/* A bond that is gone has no members to miss: CHECK says that it is missing. */
static int look_at_bond(struct looking *l, const char *master, const struct demand_state *s,
			struct err *e)
{
	struct link_info bond;
	int rc;

	if (s->link.kind != DEMAND_BOND || s->making || strcmp(s->boot, l->boot) != 0 ||
	    !netns_same(s->netns, l->here))
		return 0;
	rc = demand_lost_find(l->nl, s->link.ifindex, NULL, &bond, e);
	for (size_t i = 0; rc > 0 && i < s->link.n; i++)
		if (demand_lost_look_at(l, master, &s->link, i, e))
			return -1;
	return rc < 0 ? -1 : 0;
}

/* A file that cannot be read is left out. */
static int look_at_file(struct looking *l, const char *file, struct err *e)
{
	auto_demand_state struct demand_state s = { .users = NULL }, below = { .users = NULL };
	char name[IFNAME_LEN];
	struct err ignored;

	if (!demand_name_of_file(file, name) || demand_peek(l->ctx, name, &s, &ignored) <= 0)
		return 0;
	if (s.link.kind == DEMAND_BOND)
		return look_at_bond(l, name, &s, e);
	return demand_peek(l->ctx, s.link.lower[0].name, &below, &ignored) > 0
		       ? look_at_bond(l, name, &below, e)
		       : 0;
}

static int demand_lost_begin(struct looking *l, struct err *e)
{
	auto_netns struct netns here = { .fd = -1 };

	if (ctx_boot_id(l->ctx, l->boot, e) || netns_open_self(&here, e) || nl_open(&l->nl, e))
		return -1;
	l->here = here.id;
	return 0;
}

/* The order of a folder is none. */
static int demand_lost_by_name(const void *a, const void *b)
{
	const struct demand_lost *x = a, *y = b;
	const int rc = strcmp(x->master, y->master);

	return rc ? rc : strcmp(x->member, y->member);
}

int demand_find_lost(const struct ctx *ctx, struct demand_losses *out, struct err *e)
{
	auto_clean(looking_clear) struct looking l = { .ctx = ctx };
	auto_fs_names struct fs_names files = { .n = 0 };
	struct err why;
	auto_fd int run = fs_open_dir(ctx->run_dir, false, &why);

	if (run < 0 || fs_names_at(run, DEMAND_FOLDER, FS_NAMES_MAX, &files, &why)) {
		*out = (struct demand_losses){ .n = 0 };
		return why.errnum == ENOENT ? 0 : err_pass(e, &why);
	}
	if (demand_lost_begin(&l, e))
		return -1;
	for (size_t i = 0; i < files.n; i++)
		if (look_at_file(&l, files.name[i], e))
			return err_wrap(e, "masters on demand");
	if (l.all.n)
		qsort(l.all.item, l.all.n, sizeof(*l.all.item), demand_lost_by_name);
	*out = l.all;
	l.all = (struct demand_losses){ .n = 0 };
	return 0;
}

void demand_losses_clear(struct demand_losses *x)
{
	free(x->item);
	*x = (struct demand_losses){ .n = 0 };
}
