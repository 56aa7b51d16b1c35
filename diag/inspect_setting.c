/* SPDX-License-Identifier: Apache-2.0 */
/* inspect_setting.c: findings about ARP and other settings of the interface of a rail. */
#include <stdio.h>
#include <string.h>

#include "diag/inspect_priv.h"

/* The need of a rail; both limits are good, too. */
struct need {
	enum inspect_code code;
	int least, most, wanted;
	bool v6;      /* of IPv6 */
	bool noted;   /* only of rails whose record has routes: ADD set it */
	bool network; /* worse if another rail has an address in the same network */
	const char *effect;
};

/* For arp_ignore, 1 and 2 answer for own addresses alone; others for any of the pod, 8 for none. */
static const struct need needs[] = {
	[INSPECT_IGNORE] = { INSPECT_ARP_IGNORE, 1, 2, 1, false, false, true,
			     "the interface answers ARP for the addresses of other rails (with 8: "
			     "for none), and packets arrive by the wrong rail" },
	[INSPECT_ANNOUNCE] = { INSPECT_ARP_ANNOUNCE, 2, 2, 2, false, false, true,
			       "ARP requests carry the address of another rail, and peers learn "
			       "the wrong way to it" },
	[INSPECT_RP_FILTER] = { INSPECT_ARP_RP_FILTER, 0, 0, 2, false, false, false,
				"packets whose way back is another interface are dropped (RFC "
				"3704, strict)" },
	[INSPECT_PROXY] = { INSPECT_ARP_PROXY, 0, 0, 0, false, false, true,
			    "the interface answers ARP for all addresses that the pod has a "
			    "route to" },
	[INSPECT_LINKDOWN] = { INSPECT_SETTING_LINKDOWN, 1, 1, 1, false, true, false,
			       "without carrier, packets take the routes of this rail and are "
			       "lost" },
	[INSPECT_LINKDOWN6] = { INSPECT_SETTING_LINKDOWN, 1, 1, 1, true, true, false,
				"without carrier, packets take the routes of this rail and are "
				"lost" },
	[INSPECT_RA] = { INSPECT_SETTING_RA, 0, 0, 0, true, true, false,
			 "a router advertisement gives the main table a default route by this "
			 "rail" },
};

/* Another rail with IPv4; in_net: one with an address in a network of r. */
static bool has_neighbour(const struct inspect *s, const struct inspect_rail *r, bool in_net)
{
	for (size_t i = 0; i < s->n_rails; i++) {
		const struct inspect_rail *x = &s->rail[i];

		for (size_t k = 0; k < x->n_addrs && x != r && x->link.ifindex; k++) {
			const struct ip a = x->addr[k].addr.addr;

			if (a.family == IP_V4 && !in_net)
				return true;
			for (size_t n = 0; a.family == IP_V4 && n < r->n_addrs; n++)
				if (ip_in_prefix(r->addr[n].addr, a))
					return true;
		}
	}
	return false;
}

/* Strict is 1: loose, and none at all, let packets of other rails in. */
static bool is_good(const struct inspect_rail *r, enum inspect_setting s)
{
	const int v = r->setting[s];

	return s == INSPECT_RP_FILTER ? v != 1 : v >= needs[s].least && v <= needs[s].most;
}

/* "sysctl": {"net.ipv4.conf.IFNAME.arp_ignore": ...}: the configuration wants it so. */
static bool is_configured(const struct inspect_rail *r, enum inspect_setting s)
{
	const char *name = strrchr(inspect_setting_path(s), '/') + 1;
	char key[80];

	(void)snprintf(key, sizeof(key), "net.%s.conf.IFNAME.%s", needs[s].v6 ? "ipv6" : "ipv4",
		       name);
	return json_get(json_get(r->config, "sysctl"), key) != NULL;
}

static bool applies(const struct inspect_run *run, const struct inspect_rail *r,
		    enum inspect_setting s)
{
	if (is_configured(r, s))
		return false;
	/* A kernel without IPv6 has none of its settings. */
	if (needs[s].noted)
		return r->n_wanted && r->setting[s] >= 0 &&
		       inspect_has_family(r, needs[s].v6 ? IP_V6 : IP_V4);
	return inspect_has_family(r, IP_V4) && has_neighbour(run->s, r, !r->n_noted);
}

static void tell_unread(struct inspect_run *run, const struct inspect_rail *r,
			enum inspect_setting s)
{
	struct finding *f = inspect_add(run, r, INSPECT_SETTING_UNREAD, FINDING_UNKNOWN);

	finding_set_value(f, "%s cannot be read", inspect_setting_name(s));
	finding_set_reason(f, "with a wrong value, %s", needs[s].effect);
	finding_set_remedy(f, "run it as root on the node itself");
}

/* In a network of its own, only a peer with a wrong route asks for the address of another rail. */
static bool diag_check_setting(struct inspect_run *run, const struct inspect_rail *r,
			       enum inspect_setting s)
{
	const struct need *n = &needs[s];
	const char *name = strrchr(inspect_setting_path(s), '/') + 1;
	struct finding *f;

	if (!applies(run, r, s) || (r->setting[s] >= 0 && is_good(r, s)))
		return true;
	if (r->setting[s] < 0) {
		tell_unread(run, r, s);
		return false;
	}
	f = inspect_add(run, r, n->code,
			n->network && has_neighbour(run->s, r, true) ? FINDING_FAIL : FINDING_WARN);
	finding_set_value(f, "%s is %d, should be %d", inspect_setting_name(s), r->setting[s],
			  n->wanted);
	finding_set_reason(f, "%s", n->effect);
	finding_set_remedy(f, "in the pod: sysctl -w net.%s.conf.%s.%s=%d%s",
			   n->v6 ? "ipv6" : "ipv4", r->ifname, name, n->wanted,
			   inspect_setting_has_all(s)
				   ? "; the larger of this and net.ipv4.conf.all counts"
				   : "");
	return false;
}

/* Names what differs, as CHECK does. */
static bool check_drift(struct inspect_run *run, const struct inspect_rail *r)
{
	struct finding *f;

	if (!*r->drift)
		return true;
	f = inspect_add(run, r, INSPECT_SETTING_CHANGED, FINDING_WARN);
	finding_set_value(f, "%s", r->drift);
	finding_set_reason(f, "a program of the pod changed it, and CHECK fails");
	finding_set_remedy(f, "set it to the configured value in the pod, or restart the pod");
	return false;
}

void inspect_check_settings(struct inspect_run *run, const struct inspect_rail *r)
{
	bool good = true, arp = true;

	for (int s = 0; s < INSPECT_SETTINGS && r->table; s++) {
		const bool ok = diag_check_setting(run, r, (enum inspect_setting)s);

		if (needs[s].noted)
			good = good && ok;
		else
			arp = arp && ok;
	}
	good = check_drift(run, r) && good;
	if (arp && r->table && applies(run, r, INSPECT_RP_FILTER))
		finding_set_value(inspect_ok(run, r, "arp"),
				  "arp_ignore %d, arp_announce %d, rp_filter %d, proxy_arp %d",
				  r->setting[INSPECT_IGNORE], r->setting[INSPECT_ANNOUNCE],
				  r->setting[INSPECT_RP_FILTER], r->setting[INSPECT_PROXY]);
	if (good && (r->n_wanted || r->config))
		finding_set_value(inspect_ok(run, r, "setting"), "as configured");
}
