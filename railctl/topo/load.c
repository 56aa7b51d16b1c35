/* SPDX-License-Identifier: Apache-2.0 */
/* load.c: reads the machine that the options name, and computes all answers about it. */
#include <fcntl.h>
#include <string.h>

#include "lib/base/parse.h"
#include "lib/sys/fs.h"
#include "railctl/device/pod.h"
#include "railctl/topo/topo.h"
#include "topo/core/machine_build.h"
#include "topo/capture/open.h"
#include "topo/read/rail_slots.h"
#include "topo/read/roles.h"
#include "topo/read/read.h"

#define XML_MAX     (4 * 1024 * 1024)
#define CLASSES_MAX 32

/* ---- options ---- */

/* "0x0b40" is a class with its subclass, "0b4000" also has the programming interface. */
static int parse_class(const char *text, uint32_t *out)
{
	const char *digits = strncmp(text, "0x", 2) == 0 ? text + 2 : text;
	uint32_t value;
	size_t n = hex_take(digits, 8, &value);

	if ((n != 4 && n != 6) || digits[n])
		return -1;
	*out = value << (n == 4 ? 8 : 0);
	return 0;
}

static int take_classes(struct cmd_run *r, uint32_t class[CLASSES_MAX], struct topo_read_opts *o,
			struct err *e)
{
	const char *text;
	size_t i = 0;

	*o = (struct topo_read_opts){ .class_code = class };
	while ((text = opt_next(&r->opts, "class", &i))) {
		if (o->n_classes == CLASSES_MAX)
			return cmd_usage(r, e, "more than %d times --class", CLASSES_MAX);
		if (parse_class(text, &class[o->n_classes])) {
			cmd_usage(r, e, "--class \"%.64s\" is not a PCI class", text);
			return err_hint(e, "4 or 6 hexadecimal digits, such as 0x0b40");
		}
		o->n_classes++;
	}
	return 0;
}

/* ---- reading ---- */

static int read_xml(const char *path, struct topo *t, struct err *e)
{
	auto_free char *text = NULL;
	ssize_t len = fs_read_at(AT_FDCWD, path, XML_MAX, &text, e);

	if (len < 0)
		return -1;
	if (topo_read_xml(text, (size_t)len, &t->m, e))
		return err_wrap(e, "%s", path);
	topo_roles(&t->m, NULL);
	return 0;
}

/* ---- answers ---- */

static int predict(struct cmd_run *r, const int *pid, struct topo *t, struct err *e)
{
	struct compare_input in = { .m = &t->m,
				    .scope = &t->view.scope,
				    .choice = &t->choice,
				    .opts = &t->opts,
				    .nccl = &t->nccl };

	if (topo_select(r, pid, t, e) || topo_nccl_opts(r, t, e))
		return -1;
	/* A pod with all HCAs gets the HCA that its GPU has when all GPUs are considered. The HCAs
	 * of a pod are assigned to its own GPUs, and no other pod uses them. */
	const struct topo_scope own = { t->hca ? t->gpu : NULL, t->hca };
	in.node = t->hca ? NULL : &t->node;
	t->view = (struct topo_view){ .m = &t->m,
				      .scope = { t->gpu, t->hca },
				      .pod = t->view.pod,
				      .choice = &t->choice,
				      .nccl = &t->nccl,
				      .differ = &t->differ };
	if (topo_choose(&t->m, NULL, &t->node, e) || topo_choose(&t->m, &own, &t->choice, e) ||
	    nccl_predict(&t->m, &t->view.scope, &t->opts, &t->nccl, e) ||
	    compare_with_nccl(&in, &t->differ, e))
		return -1;
	return t->nccl.may_have_model
		       ? topo_add_note(&t->m, e,
				       "RCCL may have a ready-made graph for this machine, which "
				       "decides the NICs of collectives "
				       "(RCCL_MODEL_MATCHING_DISABLE=1: none)")
		       : 0;
}

/* The rails have the numbers that are pinned to their slots; a card in another slot has none. */
static int take_pinned(const struct ctx *ctx, struct topo *t, struct err *e)
{
	struct topo_choice *const choices[] = { &t->node, &t->choice };
	auto_free uint32_t *number = calloc(t->m.n_hcas + 1, sizeof(*number));
	struct rail_slots slots;
	struct err why;
	int rc = rail_slots_read(ctx, &slots, &why);

	if (!number)
		return err_nomem(e);
	if (rc)
		return rc < 0 ? topo_add_note(&t->m, e, "rails are counted by address: %s", why.msg)
			      : 0;
	if (rail_slots_numbers(ctx, &slots, &t->m, number, e))
		return -1;
	for (size_t c = 0; c < ARRAY_SIZE(choices); c++) {
		uint64_t seen = 0;

		for (size_t i = 0; i < t->m.n_hcas; i++) {
			uint32_t *rail = &choices[c]->rail[i];

			*rail = *rail == TOPO_NONE ? TOPO_NONE : number[i];
			seen |= *rail == TOPO_NONE ? 0 : UINT64_C(1) << *rail;
		}
		choices[c]->n_rails = (uint32_t)__builtin_popcountll(seen);
	}
	return 0;
}

static int add_findings(struct topo *t, struct topo_tree_dirs *d, unsigned flags, struct err *e)
{
	if (!(flags & TOPO_FINDINGS))
		return 0;
	if (d) {
		d->scope = &t->view.scope;
		d->nccl = t->has_version ? &t->nccl_version : NULL;
		d->others_seen = t->view.pod;
	}
	if (gdr_check(&t->m, &t->choice, d, &t->findings, e))
		return -1;
	t->view.findings = &t->findings;
	return 0;
}

/* path NULL: this machine. */
static int load_tree(struct cmd_run *r, const char *path, unsigned flags, struct topo *t,
		     struct err *e)
{
	auto_topo_opened struct topo_opened opened = { 0 };
	struct topo_tree_dirs dirs = { .sysfs = r->ctx.sysfs,
				       .proc = r->ctx.proc,
				       .boot = "/boot" };
	uint32_t class[CLASSES_MAX];
	struct topo_read_opts o;
	char ifname[IFNAME_LEN];
	int pid = 0;

	if (take_classes(r, class, &o, e) ||
	    (path ? topo_open(path, &opened, e) : rdma_pod_enter(r, &pid, e)))
		return -1;
	if (path)
		dirs = opened.dirs;
	if (topo_read_sysfs(dirs.sysfs, dirs.proc, &o, &t->m, e))
		return -1;
	topo_default_netdev(dirs.proc, !path, ifname);
	topo_roles(&t->m, ifname);
	if (!path && topo_operator_roles(&r->ctx, &t->m, e))
		return -1;
	return predict(r, path ? NULL : &pid, t, e) || (!path && take_pinned(&r->ctx, t, e)) ||
			       add_findings(t, &dirs, flags, e)
		       ? -1
		       : 0;
}

static int load_xml(struct cmd_run *r, const char *path, unsigned flags, struct topo *t,
		    struct err *e)
{
	return read_xml(path, t, e) || predict(r, NULL, t, e) || add_findings(t, NULL, flags, e)
		       ? -1
		       : 0;
}

int topo_load_path(struct cmd_run *r, const char *path, bool xml, struct topo *t, struct err *e)
{
	return xml ? load_xml(r, path, TOPO_FINDINGS, t, e)
		   : load_tree(r, path, TOPO_FINDINGS, t, e);
}

int topo_load(struct cmd_run *r, unsigned flags, struct topo *t, struct err *e)
{
	const char *xml = opt_get(&r->opts, "nccl-xml");
	bool tree = opt_is_set(&r->opts, "sysfs");

	if (opt_is_set(&r->opts, "netns") && (xml || tree))
		return cmd_usage(r, e, "--netns is of this machine: --%s is another",
				 xml ? "nccl-xml" : "sysfs");
	if (!xml)
		return load_tree(r, opt_get(&r->opts, "sysfs"), flags, t, e);
	if (tree)
		return cmd_usage(r, e, "--sysfs and --nccl-xml exclude each other");
	if (opt_is_set(&r->opts, "class"))
		return cmd_usage(r, e, "--class is for a tree: a topology file says what a GPU is");
	return load_xml(r, xml, flags, t, e);
}

void topo_clear(struct topo *t)
{
	gdr_findings_clear(&t->findings);
	comparison_clear(&t->differ);
	nccl_prediction_clear(&t->nccl);
	topo_choice_clear(&t->node);
	topo_choice_clear(&t->choice);
	free(t->gpu);
	free(t->hca);
	topo_machine_clear(&t->m);
}
