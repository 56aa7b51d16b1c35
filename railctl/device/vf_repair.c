/* SPDX-License-Identifier: Apache-2.0 */
/* vf_repair.c: `railctl vf repair` and `adopt`. */
#include "railctl/device/vf.h"

typedef int (*vf_do)(const struct manager *m, const char *vf, bool dry_run, struct vf_report *out,
		     struct err *e);

static int work_on(struct vf_work *w, const char *vf, vf_do act, struct err *e)
{
	struct vf_report report;
	struct err why;
	int rc = act(&w->m, vf, opt_is_set(&w->run->opts, "dry-run"), &report, &why);

	/* It went with its card, or with sriov_numvfs, while we came to it. */
	if (rc && why.code == ERR_NOTFOUND && !w->named)
		return 0;
	return vf_work_report(w, vf, &report, rc ? &why : NULL, e);
}

static int begin_work(struct cmd_run *r, struct vf_work *w, struct json **array, struct nl **nl,
		      struct err *e)
{
	*array = r->out.json ? json_new_array() : NULL;
	if (r->out.json && !*array)
		return err_nomem(e);
	if (nl_open(nl, e))
		return -1;
	w->run = r;
	w->array = *array;
	w->m = ctl_manager(r, *nl);
	return 0;
}

/* ---- repair ---- */

static int do_named(struct vf_work *w, vf_do act, struct err *e)
{
	const struct opts *o = &w->run->opts;
	char vf[PCI_STR_LEN];
	struct err why;

	w->named = true;
	for (size_t i = 0; i < o->n_words; i++) {
		int rc = ctl_vf(w->run, o->words[i], vf, &why)
				 ? vf_work_report(w, o->words[i], NULL, &why, e)
				 : work_on(w, vf, act, e);
		if (rc)
			return -1;
	}
	return 0;
}

struct collection {
	struct vf_work *w;
	struct err *e;
	int rc;
};

/* A record of a VF that is there has its turn with the VF, also a damaged one. */
static int collect_vf(const struct vf_entry *x, void *arg)
{
	struct collection *c = arg;
	struct err why;
	uint64_t life;

	if (*x->boot && (vf_life(&c->w->run->ctx, x->vf, &life, &why) || life != x->life))
		c->rc = work_on(c->w, x->vf, manager_gc, c->e);
	return c->rc;
}

static int do_all(struct vf_work *w, vf_do act, struct err *e)
{
	auto_inventory struct inventory all = { 0 };
	struct collection c = { w, e, 0 };

	if (act == manager_repair && (vf_state_each(&w->run->ctx, collect_vf, &c, e) || c.rc))
		return -1;
	if (inventory_read(&w->run->ctx, w->m.nl, &all, e))
		return -1;
	for (size_t i = 0; i < all.n_pfs; i++) {
		for (size_t k = 0; k < all.pf[i].n_vfs; k++) {
			if (work_on(w, all.pf[i].vf[k].addr, act, e))
				return -1;
		}
	}
	return 0;
}

static int run_action(struct cmd_run *r, const char *verb, vf_do act, struct err *e)
{
	auto_json struct json *array = NULL;
	auto_nl struct nl *nl = NULL;
	struct vf_work w = { .verb = verb };

	if (begin_work(r, &w, &array, &nl, e) ||
	    (r->opts.n_words ? do_named(&w, act, e) : do_all(&w, act, e)))
		return -1;
	return vf_work_end(&w, e);
}

static int vf_repair_run(struct cmd_run *r, struct err *e)
{
	return run_action(r, "repaired", manager_repair, e);
}

static const struct opt opts[] = {
	{ "dry-run", NULL, "change nothing; print the actions", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const repair_examples[] = {
	"railctl vf repair",
	"railctl vf repair ens3f0v0 --dry-run",
	NULL,
};

const struct cmd cmd_vf_repair = {
	.name = "repair",
	.words = "[VF...]",
	.summary = "restore VFs to their baselines",
	.about = "Restore all VFs of this host, or the named ones (PCI address or interface): MAC, "
		 "VLAN, rates, spoof check, trust, link state, MTU and names. The interface is "
		 "returned to the host if a dead owner left it elsewhere. A VF whose owner lives "
		 "is never touched. Without names the records of VFs that do not exist any more "
		 "are removed, too. Exit status 1: a setting could not be restored, or a named VF "
		 "has a living owner.",
	.opts = { opts },
	.examples = repair_examples,
	.max_words = 65535,
	.run = vf_repair_run,
};

/* ---- adopt ---- */

static int adopt_run(struct cmd_run *r, struct err *e)
{
	return run_action(r, "adopted", manager_adopt, e);
}

static const char *const adopt_examples[] = {
	"railctl vf adopt ens3f0v0",
	"railctl vf adopt --dry-run",
	NULL,
};

const struct cmd cmd_vf_adopt = {
	.name = "adopt",
	.words = "[VF...]",
	.summary = "make the present state of VFs their baseline",
	.about = "This applies to all free VFs of this host, or to the named ones (PCI address or "
		 "interface). A change of a VF without an owner becomes part of its baseline at "
		 "the next attachment anyway. This command does it at once, and includes settings "
		 "that could not be restored. A VF with an owner, living or dead, is not touched.",
	.opts = { opts },
	.examples = adopt_examples,
	.max_words = 65535,
	.run = adopt_run,
};
