/* SPDX-License-Identifier: Apache-2.0 */
/* rails_read.c: which pods are asked for, and the state of their namespaces. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cni/record/part.h"
#include "lib/base/array.h"
#include "railctl/attachments/attachments.h"
#include "railctl/attachments/rails.h"

#define PODS_MAX 65536

void rails_pods_clear(struct rails_pods *p)
{
	for (size_t i = 0; i < p->n; i++) {
		inspect_clear(&p->pod[i].s);
		free(p->pod[i].netns);
		free(p->pod[i].hw);
	}
	free(p->pod);
	*p = (struct rails_pods){ 0 };
}

const char *rails_pod_name(const struct rails_pod *p, char out[RAILS_POD_LEN])
{
	if (*p->pod.name)
		(void)snprintf(out, RAILS_POD_LEN, "%s/%s", p->pod.ns, p->pod.name);
	else
		(void)snprintf(out, RAILS_POD_LEN, "%.300s",
			       *p->container ? p->container : p->netns);
	return out;
}

struct reading {
	const struct ctx *ctx;
	struct rails_pods *out;
	const char *word;          /* of --pod; NULL: all */
	const struct netns *netns; /* of --netns; NULL: all */
	struct err *e;
};

/* ---- records ---- */

static bool rails_read_is_asked_for(const struct reading *x, const struct record *r,
				    const struct cni_pod *pod)
{
	size_t ns = strlen(pod->ns);

	if (x->netns)
		return netns_same(x->netns->id, r->netns_id);
	if (!x->word || strcmp(x->word, pod->name) == 0)
		return true;
	if (*pod->name && strncmp(x->word, pod->ns, ns) == 0 && x->word[ns] == '/' &&
	    strcmp(x->word + ns + 1, pod->name) == 0)
		return true;
	return strncmp(r->key.container, x->word, strlen(x->word)) == 0;
}

static struct rails_pod *rails_read_add_pod(struct reading *x, const char *netns,
					    struct netns_id id)
{
	struct rails_pods *p = x->out;
	struct rails_pod new = { .id = id, .netns = strdup(netns) };

	if (!new.netns || ARRAY_GROW(p->pod, p->n, PODS_MAX, "pods", x->e)) {
		if (!new.netns)
			err_nomem(x->e);
		free(new.netns);
		return NULL;
	}
	p->pod[p->n] = new;
	return &p->pod[p->n++];
}

/* A namespace whose number is not on record is no other container's. */
static bool is_pod_of(const struct rails_pod *p, const struct record *r)
{
	return netns_same(p->id, r->netns_id) &&
	       (r->netns_id.ino || strcmp(p->container, r->key.container) == 0);
}

static struct rails_pod *pod_of(struct reading *x, const struct record *r,
				const struct cni_pod *pod)
{
	struct rails_pod *p;

	for (size_t i = 0; i < x->out->n; i++)
		if (is_pod_of(&x->out->pod[i], r))
			return &x->out->pod[i];
	p = rails_read_add_pod(x, r->netns, r->netns_id);
	if (!p)
		return NULL;
	p->pod = *pod;
	p->from = r->from;
	(void)snprintf(p->container, sizeof(p->container), "%s", r->key.container);
	return p;
}

/* A removal may have taken the interface away already. */
static int on_rails_read_record(const struct record *r, void *arg)
{
	struct reading *x = arg;
	struct rails_pod *p;
	struct record part;
	struct cni_pod pod;

	x->out->damaged += !r->tree || r->name_mismatch;
	if (!r->tree || r->name_mismatch || r->deleting)
		return 0;
	pod = cni_args_pod(r->args);
	if (!rails_read_is_asked_for(x, r, &pod))
		return 0;
	p = pod_of(x, r, &pod);
	for (size_t i = 0; p && i < record_parts(r); i++) {
		record_part(r, i, &part);
		/* The plugin whose configuration it is, and not the type of one interface. */
		part.plugin = r->plugin;
		if (inspect_add_record(&p->s, &part, x->e))
			return -1;
		(void)attachments_claim(x->ctx, r, p->s.rail[p->s.n_rails - 1].claim);
	}
	return p ? 0 : -1;
}

static int read_records(const struct ctx *ctx, struct reading *x, struct err *e)
{
	struct err why = { 0 };

	int rc;

	x->e = &why;
	rc = record_each(ctx, NULL, on_rails_read_record, x, e);
	x->e = e;
	if (rc)
		return -1;
	if (!why.code)
		return 0;
	return err_pass(e, &why);
}

/* ---- namespaces ---- */

/* 1: *out is open; 0: it is proved gone; -1: p->why is set. */
static int rails_read_open_pod(const struct ctx *ctx, struct rails_pod *p, struct netns *out)
{
	const struct netns_on_record what = { p->netns, NULL, p->id, p->from };
	char holder[NETNS_HOLDER_LEN];
	struct err why;
	int rc = netns_locate(ctx, &what, out, holder, &why);

	if (rc < 0)
		(void)snprintf(p->why, sizeof(p->why), "%.200s", why.msg);
	return rc;
}

static void drop_pod(struct rails_pods *all, size_t i)
{
	inspect_clear(&all->pod[i].s);
	free(all->pod[i].netns);
	all->n--;
	memmove(&all->pod[i], &all->pod[i + 1], (all->n - i) * sizeof(*all->pod));
}

/* One pod that cannot be read must not hide the others. */
static int attachments_read_pod(const struct rail_list *numbers, const struct inspect_from *from,
				struct rails_pod *p, struct err *e)
{
	struct err why;

	if (inspect_read(from, &p->s, &why) == 0 &&
	    rails_read_hardware(numbers, from, p, &why) == 0)
		return 0;
	if (why.code == ERR_NOMEM)
		return err_nomem(e);
	(void)snprintf(p->why, sizeof(p->why), "%.200s%s", why.msg,
		       why.errnum == EPERM ? " (it needs root)" : "");
	return 0;
}

static int read_pods(const struct ctx *ctx, const struct netns *given, struct rails_pods *all,
		     struct err *e)
{
	struct rail_list numbers;
	struct err ignored;
	auto_netns struct netns host = { .fd = -1 };

	if (!all->n || rail_list_load(ctx, &numbers, &ignored))
		numbers.n = 0;
	if (netns_open_self(&host, e))
		return -1;
	for (size_t i = 0; i < all->n;) {
		auto_netns struct netns own = { .fd = -1 };
		const struct inspect_from from = { ctx, &host, given ? given : &own };
		int rc = given ? 1 : rails_read_open_pod(ctx, &all->pod[i], &own);

		if (rc == 0) {
			drop_pod(all, i);
			continue;
		}
		if (rc > 0 && attachments_read_pod(&numbers, &from, &all->pod[i], e))
			return -1;
		i++;
	}
	return 0;
}

/* ---- what is asked for ---- */

static int attachments_read_all(struct cmd_run *r, struct reading *x, struct err *e)
{
	const char *path = opt_get(&r->opts, "netns"), *at = path;
	auto_netns struct netns ns = { .fd = -1 };

	if (x->word && !*x->word)
		return cmd_usage(r, e, "--pod: names no pod or container");
	if (path && x->word)
		return cmd_usage(r, e, "--pod and --netns exclude each other");
	if (path && path[0] != '/')
		return cmd_usage(r, e, "--netns \"%.256s\" must be an absolute path", path);
	if (path && netns_open(path, &ns, e))
		return -1;
	x->netns = path ? &ns : NULL;
	int rc = read_records(&r->ctx, x, e);

	x->netns = NULL;
	if (rc)
		return -1;
	/* Without records, what is there can be checked all the same. */
	if (!path && !x->word && !x->out->n && !x->out->damaged) {
		at = "/proc/self/ns/net";
		if (netns_open_self(&ns, e))
			return -1;
	}
	if (at && !x->out->n && !rails_read_add_pod(x, at, ns.id))
		return err_nomem(e);
	rc = read_pods(&r->ctx, at ? &ns : NULL, x->out, e);
	if (rc == 0 && at != path && !*x->out->pod->why && !x->out->pod->s.n_rails)
		rails_pods_clear(x->out);
	return rc;
}

int rails_pods_read(struct cmd_run *r, struct rails_pods *out, struct err *e)
{
	auto_rails_pods struct rails_pods p = { 0 };
	struct reading x = { .ctx = &r->ctx, .out = &p, .word = opt_get(&r->opts, "pod") };

	if (attachments_read_all(r, &x, e))
		return -1;
	if (x.word && !p.n) {
		err_set(e, ERR_NOTFOUND, 0, "no pod or container \"%.128s\" has an attachment here",
			x.word);
		return err_hint(e, "\"railctl attachments list\" shows all");
	}
	*out = p;
	p = (struct rails_pods){ 0 };
	return 0;
}
