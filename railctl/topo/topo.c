/* SPDX-License-Identifier: Apache-2.0 */
/* topo.c: `railctl topo`: load the machine, then print it in the form that the options choose. */
#include "railctl/topo/topo.h"

#include <stdio.h>
#include <string.h>

#include "railctl/device/pod.h"
#include "topo/read/rail_list.h"

typedef int (*show_fn)(const struct topo_view *v, FILE *to, struct err *e);
static int write_file(struct cmd_run *r, const struct topo *t, show_fn show, const char *path,
		      struct err *e)
{
	auto_free char *text = NULL;
	size_t size;

	FILE *to = open_memstream(&text, &size);
	if (!to)
		return err_nomem(e);
	int rc = show(&t->view, to, e);
	if (fclose(to) && !rc)
		rc = err_nomem(e);
	return rc ? -1 : topo_write(r, path, text, e);
}

static int topo_show_text(const struct cmd_run *r, const struct topo *t, struct err *e)
{
	const struct topo_view *v = &t->view;

	if (!t->m.n_gpus)
		out_line(&r->out, OUT_PLAIN,
			 "No GPUs: --class names the PCI class of other accelerators.");
	if (!t->m.n_hcas)
		out_line(&r->out, OUT_PLAIN, "No HCAs: nothing in /sys/class/infiniband.");
	if (!t->m.n_gpus && !t->m.n_hcas)
		return 0;
	if (opt_is_set(&r->opts, "matrix"))
		return show_matrix(v, &r->out, e);
	if (show_lines(v, &r->out, e))
		return -1;
	fputc('\n', r->out.to);
	return show_matrix(v, &r->out, e);
}

/* At most one option may choose the output. */
static int check_outputs(struct cmd_run *r, struct err *e)
{
	static const char *const names[] = { "env", "labels",       "labels-out",
					     "svg", "nccl-xml-out", "matrix" };
	const char *first = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!opt_is_set(&r->opts, names[i]))
			continue;
		if (first)
			return cmd_usage(r, e, "--%s and --%s exclude each other", first, names[i]);
		first = names[i];
	}
	if (r->out.json && first)
		return cmd_usage(r, e, "--json and --%s exclude each other", first);
	if (opt_is_set(&r->opts, "per-gpu") && !opt_is_set(&r->opts, "env"))
		return cmd_usage(r, e, "--per-gpu is for --env");
	return topo_check_xml(r, e);
}

/* The labels of this machine: the rails of pods are those of rails.json, whatever the cards are. */
static int count_named(struct cmd_run *r, struct topo *t, struct err *e)
{
	struct rail_list l;

	if (opt_is_set(&r->opts, "nccl-xml") || opt_is_set(&r->opts, "sysfs"))
		return 0;
	if (rail_list_load(&r->ctx, &l, e))
		return -1;
	if (strcmp(l.source, RAIL_LIST_FILE) == 0)
		t->view.named = (unsigned)l.n;
	return 0;
}

static int topo_run(struct cmd_run *r, struct err *e)
{
	const char *svg = opt_get(&r->opts, "svg"), *xml = opt_get(&r->opts, "nccl-xml-out");
	const char *labels = opt_get(&r->opts, "labels-out");
	bool env = opt_is_set(&r->opts, "env");
	auto_topo struct topo t = { 0 };

	if (check_outputs(r, e) || topo_load(r, env || xml ? 0 : TOPO_FINDINGS, &t, e) ||
	    ((labels || opt_is_set(&r->opts, "labels")) && count_named(r, &t, e)))
		return -1;
	if (svg)
		return write_file(r, &t, show_svg, svg, e);
	if (labels)
		return write_file(r, &t, show_labels, labels, e);
	if (xml)
		return topo_write_xml(r, &t, xml, e);
	if (r->out.json) {
		auto_json struct json *o = show_json(&t.view);
		return o ? out_json(&r->out, o, e) : err_nomem(e);
	}
	if (env)
		return show_env(&t.view, opt_is_set(&r->opts, "per-gpu"), r->out.to, e);
	if (opt_is_set(&r->opts, "labels"))
		return show_labels(&t.view, r->out.to, e);
	return topo_show_text(r, &t, e);
}

/* ---- tables ---- */

static const struct cmd *const commands[] = { &topo_check_cmd,  &topo_diff_cmd,    &topo_rack_cmd,
					      &topo_verify_cmd, &topo_capture_cmd, NULL };

static const struct opt options[] = {
	TOPO_OPT_SYSFS,
	TOPO_OPT_XML,
	RDMA_OPT_NCCL_VERSION,
	RDMA_OPT_NETNS,
	TOPO_OPT_GPUS,
	TOPO_OPT_HCAS,
	TOPO_OPT_CLASS,
	TOPO_OPT_SET,
	{ "rccl", NULL, "RCCL's rules; with --nccl-xml-out, a file for RCCL", 0 },
	{ "matrix", NULL, "only the matrix, for scripts that read it; also -m", OPT_SHORT },
	{ "env", NULL, "variables that make NCCL, UCX and NVSHMEM use the GPUs' own HCAs", 0 },
	{ "per-gpu", NULL, "with --env: for each GPU separately", 0 },
	{ "labels", NULL, "a feature file for Node Feature Discovery", 0 },
	{ "labels-out", "FILE", "write that file in one step; \"-\" is standard output", 0 },
	{ "svg", "FILE", "write a picture; \"-\" is standard output", 0 },
	{ "nccl-xml-out", "FILE", "write a topology file for NCCL; \"-\" is standard output", 0 },
	{ "skeleton", NULL, "with --nccl-xml-out: only PCI functions, for NCCL_TOPO_FILE", 0 },
	{ "guest-map", "GUEST=HOST,...",
	  "with --nccl-xml-out: for a virtual machine that has these functions of this host",
	  OPT_MANY },
	{ "guest", "DIR", "with --guest-map: a capture of that virtual machine", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl topo",
	"railctl topo -m",
	"railctl topo --json",
	"railctl topo --env --per-gpu",
	"railctl topo --svg topo.svg",
	NULL,
};

const struct cmd cmd_topo = {
	.name = "topo",
	.summary = "show which HCA is nearest to which GPU, and NCCL's choice",
	.about =
		"A line for each GPU has the nearest HCAs, and the number of switch chips between. "
		"It has the HCA that the GPU should use, and those that NCCL will choose. If these "
		"differ, the output has the reason and the setting that corrects it. Below is the "
		"matrix of \"nvidia-smi topo -m\".",
	.sub = commands,
	.opts = { options },
	.examples = examples,
	.run = topo_run,
};
