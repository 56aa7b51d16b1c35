/* SPDX-License-Identifier: Apache-2.0 */
/* tier.c: the traffic class that the records of a pod's attachments give. */
#include "rdma/env/tier.h"

#include <stdio.h>
#include <string.h>

#include "cni/record/record.h"
#include "sriov/claim/taken.h"

struct search {
	const struct env_options *o;
	struct netns_id pod;
	struct tier tier;
	char ifname[IFNAME_LEN]; /* the interface that has this tier; "": none yet */
	struct err *e;
	int rc;
};

static bool tier_is_wanted(const struct env_options *o, const char *ifname)
{
	for (size_t i = 0; o->interfaces && o->interfaces[i]; i++) {
		if (strcmp(o->interfaces[i], ifname) == 0)
			return true;
	}
	return !o->interfaces;
}

static int note_difference(struct search *s, const char *ifname, const struct tier *t)
{
	s->rc = err_set(
		s->e, ERR_CONFIG, 0,
		"%s is of tier \"%s\" with trafficClass %d, %s of tier \"%s\" with %d: NCCL "
		"has one for all",
		s->ifname, s->tier.name, (int)s->tier.traffic_class, ifname, t->name,
		(int)t->traffic_class);
	return err_hint(s->e, "say which: --tc, or --interface");
}

static int on_tier_record(const struct record *r, void *arg)
{
	struct search *s = arg;
	struct tier t;
	struct err ignored;

	if (!r->tree || r->name_mismatch || !netns_same(r->netns_id, s->pod) ||
	    !tier_is_wanted(s->o, r->key.ifname) || sriov_device_tier(r->device, &t, &ignored) ||
	    t.traffic_class < 0)
		return 0;
	if (*s->ifname)
		return s->tier.traffic_class == t.traffic_class
			       ? 0
			       : note_difference(s, r->key.ifname, &t);
	s->tier = t;
	(void)snprintf(s->ifname, sizeof(s->ifname), "%s", r->key.ifname);
	return 0;
}

int rdma_tier_class(const struct ctx *ctx, const char *path, struct env_options *o,
		    char why[RDMA_TIER_WHY_LEN], struct err *e)
{
	auto_netns struct netns ns = { .fd = -1 };
	struct search s = { .o = o, .e = e };
	struct err ignored;

	/* The caller reports a path that is not a namespace. */
	if (o->tc >= 0 || !path || *path != '/' || netns_open(path, &ns, &ignored))
		return 0;
	s.pod = ns.id;
	/* A record that cannot be read does not stop the command. */
	(void)!record_each(ctx, NULL, on_tier_record, &s, &ignored);
	if (s.rc || !*s.ifname)
		return s.rc;
	(void)snprintf(why, RDMA_TIER_WHY_LEN, "of the tier \"%s\" of %s", s.tier.name, s.ifname);
	o->tc = (int)s.tier.traffic_class;
	o->tc_why = why;
	return 0;
}
