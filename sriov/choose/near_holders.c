/* SPDX-License-Identifier: Apache-2.0 */
/* near_holders.c: names the owners of VFs from their states and records. */
#include "sriov/choose/near_holders.h"

#include <stdio.h>
#include <string.h>

#include "cni/protocol/env.h"
#include "cni/record/part.h"
#include "sriov/choose/inventory.h"

struct holders {
	const struct ctx *ctx;
	char *out;
	size_t len;
	unsigned more; /* that did not fit */
};

static void name_owner(const struct ctx *ctx, const struct record_key *key, char out[400])
{
	auto_record struct record r = { 0 };
	struct cni_pod pod = { .ns = "" };
	struct record part;
	struct err ignored;

	if (record_read_part(ctx, key, &r, &part, &ignored) == 0)
		pod = cni_args_pod(part.args ? part.args : "");
	if (*pod.name)
		(void)snprintf(out, 400, "pod %s/%s (%.16s)", pod.ns, pod.name, key->ifname);
	else
		(void)snprintf(out, 400, "container %.64s (%.16s)", key->container, key->ifname);
}

static int add_holder(const char *vf, void *arg)
{
	struct holders *h = arg;
	auto_vf_entry struct vf_entry x = { 0 };
	char owner[400], one[sizeof(owner) + 32];
	struct err ignored;

	if (vf_state_current(h->ctx, vf, &x, &ignored) || !x.owned)
		return 0;
	name_owner(h->ctx, &x.owner.key, owner);
	int n = snprintf(one, sizeof(one), "%s%s has %s", h->len ? ", " : "", vf, owner);
	/* The number of the others must fit behind it. */
	if (h->more || h->len + (size_t)n + 24 > NEAR_HOLDERS_LEN) {
		h->more++;
		return 0;
	}
	memcpy(h->out + h->len, one, (size_t)n + 1);
	h->len += (size_t)n;
	return 0;
}

void near_holders(const struct claimant *who, struct pf_list pfs, char out[NEAR_HOLDERS_LEN])
{
	struct holders h = { .ctx = who->ctx, .out = out };
	struct err ignored;

	*out = '\0';
	for (size_t i = 0; i < pfs.n; i++)
		(void)!pci_vf_each(who->ctx->sysfs, pfs.name[i], add_holder, &h, &ignored);
	if (h.more)
		(void)snprintf(out + h.len, NEAR_HOLDERS_LEN - h.len, ", and %u more", h.more);
}
