/* SPDX-License-Identifier: Apache-2.0 */
/* import_peer.c: read the leases of host-local and whereabouts, and their owners on this node.
 */
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "ipam/peers/hostlocal.h"
#include "ipam/peers/whereabouts.h"
#include "railctl/ipam/import.h"

struct collect {
	struct cmd_run *run;
	const char *network;
	struct found_leases *out;
	struct cnicache cache; /* owned */
	bool all;
};

static void collect_clear(struct collect *c)
{
	cnicache_clear(&c->cache);
}

void found_leases_clear(struct found_leases *f)
{
	free(f->items);
	*f = (struct found_leases){ .n = 0 };
}

#define FOUND_MAX (1u << 24)

static struct found_lease *import_peer_add_lease(struct found_leases *f, struct ip ip,
						 struct err *e)
{
	if (ARRAY_GROW(f->items, f->n, FOUND_MAX, "leases", e))
		return NULL;
	f->items[f->n] = (struct found_lease){ .ip = ip_unmap(ip) };
	return &f->items[f->n++];
}

static int compare_leases(const void *a, const void *b)
{
	const struct found_lease *x = a, *y = b;
	int c = ip_cmp(x->ip, y->ip);

	return c ? c : strcmp(x->who.container, y->who.container);
}

static void sort_leases(struct found_leases *f)
{
	if (f->n)
		qsort(f->items, f->n, sizeof(*f->items), compare_leases);
}

/* ---- host-local ---- */

static int on_file(const struct hostlocal_lease *file, void *arg, struct err *e)
{
	struct collect *c = arg;
	const struct cnicache_query q = { c->network, file->container, file->ifname };
	struct found_lease *l = import_peer_add_lease(c->out, file->ip, e);

	if (!l)
		return -1;
	(void)snprintf(l->who.container, sizeof(l->who.container), "%s", file->container);
	(void)snprintf(l->who.ifname, sizeof(l->who.ifname), "%s", file->ifname);
	if (!*file->container) {
		l->problem = "its file cannot be read as one of host-local";
		return 0;
	}
	/* The cache has the pod. It has the interface too, which early versions did not write. */
	struct cnicache_entry known;
	size_t n = cnicache_find(&c->cache, &q, &known);
	if (n == 1)
		l->who = known;
	else if (!*file->ifname)
		l->problem = n ? "its file names no interface, and the container has several"
			       : "its file names no interface, and nor does libcni's cache";
	return 0;
}

int import_host_local(struct cmd_run *r, const struct import_conf *conf, struct found_leases *out,
		      struct err *e)
{
	auto_clean(collect_clear) struct collect c = { .run = r,
						       .network = conf->envelope.name,
						       .out = out };
	auto_hostlocal struct hostlocal files = { .dir = -1 };
	const char *dir = opt_get(&r->opts, "dir");

	if (dir ? hostlocal_open_dir(dir, &files, e)
		: hostlocal_open(&r->ctx, conf->ipam.data_dir, c.network, &files, e))
		return -1;
	if (files.dir < 0) {
		err_set(e, ERR_NOTFOUND, 0, "host-local has no folder %.200s%s%.200s",
			dir ? dir : "of network ", "", dir ? "" : c.network);
		return err_hint(e, "is the name right? --dir DIR names another folder");
	}
	if (cnicache_load(&r->ctx, &c.cache, e) || hostlocal_each(&files, on_file, &c, e))
		return -1;
	sort_leases(out);
	return 0;
}

/* ---- whereabouts ---- */

static int take_known(struct collect *c, const struct whereabouts_lease *w,
		      const struct cnicache_entry *known, struct err *e)
{
	struct found_lease *l = import_peer_add_lease(c->out, w->ip, e);

	if (!l)
		return -1;
	l->who = *known;
	if (!*l->who.pod) {
		(void)snprintf(l->who.ns, sizeof(l->who.ns), "%s", w->ns);
		(void)snprintf(l->who.pod, sizeof(l->who.pod), "%s", w->pod);
	}
	return 0;
}

/* --all: take the lease without a match in the cache. */
static int take_unknown(struct collect *c, const struct whereabouts_lease *w, struct err *e)
{
	struct cnicache_entry who = { .file = "" };

	(void)snprintf(who.container, sizeof(who.container), "%s", w->container);
	(void)snprintf(who.ifname, sizeof(who.ifname), "%s", w->ifname);
	if (take_known(c, w, &who, e))
		return -1;
	if (!*w->ifname)
		c->out->items[c->out->n - 1].problem =
			"whereabouts names no interface for it, and nor does libcni's cache";
	return 0;
}

static int on_allocation(const struct whereabouts_lease *w, void *arg, struct err *e)
{
	struct collect *c = arg;
	const struct cnicache_query q = { c->network, w->container, w->ifname },
				    any = { "", w->container, "" };
	struct cnicache_entry known;
	size_t n = cnicache_find(&c->cache, &q, &known);

	if (n == 1)
		return take_known(c, w, &known, e);
	if (n == 0 && c->all && cnicache_find(&c->cache, &any, &known) == 0)
		return take_unknown(c, w, e);
	if (n == 0) {
		c->out->others++;
		return 0;
	}
	if (take_unknown(c, w, e))
		return -1;
	c->out->items[c->out->n - 1].problem = "whereabouts names no interface for it, and the "
					       "container has several in this network";
	return 0;
}

int import_whereabouts(struct cmd_run *r, const struct import_conf *conf, struct found_leases *out,
		       struct err *e)
{
	auto_clean(collect_clear) struct collect c = {
		.run = r,
		.network = conf->envelope.name,
		.out = out,
		.all = opt_is_set(&r->opts, "all"),
	};
	const char *path = r->opts.words[0];
	auto_free char *text = NULL;
	size_t len;

	if (cnicache_load(&r->ctx, &c.cache, e))
		return -1;
	if (!c.cache.there && !c.all) {
		err_set(e, ERR_NOTFOUND, 0,
			"libcni's folder %.200s/results is not there: it tells which pods are on "
			"this node",
			r->ctx.cni_dir);
		return err_hint(e, "with --all every allocation in the file is taken for this "
				   "node's");
	}
	if (cmd_read(&(struct cmd_input){ path, "file ", IMPORT_FILE_MAX }, &text, &len, e))
		return -1;
	if (whereabouts_each(text, len, on_allocation, &c, e))
		return err_wrap(e, "%.200s", path);
	sort_leases(out);
	return 0;
}
