/* SPDX-License-Identifier: Apache-2.0 */
/* vf_apply.c: `railctl vf apply`: make VFs at boot as the files in vf.d say. */
#include <stdio.h>

#include "lib/cli/dropin.h"
#include "railctl/device/vf.h"

#define DIR_DEFAULT "/etc/railhead/vf.d"

struct apply {
	struct dropin_work w;
	struct manager m;
};

static void vf_apply_clear(struct apply *a)
{
	dropin_work_clear(&a->w);
}

/* ---- one file ---- */

static int load_file(const struct apply *a, const char *name, struct vf_file *out, struct err *e)
{
	auto_free char *text = NULL;
	ssize_t len = dropin_read(&a->w.d, name, &text, e);

	return len < 0 ? -1 : vf_file_decode(text, (size_t)len, name, out, e);
}

/* At boot the driver of a card may load after this command starts. */
static int apply_find_pf(const struct apply *a, const char *pf, char out[PCI_STR_LEN],
			 struct err *e)
{
	struct err why;

	while (inventory_find_pf(&a->w.run->ctx, pf, out, &why)) {
		if (why.code != ERR_NOTFOUND || !dropin_nap(&a->w.d))
			return err_pass(e, &why);
	}
	return 0;
}

/* A card that udev renames has no interface for a moment. */
static int vf_apply_create(struct apply *a, const struct vf_order *order,
			   struct vf_order_result *made, struct err *e)
{
	while (manager_create(&a->m, order, made, e)) {
		if (e->code != ERR_NOTFOUND || !dropin_nap(&a->w.d))
			return -1;
	}
	return 0;
}

static int apply_order(struct apply *a, const struct vf_file *f, const char *name,
		       struct vf_order_result *made, struct err *e)
{
	const struct vf_order order = {
		.pf = f->pf, .count = f->count, .driver = f->driver, .guids = f->guids
	};
	char pf[PCI_STR_LEN];

	if (apply_find_pf(a, f->pf, pf, e) || dropin_claim(&a->w, pf, name, e) ||
	    vf_apply_create(a, &order, made, e))
		return err_wrap(e, "%s", name);
	return 0;
}

/* ---- what became of it ---- */

static int apply_report_file_json(const struct apply *a, const char *name, const struct vf_file *f,
				  const struct vf_order_result *made, const struct err *why)
{
	struct json *o = json_push_object(a->w.array);

	if (!o || json_add_str(o, "file", name) ||
	    json_add_str(o, "action",
			 why             ? "failed"
			 : made->changed ? "created"
					 : "left-alone"))
		return -1;
	if (why)
		return json_add_str(o, "error", why->msg);
	return json_add_str(o, "pfPciAddress", made->pf) || json_add_int(o, "sriovVfs", f->count)
		       ? -1
		       : 0;
}

static int report_file(struct apply *a, const char *name, const struct vf_file *f,
		       const struct vf_order_result *made, const struct err *why)
{
	const struct out *o = &a->w.run->out;
	char line[OUT_ERROR_LEN];

	if (why)
		a->w.failed++;
	else
		a->w.done++;
	if (a->w.array)
		return apply_report_file_json(a, name, f, made, why);
	if (why)
		out_line(o, OUT_BAD, "failed %s", out_error(why, line));
	else
		out_line(o, OUT_GOOD, "%s %s: %s has %u VF%s",
			 made->changed ? "created" : "left-alone", name, f->pf, f->count,
			 f->count == 1 ? "" : "s");
	(void)fflush(o->to);
	return 0;
}

static int vf_apply_file(const char *name, void *arg, struct err *e)
{
	struct apply *a = arg;
	auto_vf_file struct vf_file f = { 0 };
	struct vf_order_result made = { .before = 0 };
	struct err why;
	bool failed = load_file(a, name, &f, &why) || apply_order(a, &f, name, &made, &why);

	return report_file(a, name, &f, &made, failed ? &why : NULL) ? err_nomem(e) : 0;
}

/* ---- all of them ---- */

static int vf_apply_run(struct cmd_run *r, struct err *e)
{
	auto_nl struct nl *nl = NULL;
	auto_clean(vf_apply_clear) struct apply a = { .w.d.fd = -1 };

	if (dropin_begin(r, DIR_DEFAULT, &a.w, e) || nl_open(&nl, e))
		return -1;
	a.m = ctl_manager(r, nl);
	return dropin_each(&a.w.d, vf_apply_file, &a, e) || dropin_end(&a.w, e) ? -1 : 0;
}

static const struct opt opts[] = {
	DROPIN_OPT_DIR(DIR_DEFAULT),
	DROPIN_OPT_WAIT,
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = { "railctl vf apply --wait 30", NULL };

const struct cmd cmd_vf_apply = {
	.name = "apply",
	.summary = "make the VFs of the files in /etc/railhead/vf.d",
	.about = "Each file is about one card: {\"pf\": \"ens3f0\", \"count\": 8}; see "
		 "railhead-vf.d(5). railhead-vf.service runs this at boot. A card with that number "
		 "of VFs is not changed. If a file is wrong or cannot be applied, the other files "
		 "are still applied, and the exit status is 1.",
	.opts = { opts },
	.examples = examples,
	.run = vf_apply_run,
};
