/* SPDX-License-Identifier: Apache-2.0 */
/*
 * overlap.c: looks for an address on the node itself, in the other scope of whereabouts, and in
 * files of host-local.
 */
#include "ipam/alloc/overlap.h"

#include <stdio.h>
#include <string.h>

#define OF_NODE_MAX 1024

int overlap_open(struct overlap *x, struct lease_db *l, const char *data_dir, const char *network,
		 struct err *e)
{
	x->l = l;
	return hostlocal_open(l->ipam->ctx, data_dir, network, &x->files, e);
}

void overlap_close(struct overlap *x)
{
	hostlocal_close(&x->files);
}

static bool set_failed(struct overlap *x, const struct err *e)
{
	x->e = *e;
	x->failed = true;
	return true;
}

/* range NULL: any range. A lease of an earlier version has no range, and counts for every one. */
static bool held_in(struct overlap *x, const char *scope, const char *range, struct ip ip)
{
	auto_lease struct lease rec = { .tree = NULL };
	struct err e;
	int found = lease_db_of_address(x->l, scope, ip, &rec, &e);

	if (found < 0)
		return set_failed(x, &e);
	if (!found || rec.state != LEASE_HELD)
		return false;
	return !range || !*rec.range || strcmp(rec.range, range) == 0;
}

struct first_scope {
	struct key_address a;
	bool found;
};

static int take_scope(const char *key, const char *value, void *arg)
{
	struct first_scope *f = arg;

	(void)value;
	f->found = key_parse_address(key, &f->a) == 0;
	return f->found;
}

/* Looks into the scopes of all single ranges of that network_name. */
static bool held_in_ranges(struct overlap *x, const char *name, struct ip ip)
{
	struct key prefix, from;
	struct err e;

	(void)snprintf(prefix.s, sizeof(prefix.s), "a/x/%.200s/", name);
	from = prefix;
	for (;;) {
		struct first_scope f = { .found = false };

		if (lease_db_scan_from(x->l, (struct store_span){ prefix.s, from.s }, take_scope,
				       &f, &e))
			return set_failed(x, &e);
		if (!f.found)
			return false;
		if (held_in(x, f.a.scope, NULL, ip))
			return true;
		/* '0' is the character after '/' */
		(void)snprintf(from.s, sizeof(from.s), "a/%.290s0", f.a.scope);
	}
}

/* A whole network may be the node's own, and each address of it is one question. */
static int refuse_range(struct err *e)
{
	err_set(e, ERR_CONFIG, 0, "the node itself has more than %d addresses of the range",
		OF_NODE_MAX);
	return err_hint(e, "`ip address` and `ip route show table local` on the node list them");
}

bool overlap_is_of_node(struct overlap *x, struct ip ip)
{
	struct err e;

	if (!x || !x->node)
		return false;
	if (ip_equal(x->asked, ip))
		return x->has_asked;
	int rc = x->node(ip, &e);

	if (rc > 0 && ++x->of_node > OF_NODE_MAX)
		rc = refuse_range(&e);
	if (rc < 0)
		return set_failed(x, &e);
	x->asked = ip;
	x->has_asked = rc > 0;
	return x->has_asked;
}

bool overlap_in_use(struct overlap *x, const struct source *s, struct ip ip)
{
	char scope[KEY_SCOPE_MAX], name[KEY_SCOPE_MAX];
	struct err e;

	if (!x)
		return false;
	if (overlap_is_of_node(x, ip))
		return true;
	int rc = hostlocal_holds(&x->files, ip, &e);
	if (rc)
		return rc < 0 ? set_failed(x, &e) : true;
	if (*s->scope == 'w')
		return held_in_ranges(x, s->scope + 2, ip);
	if (*s->scope != 'x')
		return false;
	const char *end = strrchr(s->scope, '/');
	(void)snprintf(name, sizeof(name), "%.*s", (int)(end - s->scope - 2), s->scope + 2);
	return held_in(x, key_scope(scope, 'w', name), s->range, ip);
}

int overlap_refuse_of_node(struct ip ip, struct err *e)
{
	char text[IP_STR_LEN];

	err_set(e, ERR_BUSY, 0, "address %s is in use by the node itself", ip_format(ip, text));
	return err_hint(e, "`ip address` on the node shows its interface; request another one");
}
