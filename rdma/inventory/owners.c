/* SPDX-License-Identifier: Apache-2.0 */
/* owners.c: enters named namespaces and looks for the addresses of GIDs there. */
#include "rdma/inventory/owners.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "cni/record/record.h"
#include "lib/net/addr.h"
#include "lib/sys/fs.h"

struct search {
	const struct ctx *ctx;
	struct rdma_inventory *v;
	struct netns host;
	/* name of the namespace to search */
	const char *name;
	struct nl *nl;
	struct err *e;
	int rc;
	bool barred; /* the caller may not enter namespaces */
};

/* ---- one namespace ---- */

static bool is_sought(const struct inv_gid *g, const struct gid *want)
{
	return !g->here && !*g->netns && gid_equal(&g->entry.gid, want);
}

/* It reads the name of an interface only if the address fits. */
static int name_gid(struct search *s, struct inv_gid *g, int ifindex)
{
	struct link_info link;
	struct err why;

	if (nl_link_by_index(s->nl, ifindex, &link, &why))
		return why.code == ERR_NOMEM ? err_nomem(s->e) : 0;
	if (!*g->entry.netdev || strcmp(link.name, g->entry.netdev) == 0)
		(void)snprintf(g->netns, sizeof(g->netns), "%s", s->name);
	return 0;
}

static int name_in_port(struct search *s, struct inv_port *p, const struct addr_info *a)
{
	struct gid want = gid_of_ip(a->addr.addr);

	for (size_t i = 0; i < p->n_gids; i++)
		if (is_sought(&p->gid[i], &want) && name_gid(s, &p->gid[i], a->ifindex))
			return -1;
	return 0;
}

static int on_owners_addr(const struct addr_info *a, void *arg)
{
	struct search *s = arg;

	for (size_t i = 0; i < s->v->n_devices; i++) {
		struct inv_device *d = &s->v->device[i];

		for (size_t p = 0; p < d->n_ports; p++) {
			s->rc = name_in_port(s, &d->port[p], a);
			if (s->rc)
				return 1;
		}
	}
	return 0;
}

/* If a namespace cannot be read, its GIDs get no name. */
static int name_in_netns(struct search *s, const char *path, const char *name)
{
	auto_netns struct netns ns = { .fd = -1 };
	auto_nl struct nl *nl = NULL;
	struct err why;

	if (netns_open(path, &ns, &why) || netns_same(ns.id, s->host.id))
		return 0;
	s->name = name;
	if (nl_open_in(&ns, &s->host, &nl, &why)) {
		s->barred = why.errnum == EPERM;
		return why.code == ERR_NOMEM ? err_nomem(s->e) : 0;
	}
	s->nl = nl;
	if (nl_addr_list(nl, 0, on_owners_addr, s, &why) && why.code == ERR_NOMEM)
		return err_nomem(s->e);
	return s->rc;
}

/* ---- which ones ---- */

static int name_in_named(struct search *s, const char *dir)
{
	auto_fs_names struct fs_names names = { .n = 0 };
	char path[PATH_MAX];
	struct err why;
	int rc = 0;

	if (fs_names_at(AT_FDCWD, dir, FS_NAMES_MAX, &names, &why) && why.code == ERR_NOMEM)
		return err_nomem(s->e);
	for (size_t i = 0; rc == 0 && !s->barred && i < names.n; i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, names.name[i]);
		rc = name_in_netns(s, path, names.name[i]);
	}
	return rc;
}

static int on_owners_record(const struct record *r, void *arg)
{
	struct search *s = arg;
	char name[INV_NETNS_LEN];

	if (!r->tree || r->name_mismatch || s->barred)
		return 0;
	(void)snprintf(name, sizeof(name), "container %.64s", r->key.container);
	s->rc = name_in_netns(s, r->netns, name);
	return s->rc;
}

/* The named namespaces in dir, then those of records, then the host's. */
static int name_in_all(struct search *s, const char *dir)
{
	char host[PATH_MAX];
	struct err why;

	if (name_in_named(s, dir))
		return -1;
	if (record_each(s->ctx, NULL, on_owners_record, s, &why) && why.code == ERR_NOMEM)
		return err_nomem(s->e);
	if (s->rc)
		return -1;
	(void)snprintf(host, sizeof(host), "%s/1/ns/net", s->ctx->proc);
	return name_in_netns(s, host, "host");
}

static bool owners_is_needed(const struct rdma_inventory *v)
{
	for (size_t i = 0; i < v->n_devices; i++)
		for (size_t p = 0; p < v->device[i].n_ports; p++)
			for (size_t g = 0; g < v->device[i].port[p].n_gids; g++)
				if (!v->device[i].port[p].gid[g].here)
					return true;
	return false;
}

int owners_name(const struct ctx *ctx, const char *dir, struct rdma_inventory *v, struct err *e)
{
	struct search s = { .ctx = ctx, .v = v, .host.fd = -1, .e = e };

	if (!owners_is_needed(v))
		return 0;
	if (netns_open_self(&s.host, e))
		return -1;

	int rc = name_in_all(&s, dir) ? -1 : 0;

	netns_close(&s.host);
	return rc;
}
