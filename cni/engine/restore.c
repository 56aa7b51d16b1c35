/* SPDX-License-Identifier: Apache-2.0 */
/* restore.c: removes or gives back the interface that a record names. */
#include "cni/engine/restore.h"

#include <string.h>

void attach_note_deleting(const struct ctx *ctx, const struct record *r)
{
	struct record begun = *r;
	struct err why;

	begun.deleting = true;
	if (!r->deleting && record_write(ctx, &begun, &why))
		log_warn(&ctx->log, "%s", why.msg);
}

static int delete_recorded(const struct ctx *ctx, const struct netns *pod, const struct record *r,
			   struct err *e)
{
	auto_netns struct netns host = { .fd = -1 };
	auto_nl struct nl *nl = NULL;
	enum attach_found found;
	struct link_info link;

	if (netns_open_self(&host, e) || nl_open_in(pod, &host, &nl, e) ||
	    attach_find_link(nl, r, &link, &found, e))
		return -1;
	if (found != FOUND_OURS && found != FOUND_RENAMED)
		return 0;
	attach_note_deleting(ctx, r);
	return nl_link_delete(nl, link.ifindex, e);
}

int attach_netns_of(const struct ctx *ctx, const struct record *r, struct netns *pod, struct err *e)
{
	const struct netns_on_record what = record_netns(r);
	char holder[NETNS_HOLDER_LEN];
	int rc = netns_locate(ctx, &what, pod, holder, e);

	if (rc > 0 && *holder)
		log_debug(&ctx->log, "network namespace %s is not at its path any more: %s has it",
			  r->netns, holder);
	return rc;
}

static int restore_link(const struct ctx *ctx, const struct record *r, struct err *e)
{
	auto_netns struct netns pod = { .fd = -1 };
	int rc = attach_netns_of(ctx, r, &pod, e);

	return rc > 0 ? delete_recorded(ctx, &pod, r, e) : rc;
}

int attach_restore(const struct ctx *ctx, const struct record *r,
		   const struct attach_restore_type *others, struct err *e)
{
	char boot[CTX_BOOT_ID_LEN + 1];

	if (ctx_boot_id(ctx, boot, e))
		return -1;
	if (strcmp(boot, r->boot) != 0)
		return 0;
	for (; others && others->plugin; others++) {
		if (strcmp(others->plugin, r->plugin) == 0)
			return others->restore(ctx, r, e);
	}
	return restore_link(ctx, r, e);
}
