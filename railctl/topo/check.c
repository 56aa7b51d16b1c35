/* SPDX-License-Identifier: Apache-2.0 */
/* check.c: `railctl topo check`: findings about GPUDirect RDMA and NCCL, and the exit status.
 */
#include "railctl/device/pod.h"
#include "railctl/topo/topo.h"

/* 1 and 2 are CMD_FAILED and CMD_USAGE. */
int topo_status(const struct cmd_run *r, enum finding_state worst)
{
	if (worst == FINDING_FAIL)
		return 4;
	return worst == FINDING_WARN || (worst == FINDING_UNKNOWN && opt_is_set(&r->opts, "strict"))
		       ? 3
		       : 0;
}

/* ---- lines ---- */

void topo_show_findings(const struct cmd_run *r, const struct findings *all)
{
	findings_print(&r->out, all, 16,
		       FINDINGS_OK |
			       (opt_is_set(&r->opts, "all") ? FINDINGS_EACH : FINDINGS_FOLD_OK));
}

static bool is_in(const struct topo *t, size_t gpu)
{
	return !t->view.scope.gpu || t->view.scope.gpu[gpu];
}

static void show_gpus(const struct cmd_run *r, const struct topo *t)
{
	for (uint32_t g = 0; g < t->m.n_gpus; g++) {
		enum finding_state s = gdr_worst(&t->findings, g);
		char bdf[PCI_STR_LEN];

		if (is_in(t, g))
			out_line(&r->out, finding_style(s), "%-7s  GPU %d, %s",
				 finding_state_name(s), t->m.gpu[g].index,
				 pci_format(t->m.pci[t->m.gpu[g].pci].addr, bdf));
	}
}

static int check_show_text(const struct cmd_run *r, const struct topo *t)
{
	if (!t->m.n_gpus) {
		out_line(&r->out, OUT_PLAIN,
			 "No GPUs: nothing was checked. --class names the PCI class of other "
			 "accelerators.");
		return 0;
	}
	topo_show_findings(r, &t->findings.all);
	show_gpus(r, t);
	findings_print_counts(&r->out, &t->findings.all);
	return 0;
}

/* ---- JSON ---- */

/* The worst state of the GPUs in the scope. */
static enum finding_state check_worst_of(const struct topo *t)
{
	enum finding_state worst = t->m.n_gpus ? FINDING_OK : FINDING_UNKNOWN;

	for (uint32_t g = 0; g < t->m.n_gpus; g++)
		if (is_in(t, g))
			worst = finding_worse(worst, gdr_worst(&t->findings, g));
	return worst;
}

static int add_gpus(struct json *list, const struct topo *t)
{
	for (uint32_t g = 0; list && g < t->m.n_gpus; g++) {
		char bdf[PCI_STR_LEN];
		struct json *o;

		if (!is_in(t, g))
			continue;
		o = json_push_object(list);
		if (!o || json_add_int(o, "index", t->m.gpu[g].index) ||
		    json_add_str(o, "bdf", pci_format(t->m.pci[t->m.gpu[g].pci].addr, bdf)) ||
		    json_add_str(o, "state", finding_state_name(gdr_worst(&t->findings, g))))
			return -1;
	}
	return list ? 0 : -1;
}

static int show_object(const struct cmd_run *r, const struct topo *t, struct err *e)
{
	auto_json struct json *o = json_new_object();

	if (!o || json_add_int(o, "version", 1) ||
	    json_add_str(o, "state", finding_state_name(check_worst_of(t))) ||
	    add_gpus(json_add_array(o, "gpus"), t) ||
	    json_put(o, "findings", show_findings_json(&t->view)))
		return err_nomem(e);
	return out_json(&r->out, o, e);
}

/* ---- the command ---- */

int topo_check_find(struct cmd_run *r, struct findings *out, struct err *e)
{
	auto_topo struct topo t = { 0 };

	if (topo_load(r, TOPO_FINDINGS, &t, e))
		return -1;
	*out = t.findings.all;
	t.findings.all = (struct findings){ 0 };
	if (t.m.n_gpus)
		return 0;
	err_set(e, ERR_NOTFOUND, 0, "no GPU was found");
	return 1;
}

static int topo_check_run(struct cmd_run *r, struct err *e)
{
	auto_topo struct topo t = { 0 };

	if (topo_load(r, TOPO_FINDINGS, &t, e))
		return -1;
	if (r->out.json ? show_object(r, &t, e) : check_show_text(r, &t))
		return -1;
	r->status = t.m.n_gpus ? topo_status(r, check_worst_of(&t)) : CMD_FAILED;
	return 0;
}

static const struct opt options[] = {
	TOPO_OPT_SYSFS,
	TOPO_OPT_XML,
	RDMA_OPT_NCCL_VERSION,
	RDMA_OPT_NETNS,
	TOPO_OPT_GPUS,
	TOPO_OPT_HCAS,
	TOPO_OPT_CLASS,
	{ "all", NULL, "an entry for each GPU and each HCA, even if they say the same", 0 },
	{ "strict", NULL, "exit status 3 also when a finding is unknown", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl topo check",
	"railctl topo check --all --json",
	NULL,
};

const struct cmd topo_check_cmd = {
	.name = "check",
	.summary = "check whether GPUDirect RDMA can work between each GPU and its nearest HCAs",
	.about = "Each entry is ok, warn, fail or unknown, with the evidence, the effect (so) and "
		 "the remedy (do), worst first. Nothing is changed. A value that cannot be read is "
		 "unknown, never ok: run it on the node, as root, to see most. The exit status is "
		 "3 when a GPU has a warning, 4 when a check of a GPU fails, and 1 without a GPU.",
	.opts = { options },
	.examples = examples,
	.run = topo_check_run,
};
