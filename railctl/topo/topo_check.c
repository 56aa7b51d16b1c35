/* SPDX-License-Identifier: Apache-2.0 */
/* topo_check.c: `railctl topo check`: findings about GPUDirect RDMA and NCCL, and the exit status.
 */
#include <stdio.h>
#include <string.h>

#include "railctl/rdma/rdma_pod.h"
#include "railctl/topo/topo.h"

/* 1 and 2 are CMD_FAILED and CMD_USAGE. */
static const struct finding_exit statuses = { .fail = 4, .warn = 3, .strict = 3 };

/* ---- lines ---- */

#define LINE_LEN 1200
#define NAME_LEN 100 /* bytes that one more subject may need */
#define ID_WIDTH 16

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

/* Findings with the same reason and remedy become one entry. */
static bool is_same_finding(const struct finding *a, const struct finding *b)
{
	return a->state == b->state && !strcmp(a->id, b->id) && same_text(a->value, b->value) &&
	       same_text(a->reason, b->reason) && same_text(a->remedy, b->remedy);
}

static bool is_first(const struct findings *all, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (is_same_finding(&all->item[i], &all->item[at]))
			return false;
	return true;
}

/* The subjects of all findings in one entry: "GPU 0 mlx5_0, GPU 1 mlx5_1". */
static void put_subjects(const struct findings *all, size_t first, char line[LINE_LEN])
{
	size_t len = 0;

	*line = '\0';
	for (size_t i = first; i < all->n; i++) {
		const char *subject = all->item[i].subject;

		if (!is_same_finding(&all->item[i], &all->item[first]))
			continue;
		if (len > LINE_LEN - NAME_LEN) {
			(void)snprintf(line + len, LINE_LEN - len, ", ...");
			break;
		}
		len += (size_t)snprintf(line + len, LINE_LEN - len, "%s%.90s", len ? ", " : "",
					subject ? subject : "");
	}
}

/* Print the entry that begins with this finding; with --all, each finding by itself. */
static void show_group(const struct cmd_run *r, const struct findings *all, size_t at)
{
	char line[LINE_LEN];

	if (opt_is_set(&r->opts, "all")) {
		finding_print(&r->out, &all->item[at], ID_WIDTH, NULL);
	} else if (is_first(all, at)) {
		put_subjects(all, at, line);
		finding_print(&r->out, &all->item[at], ID_WIDTH, line);
	}
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

static int show_text(const struct cmd_run *r, const struct topo *t)
{
	if (!t->m.n_gpus) {
		out_line(&r->out, OUT_PLAIN,
			 "No GPUs: --class names the PCI class of other accelerators.");
		return 0;
	}
	for (size_t i = 0; i < t->findings.all.n; i++)
		show_group(r, &t->findings.all, i);
	show_gpus(r, t);
	findings_print_counts(&r->out, &t->findings.all);
	return 0;
}

/* ---- JSON ---- */

/* The worst state of the GPUs in the scope. */
static enum finding_state worst_of(const struct topo *t)
{
	enum finding_state worst = FINDING_OK;

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
	    json_add_str(o, "state", finding_state_name(worst_of(t))) ||
	    add_gpus(json_add_array(o, "gpus"), t) ||
	    json_put(o, "findings", show_findings_json(&t->view)))
		return err_nomem(e);
	return out_json(&r->out, o, e);
}

/* ---- the command ---- */

static int check_run(struct cmd_run *r, struct err *e)
{
	auto_topo struct topo t = { 0 };

	if (topo_load(r, TOPO_FINDINGS, &t, e))
		return -1;
	if (r->out.json ? show_object(r, &t, e) : show_text(r, &t))
		return -1;
	r->status = finding_exit_status(&statuses, worst_of(&t), opt_is_set(&r->opts, "strict"));
	return 0;
}

static const struct opt options[] = {
	TOPO_OPT_SYSFS,
	TOPO_OPT_XML,
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
		 "3 when a GPU has a warning, 4 when a check of a GPU fails.",
	.opts = { options },
	.examples = examples,
	.run = check_run,
};
