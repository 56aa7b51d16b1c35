/* SPDX-License-Identifier: Apache-2.0 */
#include "sriov/take/residue.h"

#include <stdio.h>
#include <string.h>

#include "sriov/take/taken.h"

struct search {
	const char *vf, *boot;
	const struct record_key *except;
	char *who;
	bool found;
};

static bool same_key(const struct record_key *a, const struct record_key *b)
{
	return strcmp(a->network, b->network) == 0 && strcmp(a->container, b->container) == 0 &&
	       strcmp(a->ifname, b->ifname) == 0;
}

static int consider_record(const struct record *r, void *arg)
{
	struct search *s = arg;
	const char *vf = r->tree ? sriov_device_vf(r) : NULL;

	if (!vf || strcmp(vf, s->vf) != 0 || strcmp(r->boot, s->boot) != 0 ||
	    (s->except && same_key(&r->key, s->except)))
		return 0;
	(void)snprintf(s->who, RESIDUE_LEN,
		       "container %.64s (network %.64s, %.16s), of which there is a record but no "
		       "DEL",
		       r->key.container, r->key.network, r->key.ifname);
	return s->found = true;
}

bool residue_of(const struct ctx *ctx, const char *vf, const struct record_key *except,
		char who[RESIDUE_LEN])
{
	char boot[CTX_BOOT_ID_LEN + 1];
	struct search s = { .vf = vf, .boot = boot, .except = except, .who = who };
	struct err why;

	if (ctx_boot_id(ctx, boot, &why) == 0 &&
	    record_each(ctx, NULL, consider_record, &s, &why) == 0)
		return s.found;
	if (!s.found)
		(void)snprintf(who, RESIDUE_LEN, "somebody, perhaps: %.200s", why.msg);
	return true;
}
