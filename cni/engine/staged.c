/* SPDX-License-Identifier: Apache-2.0 */
/* staged.c: makes an interface on the host, moves it into the pod, and finds it again by its alias.
 */
#include "cni/engine/staged.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/backoff.h"
#include "lib/base/hash.h"

#define ALIAS_PREFIX "railhead:"
#define NETWORK_MAX  128 /* bytes of its name in an alias */
#define NAME_PREFIX  "rh"
#define NAME_DIGITS  13
#define RETURN_MS    2000 /* for an interface to come back from a namespace that died */

static uint64_t hash_key(const struct record_key *key)
{
	uint64_t h = hash_add_text(HASH_START, key->network);

	h = hash_add_text(hash_add_text(h, "/"), key->container);
	return hash_add_text(hash_add_text(h, "/"), key->ifname);
}

void staged_alias(const struct record_key *key, char out[LINK_ALIAS_LEN])
{
	int n = snprintf(out, LINK_ALIAS_LEN, ALIAS_PREFIX "%s/%s/%s", key->network, key->container,
			 key->ifname);

	if (n >= LINK_ALIAS_LEN || strlen(key->network) > NETWORK_MAX)
		(void)snprintf(out, LINK_ALIAS_LEN, ALIAS_PREFIX "%.*s/#%016" PRIx64 "/%s",
			       NETWORK_MAX, key->network, hash_key(key), key->ifname);
}

void staged_name(const struct record_key *key, char out[IFNAME_LEN])
{
	(void)snprintf(out, IFNAME_LEN, NAME_PREFIX "%0*" PRIx64, NAME_DIGITS,
		       hash_key(key) >> (64 - 4 * NAME_DIGITS));
}

/* ---- whose it is ---- */

struct owner {
	char alias[LINK_ALIAS_LEN], name[IFNAME_LEN];
	int lower_ifindex; /* 0: not known */
	bool recorded;
};

/* Without a record neither its lower device nor its name on the host counts. */
static struct owner owner_unrecorded(const struct record_key *key)
{
	struct owner o = { .recorded = false };

	staged_alias(key, o.alias);
	staged_name(key, o.name);
	return o;
}

static struct owner owner_recorded(const struct record_key *key, int lower_ifindex)
{
	struct owner o = owner_unrecorded(key);

	o.lower_ifindex = lower_ifindex;
	o.recorded = true;
	return o;
}

/* One that was killed before it had its alias has the name that only this attachment uses. */
static bool staged_is_of(const struct owner *o, const struct link_info *link)
{
	if (o->lower_ifindex && link->lower_ifindex != o->lower_ifindex)
		return false;
	if (*link->alias)
		return strcmp(link->alias, o->alias) == 0;
	return o->recorded && strcmp(link->name, o->name) == 0;
}

struct removal {
	const struct owner *owner;
	struct nl *nl;
	size_t n; /* how many were deleted */
	struct err *e;
	bool failed;
};

static int remove_if_ours(const struct link_info *link, void *arg)
{
	struct removal *x = arg;

	if (!staged_is_of(x->owner, link))
		return 0;
	x->failed = nl_link_delete(x->nl, link->ifindex, x->e) != 0;
	x->n += !x->failed;
	return x->failed;
}

/* In the namespace of nl. *n: how many there were. */
static int remove_all(struct nl *nl, const char *kind, const struct owner *o, size_t *n,
		      struct err *e)
{
	struct removal x = { .owner = o, .nl = nl, .e = e };

	if (nl_link_each(nl, kind, remove_if_ours, &x, e))
		return -1;
	*n = x.n;
	return x.failed ? -1 : 0;
}

/* ---- making ---- */

/* On the host under its own name. One that a killed ADD left there is ours, and goes first. */
static int make_on_host(struct attach *a, const struct link_spec *spec, const struct owner *o,
			struct err *e)
{
	struct err why;
	size_t n;

	if (nl_link_create(a->host_nl, spec, e) == 0)
		return 0;
	if (e->errnum != EEXIST || remove_all(a->host_nl, spec->kind, o, &n, &why) || n == 0) {
		/* The engine takes EEXIST for a name that the pod has. */
		if (e->errnum == EEXIST)
			e->errnum = EBUSY;
		return -1;
	}
	return nl_link_create(a->host_nl, spec, e);
}

/* Its alias and its mtu, where it was made; *out is what it was before. */
static int mark(const struct attach *a, bool in_pod, const struct owner *o, struct link_info *out,
		struct err *e)
{
	struct nl *nl = in_pod ? a->pod_nl : a->host_nl;

	if (nl_link_by_name(nl, in_pod ? a->call->env.ifname : o->name, out, e) ||
	    nl_link_set_alias(nl, out->ifindex, o->alias, e))
		return -1;
	return a->conf.mtu && out->mtu != a->conf.mtu
		       ? nl_link_set_mtu(nl, out->ifindex, a->conf.mtu, e)
		       : 0;
}

static int mark_and_move(struct attach *a, const struct owner *o, struct err *e)
{
	struct link_info link;

	if (mark(a, false, o, &link, e))
		return -1;
	return nl_link_move(a->host_nl, link.ifindex, &a->pod, a->call->env.ifname, e);
}

/* Its master is in the pod, too. */
static int create_in_container(struct attach *a, struct link_spec spec, const struct owner *o,
			       struct err *e)
{
	struct link_info link;

	return attach_create_link(a, spec, e) || mark(a, true, o, &link, e) ? -1 : 0;
}

int staged_create(struct attach *a, struct link_spec spec, struct err *e)
{
	const struct record_key key = attach_key(a->call);
	const struct owner o = owner_recorded(&key, a->master.ifindex);

	if (a->conf.in_container)
		return create_in_container(a, spec, &o, e);
	spec.kind = a->type->kind;
	spec.name = o.name;
	spec.lower_ifindex = a->master.ifindex;
	spec.target = NULL;
	spec.mtu = 0;
	return make_on_host(a, &spec, &o, e) || mark_and_move(a, &o, e) ? -1 : 0;
}

/* ---- removing ---- */

static int remove_in_pod(const struct ctx *ctx, const struct netns *pod, const struct record *r,
			 const struct owner *o, struct err *e)
{
	auto_netns struct netns host = { .fd = -1 };
	auto_nl struct nl *nl = NULL;
	size_t n;

	if (netns_open_self(&host, e) || nl_open_in(pod, &host, &nl, e) ||
	    remove_all(nl, r->kind, o, &n, e))
		return -1;
	/* The pod may have changed the alias; the number is on record since ADD succeeded. */
	return r->ifindex ? attach_restore(ctx, r, NULL, e) : 0;
}

/* The lower device takes its interfaces along, in whatever namespace they are. */
static bool lower_is_gone(struct nl *host_nl, const struct record *r)
{
	struct link_info lower;
	struct err why;

	return r->lower_ifindex && nl_link_by_index(host_nl, r->lower_ifindex, &lower, &why) != 0 &&
	       why.errnum == ENODEV;
}

/* The kernel takes a dead namespace apart some time after the last process has left it. */
static int remove_when_handed_back(struct nl *host_nl, const struct record *r,
				   const struct owner *o, struct err *e)
{
	struct backoff p = backoff_for(RETURN_MS);
	size_t n = 0;

	while (!lower_is_gone(host_nl, r) && backoff_pause(&p)) {
		if (remove_all(host_nl, r->kind, o, &n, e))
			return -1;
		if (n)
			break;
	}
	return 0;
}

int staged_restore(const struct ctx *ctx, const struct record *r, struct err *e)
{
	const struct owner o = owner_recorded(&r->key, r->lower_ifindex);
	auto_netns struct netns pod = { .fd = -1 };
	auto_nl struct nl *host_nl = NULL;
	bool same_boot;
	size_t n = 0;

	if (attach_same_boot(ctx, r, &same_boot, e))
		return -1;
	if (!same_boot)
		return 0;
	/* An interface on the host goes also while it is unknown whether the namespace lives. */
	struct err host_err;
	int lives = attach_netns_of(ctx, r, &pod, e);
	int rc = lives > 0 ? remove_in_pod(ctx, &pod, r, &o, e) : lives;
	if (nl_open(&host_nl, &host_err) || remove_all(host_nl, r->kind, &o, &n, &host_err) ||
	    (lives == 0 && n == 0 && remove_when_handed_back(host_nl, r, &o, &host_err))) {
		if (rc == 0)
			*e = host_err;
		return -1;
	}
	return rc;
}

int staged_release(const struct cni_call *call, const struct record *r, struct err *e)
{
	const struct record_key key = attach_key(call);
	const struct attach_type *type = call->data;
	const struct owner o = owner_unrecorded(&key);
	auto_nl struct nl *nl = NULL;
	size_t n;

	if (r)
		return 0;
	return nl_open(&nl, e) || remove_all(nl, type->kind, &o, &n, e) ? -1 : 0;
}

/* ---- without a record ---- */

struct sweep {
	const struct ctx *ctx;
	const struct staged_orphans *which;
	struct nl *nl;
	char prefix[LINK_ALIAS_LEN];
	struct err *e;
	bool failed;
};

struct search {
	const char *alias;
	bool found;
};

static int match_alias(const struct record *r, void *arg)
{
	struct search *s = arg;
	char alias[LINK_ALIAS_LEN];

	staged_alias(&r->key, alias);
	s->found = strcmp(alias, s->alias) == 0;
	return s->found;
}

static bool has_staged_name(const struct link_info *link)
{
	return strncmp(link->name, NAME_PREFIX, strlen(NAME_PREFIX)) == 0 &&
	       strspn(link->name + strlen(NAME_PREFIX), HEX_DIGITS) == NAME_DIGITS;
}

static int sweep_link(const struct link_info *link, void *arg)
{
	struct sweep *s = arg;
	struct search search = { link->alias, false };

	if (strncmp(link->alias, s->prefix, strlen(s->prefix)) != 0 || has_staged_name(link))
		return 0;
	if (record_each(s->ctx, NULL, match_alias, &search, s->e)) {
		s->failed = true;
		return 1;
	}
	if (search.found || (s->which->chosen && !s->which->chosen(link, s->which->arg)))
		return 0;
	s->failed = nl_link_delete(s->nl, link->ifindex, s->e) != 0;
	return s->failed;
}

int staged_sweep(const struct ctx *ctx, const struct staged_orphans *which, struct err *e)
{
	auto_nl struct nl *nl = NULL;
	struct sweep s = { .ctx = ctx, .which = which, .e = e };

	(void)snprintf(s.prefix, sizeof(s.prefix), ALIAS_PREFIX "%.*s%s", NETWORK_MAX,
		       which->network ? which->network : "", which->network ? "/" : "");
	if (nl_open(&nl, e))
		return -1;
	s.nl = nl;
	return nl_link_each(nl, which->kind, sweep_link, &s, e) || s.failed ? -1 : 0;
}

int staged_sweep_network(const struct cni_call *call, struct err *e)
{
	const struct attach_type *type = call->data;
	const struct staged_orphans which = { .kind = type->kind, .network = call->conf.name };

	return staged_sweep(&call->ctx, &which, e);
}
