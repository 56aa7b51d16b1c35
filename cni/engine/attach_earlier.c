/* SPDX-License-Identifier: Apache-2.0 */
/* attach_earlier.c: what an earlier ADD of the attachment left: refused, or restored. */
#include <errno.h>
#include <string.h>

#include "cni/engine/attach_priv.h"

static int find_any_link(struct nl *nl, const struct record *old, enum attach_found *found,
			 struct err *e)
{
	struct link_info link;
	struct record part;

	*found = FOUND_NONE;
	for (size_t i = 0; i < record_parts(old); i++) {
		record_part(old, i, &part);
		if (attach_find_link(nl, &part, &link, found, e))
			return -1;
		if (*found == FOUND_OURS || *found == FOUND_RENAMED)
			break;
	}
	return 0;
}

/* The interface of an earlier ADD, also in another namespace: that may live on without its path. */
static int find_earlier(const struct attach *a, const struct record *old, enum attach_found *found,
			struct err *e)
{
	const struct ctx *ctx = &a->call->ctx;
	auto_netns struct netns pod = { .fd = -1 }, host = { .fd = -1 };
	auto_nl struct nl *nl = NULL;
	char boot[CTX_BOOT_ID_LEN + 1];

	*found = FOUND_NONE;
	if (netns_same(old->netns_id, a->pod.id))
		return find_any_link(a->pod_nl, old, found, e);
	if (ctx_boot_id(ctx, boot, e))
		return -1;

	int rc = strcmp(boot, old->boot) == 0 ? attach_netns_of(ctx, old, &pod, e) : 0;

	if (rc <= 0)
		return rc;
	return netns_open_self(&host, e) || nl_open_in(&pod, &host, &nl, e)
		       ? -1
		       : find_any_link(nl, old, found, e);
}

/*
 * The new record will not have what the earlier one names: rules and the veth to the node, which
 * survive the interface, and a device. If the ADD was whole and no DEL began, the pod may have put
 * its device elsewhere, and keeps it.
 */
static int restore_rest(const struct attach *a, const struct record *old, struct err *e)
{
	const struct ctx *ctx = &a->call->ctx;
	bool same_boot;

	if ((old->adding || old->deleting) && attach_moved_own(a->call, old))
		return attach_restore_own(a->call, &a->records, old, e);
	return attach_same_boot(ctx, old, &same_boot, e) ||
			       (same_boot && attach_remove_rest(ctx, old, e))
		       ? -1
		       : 0;
}

/*
 * Refuse an ADD without DEL in between (CNI-042): the interface of the first one is there, under
 * whatever name, and would have the same address. A record whose interface is not there is what a
 * killed ADD left, or a DEL that failed.
 */
int attach_refuse_second(const struct attach *a, const struct record_key *key, struct err *e)
{
	const struct delegate_call del = { .cmd = CNI_DEL };
	auto_record struct record old = { 0 };
	enum attach_found found;
	struct err ignored;

	if (record_read(&a->records.ctx, key, &old, &ignored))
		return 0;
	if (find_earlier(a, &old, &found, e))
		return -1;
	if (found != FOUND_OURS && found != FOUND_RENAMED) {
		/* Records of other attachments are left to their owners, who hold their locks. */
		if (a->whole)
			return 0;
		if (restore_rest(a, &old, e))
			return -1;
		/* Nor the address of another IPAM. */
		return attach_same_ipam(a->call, &old)
			       ? 0
			       : attach_release(a->call, &old, &del, true, e);
	}
	err_set(e, ERR_BUSY, 0,
		"network %s is attached to container %s as %s already: run DEL before another ADD",
		key->network, key->container, key->ifname);
	if (netns_same(old.netns_id, a->pod.id))
		return -1;
	return err_hint(e, "its interface is in another network namespace, which lives");
}

/*
 * The name must be free (CNI-014), and known to have been: only then may we take back an interface
 * of which we cannot tell whether it was made.
 */
int attach_refuse_taken(const struct attach *a, struct err *e)
{
	const struct record_key key = attach_key(a->call);
	struct link_info link = { 0 };
	struct err why;

	if (nl_link_by_any_name(a->pod_nl, key.ifname, &link, &why) && why.errnum != ENODEV)
		return err_pass(e, &why);
	if (attach_refuse_second(a, &key, e))
		return -1;
	if (!link.ifindex)
		return 0;
	if (strcmp(link.name, key.ifname) != 0)
		return err_set(e, ERR_BUSY, 0,
			       "CNI_IFNAME: %s is an alternative name of interface %s of the "
			       "container: take another name, or that one from %s",
			       key.ifname, link.name, link.name);
	return err_set(e, ERR_BUSY, 0,
		       "CNI_IFNAME: the container has an interface %s already, of kind \"%s\"",
		       key.ifname, link.kind);
}

/*
 * The same for a plugin that follows: the interface is another plugin's, and is there. What an ADD
 * took that was killed, or whose namespace has gone, gets its DEL now: its record must not be lost.
 */
int attach_settle(const struct attach *a, struct err *e)
{
	const struct record_key key = attach_key(a->call);
	auto_record struct record old = { 0 };
	struct err ignored;

	if (record_read(&a->records.ctx, &key, &old, &ignored))
		return 0;
	if (!old.adding && netns_same(old.netns_id, a->pod.id) &&
	    a->type->check_earlier(a, &old, e))
		return -1;
	return attach_restore_own(a->call, &a->records, &old, e) ||
			       record_remove(&a->records.ctx, &key, e)
		       ? -1
		       : 0;
}
