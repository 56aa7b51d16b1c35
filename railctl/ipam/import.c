/* SPDX-License-Identifier: Apache-2.0 */
/* import.c: `railctl ipam import`: take over the leases of host-local or whereabouts. */
#include "railctl/ipam/import.h"

#include <string.h>

#include "ipam/lease/audit.h"
#include "ipam/admin/import.h"

struct work {
	struct cmd_run *run;
	struct import_conf conf;
	struct found_leases found;
	struct import_item *items; /* owned: one for each lease that can be imported */
	size_t n_items;
	bool dry_run;
	struct json *array; /* owned; NULL: text */
	unsigned done, ours, left;
};

static void import_work_clear(struct work *w)
{
	import_conf_clear(&w->conf);
	found_leases_clear(&w->found);
	free(w->items);
	json_free(w->array);
}

/* ---- the leases of the other program ---- */

static int import_check_words(struct cmd_run *r, const char *from, struct err *e)
{
	if (!from)
		return cmd_usage(r, e, "say whose leases: --from host-local or --from whereabouts");
	if (strcmp(from, "host-local") == 0) {
		if (r->opts.n_words || opt_is_set(&r->opts, "all"))
			return cmd_usage(r, e,
					 "FILE and --all are of --from whereabouts; of host-local "
					 "the network's folder is read (--dir)");
		return 0;
	}
	if (strcmp(from, "whereabouts") != 0)
		return cmd_usage(r, e, "--from %.64s: it is host-local or whereabouts", from);
	if (!r->opts.n_words)
		return cmd_usage(r, e,
				 "--from whereabouts needs FILE: what \"kubectl get "
				 "ippools.whereabouts.cni.cncf.io -A -o json\" prints");
	if (opt_is_set(&r->opts, "dir"))
		return cmd_usage(r, e, "--dir is of --from host-local");
	return 0;
}

static int import_load_leases(struct work *w, struct err *e)
{
	struct cmd_run *r = w->run;
	const char *from = opt_get(&r->opts, "from");

	if (import_check_words(r, from, e) || import_conf_load(r, &w->conf, e))
		return -1;
	return strcmp(from, "host-local") == 0 ? import_host_local(r, &w->conf, &w->found, e)
					       : import_whereabouts(r, &w->conf, &w->found, e);
}

static int make_items(struct work *w, struct err *e)
{
	const char *network = w->conf.envelope.name;

	w->items = calloc(w->found.n + 1, sizeof(*w->items));
	if (!w->items)
		return err_nomem(e);
	for (size_t i = 0; i < w->found.n; i++) {
		const struct found_lease *l = &w->found.items[i];

		if (l->problem)
			continue;
		w->items[w->n_items++] = (struct import_item){
			.ip = l->ip,
			.owner = { network, l->who.container, l->who.ifname, l->who.ns, l->who.pod,
				   l->who.uid },
		};
	}
	return 0;
}

/* ---- ours ---- */

static int import_leases_found(struct work *w, struct err *e)
{
	const struct ipam_conf *conf = &w->conf.ipam;
	auto_ipam struct ipam m = { .store = NULL };
	auto_json struct json *journal = NULL;
	struct import x = {
		.conf = conf,
		.network = w->conf.envelope.name,
		.look_at_files = strcmp(opt_get(&w->run->opts, "from"), "host-local") != 0,
		.dry_run = w->dry_run,
		.items = w->items,
		.n = w->n_items,
	};
	int rc = ctl_open_ipam(w->run, w->n_items && !w->dry_run && !conf->n_pools, &m, e);

	if (rc > 0 && conf->n_pools)
		return ctl_no_pool(conf->pools[0], e);
	if (rc < 0 ||
	    import_leases(rc ? NULL : &m, &x, conf->audit_log && !rc ? &journal : NULL, e))
		return -1;
	if (!conf->audit_log || !journal)
		return 0;
	return audit_write(&w->run->ctx, conf->audit_log, journal, e)
		       ? err_wrap(e, "the leases are imported, but")
		       : 0;
}

/* ---- what became of each ---- */

struct outcome {
	const char *action, *from, *why;
	enum out_style style;
};

/* it: NULL if the lease could not be tried. */
static struct outcome judge_lease(struct work *w, const struct found_lease *l,
				  const struct import_item *it)
{
	if (it && it->state == IMPORT_OURS) {
		w->ours++;
		return (struct outcome){ "is-ours", it->from, "", OUT_PLAIN };
	}
	if (it && it->state == IMPORT_NEW && !w->dry_run) {
		w->done++;
		return (struct outcome){ "imported", it->from, "", OUT_GOOD };
	}
	w->left++;
	w->run->status = CMD_FAILED;
	if (it && it->state == IMPORT_NEW)
		return (struct outcome){ "would-import", it->from, "", OUT_WARN };
	return (struct outcome){ "left-alone", it ? it->from : "", it ? it->why : l->problem,
				 OUT_WARN };
}

static int report_lease_json(struct work *w, const struct found_lease *l, const struct outcome *o,
			     struct err *e)
{
	struct json *j = json_push_object(w->array);
	char ip[IP_STR_LEN];

	if (!j || json_add_str(j, "address", ip_format(l->ip, ip)) ||
	    json_add_known(j, "scope", o->from) ||
	    json_add_str(j, "network", w->conf.envelope.name) ||
	    json_add_known(j, "container", l->who.container) ||
	    json_add_known(j, "ifname", l->who.ifname) ||
	    json_add_known(j, "namespace", l->who.ns) || json_add_known(j, "pod", l->who.pod) ||
	    json_add_str(j, "action", o->action) || json_add_known(j, "why", o->why))
		return err_nomem(e);
	return 0;
}

static int report_lease(struct work *w, const struct found_lease *l, const struct import_item *it,
			struct err *e)
{
	const struct outcome o = judge_lease(w, l, it);
	const struct out *out = &w->run->out;
	char ip[IP_STR_LEN], id[OUT_ID_LEN];

	if (w->array)
		return report_lease_json(w, l, &o, e);
	out_line(out, o.style, "%s %s %s %s%s%s%s%s%s", o.action, ip_format(l->ip, ip),
		 *l->who.container ? out_id(out, l->who.container, id) : "?",
		 *l->who.ifname ? l->who.ifname : "?", *o.from ? " (" : "", o.from,
		 *o.from ? ")" : "", o.why && *o.why ? ": " : "", o.why ? o.why : "");
	return 0;
}

static int report_all(struct work *w, struct err *e)
{
	const bool all = opt_is_set(&w->run->opts, "all");
	size_t next = 0;

	for (size_t i = 0; i < w->found.n; i++) {
		const struct found_lease *l = &w->found.items[i];
		const struct import_item *it = l->problem ? NULL : &w->items[next++];

		/* The list of a whole cluster has leases of other subnets: count these. */
		if (all && it && it->state == IMPORT_OUTSIDE && !*l->who.network)
			w->found.others++;
		else if (report_lease(w, l, it, e))
			return -1;
	}
	if (w->array)
		return out_json(&w->run->out, w->array, e);
	if (w->found.others)
		out_line(&w->run->out, OUT_PLAIN, "%zu of other %snetworks", w->found.others,
			 all ? "" : "nodes or ");
	out_line(&w->run->out, OUT_PLAIN, "%u imported, %u are railhead's already, %u left alone%s",
		 w->done, w->ours, w->left, w->dry_run ? " (dry run: nothing was changed)" : "");
	return 0;
}

static int ipam_import_run(struct cmd_run *r, struct err *e)
{
	auto_clean(import_work_clear) struct work w = {
		.run = r,
		.dry_run = opt_is_set(&r->opts, "dry-run"),
		.array = r->out.json ? json_new_array() : NULL,
	};

	if (r->out.json && !w.array)
		return err_nomem(e);
	if (import_load_leases(&w, e) || make_items(&w, e) || import_leases_found(&w, e))
		return -1;
	return report_all(&w, e);
}

static const struct opt opts[] = {
	{ "from", "PROGRAM", "owner of the leases: host-local or whereabouts", 0 },
	{ "config", "FILE", "the present configuration of the network: its name and ranges", 0 },
	{ "network", "NAME", "the network, if its configuration has no name or is not given", 0 },
	{ "pool", "NAME", "the pool that it uses, without --config; may be repeated", OPT_MANY },
	{ "dir", "DIR", "host-local's folder of the network", 0 },
	{ "all", NULL, "for whereabouts: also pods that are unknown on this node", 0 },
	{ "dry-run", NULL, "change nothing; print the actions", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl ipam import --from host-local --config 10-rail0.conflist",
	"railctl ipam import --from host-local --network rail0-net --pool rail0",
	"railctl ipam import --from whereabouts --config 10-rail0.conflist ippools.json",
	NULL,
};

const struct cmd cmd_ipam_import = {
	.name = "import",
	.words = "[FILE]",
	.summary = "import leases of host-local or whereabouts",
	.about = "The addresses of living pods become leases of the network's present ranges or "
		 "pools. No other pod gets them, CHECK accepts them, and the pod's DEL releases "
		 "them. The configuration is a file of /etc/cni/net.d, or a "
		 "NetworkAttachmentDefinition as JSON. FILE (-: standard input) is the output of "
		 "\"kubectl get ippools.whereabouts.cni.cncf.io -A -o json\". The command uses the "
		 "allocations that libcni attached on this node. It may be run again. Exit status "
		 "1: an address needs attention.",
	.opts = { opts },
	.examples = examples,
	.max_words = 1,
	.run = ipam_import_run,
};
