/* SPDX-License-Identifier: Apache-2.0 */
/*
 * living.c: `railctl ipam verify`: compares the leases with the attachments that have them.
 *
 * Attachments may change meanwhile. Before it reports a difference, it reads the record and then
 * the lease again.
 */
#include <string.h>

#include "cni/engine/repair.h"
#include "ipam/conf/conf.h"
#include "lib/net/addr.h"
#include "railctl/ipam/verify.h"

#define ADDRESSES_MAX 64 /* of one namespace */

struct seen {
	struct ip items[ADDRESSES_MAX];
	size_t n;
};

static int living_note_address(const struct addr_info *a, void *arg)
{
	struct seen *s = arg;

	s->items[s->n++] = a->addr.addr;
	return s->n == ADDRESSES_MAX;
}

static bool has_address(const struct seen *s, struct ip ip)
{
	for (size_t i = 0; i < s->n; i++) {
		if (ip_equal(s->items[i], ip))
			return true;
	}
	return false;
}

/* The addresses of all interfaces in the namespace, because a chain may use more than one. */
static int look_at_addresses(const struct record *r, struct seen *out, struct err *e)
{
	auto_netns struct netns host = { .fd = -1 }, pod = { .fd = -1 };
	auto_nl struct nl *nl = NULL;

	out->n = 0;
	if (netns_open_self(&host, e) || netns_open(r->netns, &pod, e) ||
	    nl_open_in(&pod, &host, &nl, e))
		return -1;
	return nl_addr_list(nl, 0, living_note_address, out, e);
}

/* Of all interfaces of the container: that of a GUID has a name of its own. */
static int leases_of(struct ipam *m, const struct record_key *key, struct json **out, struct err *e)
{
	const struct lease_filter f = { .network = key->network, .container = key->container };

	return admin_leases(m, &f, out, e);
}

static bool living_is_of_interface(const struct json *lease, const struct record_key *key)
{
	char ifname[OWNER_NAME_SIZE];

	return strcmp(owner_interface(json_text(lease, "ifname"), ifname), key->ifname) == 0;
}

/* ---- a lease, and its record ---- */

struct walk {
	struct living *l;
	struct findings *f;
	struct err *e;
};

static bool leases_still(const struct walk *w, const struct record_key *key, const char *address)
{
	auto_json struct json *now = NULL;
	struct err ignored;

	if (leases_of(w->l->ipam, key, &now, &ignored))
		return false;
	json_each (lease, now) {
		if (living_is_of_interface(lease, key) &&
		    strcmp(json_text(lease, "address"), address) == 0)
			return true;
	}
	return false;
}

/* With several interfaces one may be lost. Its address is not there, and the others are in use. */
static bool is_in_place(enum repair_state s)
{
	return s == REPAIR_HEALTHY || s == REPAIR_PARTLY_GONE;
}

static void compare_address(const struct walk *w, const struct json *lease, const struct record *r)
{
	const char *address = json_text(lease, "address");
	struct repair_view view;
	struct seen seen;
	struct err why;
	struct ip ip;

	/* The GUID of a port is not an address of an interface. */
	if (json_get(lease, "guid") || ip_parse(address, &ip) ||
	    look_at_addresses(r, &seen, &why) || has_address(&seen, ip))
		return;
	/* a DEL may run now, or may have just ended */
	if (repair_examine(&w->l->run->ctx, r, &view, &why) || !is_in_place(view.state) ||
	    !leases_still(w, &r->key, address))
		return;
	finding_set_value(findings_add(w->f, "lease", FINDING_FAIL),
			  "%s (%s) is leased to %s of container %.64s, which does not have it",
			  address, json_text(lease, "scope"), r->key.ifname, r->key.container);
}

/* The attachment is stale, or its interface is missing. A renamed one still has its address. */
static bool living_has_ended(enum repair_state s)
{
	return repair_is_stale(s) || s == REPAIR_LINK_GONE || s == REPAIR_LINK_REPLACED;
}

/* The node took the address later, or another program assigned it. */
static int compare_with_node(const struct walk *w, const struct json *lease)
{
	struct ip ip;
	int own;

	if (json_get(lease, "guid") || ip_parse(json_text(lease, "address"), &ip))
		return 0;
	own = nl_addr_is_own(ip, w->e);
	if (own > 0)
		finding_set_value(
			findings_add(w->f, "lease", FINDING_FAIL),
			"%s (%s) is leased to %s of container %.64s, and the node itself has "
			"it",
			json_text(lease, "address"), json_text(lease, "scope"),
			json_text(lease, "ifname"), json_text(lease, "container"));
	return own < 0 ? -1 : 0;
}

static int living_compare_lease(const struct walk *w, const struct json *lease)
{
	const struct ctx *ctx = &w->l->run->ctx;
	char ifname[OWNER_NAME_SIZE];
	const struct record_key key = { json_text(lease, "network"), json_text(lease, "container"),
					owner_interface(json_text(lease, "ifname"), ifname) };
	auto_record struct record r = { 0 };
	struct repair_view view;
	struct err why;

	if (strcmp(json_text(lease, "state"), "leased") != 0)
		return 0;
	if (compare_with_node(w, lease))
		return -1;
	if (record_read(ctx, &key, &r, &why)) {
		w->l->unrecorded += why.code == ERR_NOTFOUND;
		return 0;
	}
	w->l->compared++;
	if (repair_examine(ctx, &r, &view, w->e))
		return -1;
	if (living_has_ended(view.state) && leases_still(w, &key, json_text(lease, "address")))
		finding_set_value(
			findings_add(w->f, "lease", FINDING_FAIL),
			"%s (%s) is leased to %s of container %.64s, which is %s: %s; see "
			"`railctl attachments repair`",
			json_text(lease, "address"), json_text(lease, "scope"), key.ifname,
			key.container, repair_state_name(view.state), view.why);
	else if (is_in_place(view.state))
		compare_address(w, lease, &r);
	return 0;
}

/* ---- a record, and its leases ---- */

/* True if its addresses come from the store that this command verifies. */
static bool is_of_store(const struct walk *w, const struct record *r)
{
	const char *type = repair_ipam_type(r), *name = strstr(type, "railhead-ipam");
	const char *dir = json_str(json_get(json_get(r->config, "ipam"), "dataDir"));
	const struct ctl *ctl = w->l->run->own;

	if (!name || strcmp(name, "railhead-ipam") != 0)
		return false;
	return strcmp(dir && *dir ? dir : "", ctl->data_dir ? ctl->data_dir : "") == 0;
}

/* What the attachment has that the store would assign to another pod; NULL: nothing. */
static const char *lacks_lease(const struct record *r, const struct json *leases)
{
	const struct cni_conf conf = { .ipam = json_get(r->config, "ipam"),
				       .runtime = json_get(r->config, "runtimeConfig") };
	bool has_address = false, has_guid = false;

	json_each (lease, leases) {
		const bool guid = json_get(lease, "guid") != NULL;

		has_guid = has_guid || (guid && living_is_of_interface(lease, &r->key));
		has_address = has_address || (!guid && living_is_of_interface(lease, &r->key));
	}
	if (!has_address && !ipam_conf_is_guid_only(&conf))
		return "address";
	return !has_guid && json_get(r->device, "guidPool") ? "GUID" : NULL;
}

static int on_living_record(const struct record *r, void *arg)
{
	struct walk *w = arg;
	auto_json struct json *leases = NULL;
	struct repair_view view;
	struct err why;

	if (!r->tree || r->name_mismatch || !is_of_store(w, r))
		return 0;
	if (leases_of(w->l->ipam, &r->key, &leases, w->e))
		return 1;
	const char *what = lacks_lease(r, leases);
	if (!what)
		return 0;
	if (repair_examine(&w->l->run->ctx, r, &view, &why) || !is_in_place(view.state))
		return 0;
	finding_set_value(findings_add(w->f, "lease", FINDING_FAIL),
			  "%s of container %.64s (network %.64s, %.200s) is attached, and holds no "
			  "lease: its %s may be given to another",
			  r->key.ifname, r->key.container, r->key.network, r->netns, what);
	return 0;
}

int compare_with_pods(struct living *l, struct findings *f, struct err *e)
{
	const struct lease_filter all = { .pool = NULL };
	struct walk w = { l, f, e };
	auto_json struct json *leases = NULL;

	l->compared = l->unrecorded = 0;
	e->code = 0;
	if (admin_leases(l->ipam, &all, &leases, e))
		return -1;
	json_each (lease, leases) {
		if (living_compare_lease(&w, lease))
			return -1;
	}
	if (record_each(&l->run->ctx, NULL, on_living_record, &w, e))
		return -1;
	return e->code ? -1 : 0;
}
