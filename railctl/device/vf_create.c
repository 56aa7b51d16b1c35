/* SPDX-License-Identifier: Apache-2.0 */
/* vf_create.c: `railctl vf create` and `railctl vf bind`: make VFs of a PF; change a VF's driver.
 */
#include <string.h>

#include "railctl/device/vf.h"

/* ---- create ---- */

static int create_as_json(const struct cmd_run *r, const struct pf_view *p,
			  const struct vf_order_result *made, struct err *e)
{
	auto_json struct json *o = json_new_object();
	struct json *vfs;

	if (!o || json_add_str(o, "pfPciAddress", p->addr) ||
	    (*p->netdev.name && json_add_str(o, "pfName", p->netdev.name)) ||
	    json_add_bool(o, "changed", made->changed) || json_add_int(o, "before", made->before) ||
	    json_add_int(o, "sriovVfs", p->count.num) || !(vfs = json_add_array(o, "vfs")))
		return err_nomem(e);
	for (size_t i = 0; i < p->n_vfs; i++) {
		if (json_push_str(vfs, p->vf[i].addr))
			return err_nomem(e);
	}
	return out_json(&r->out, o, e);
}

static void create_as_text(const struct cmd_run *r, const struct pf_view *p,
			   const struct vf_order_result *made)
{
	const struct out *o = &r->out;
	const char *name = *p->netdev.name ? p->netdev.name : p->addr;

	out_line(o, OUT_GOOD, "%s has %u VF%s%s", name, p->count.num, p->count.num == 1 ? "" : "s",
		 made->changed ? "" : " already: nothing was done");
	if (p->count.num && p->netdev.ifindex && !p->netdev.up)
		out_line(o, OUT_WARN,
			 "%s is down: its VFs have no link until it is up (ip link set "
			 "%s up)",
			 name, name);
}

/* ---- GUIDs ---- */

#define GUIDS_MAX 1024

static int take_guid(struct cmd_run *r, const char *option, const char *text, struct guid *out,
		     struct err *e)
{
	return guid_parse(text, out) ? cmd_usage(r, e,
						 "--%s \"%.64s\" is not a GUID such as "
						 "02:00:00:00:00:00:00:01",
						 option, text)
				     : 0;
}

static int create_take_guids(struct cmd_run *r, struct guid list[GUIDS_MAX], struct vf_order *o,
			     struct err *e)
{
	const char *first = opt_get(&r->opts, "first-guid"), *text;
	size_t i = 0;

	if (first && take_guid(r, "first-guid", first, &o->guids.first, e))
		return -1;
	o->guids.list = list;
	while ((text = opt_next(&r->opts, "guid", &i))) {
		if (o->guids.n == GUIDS_MAX)
			return cmd_usage(r, e, "more than %d times --guid", GUIDS_MAX);
		if (take_guid(r, "guid", text, &list[o->guids.n++], e))
			return -1;
	}
	return 0;
}

static int create_run(struct cmd_run *r, struct err *e)
{
	struct vf_order order = { .pf = opt_get(&r->opts, "pf"),
				  .driver = opt_get(&r->opts, "driver"),
				  .force = opt_is_set(&r->opts, "force") };
	auto_nl struct nl *nl = NULL;
	auto_pf_view struct pf_view p = { 0 };
	struct vf_order_result made;
	struct guid guids[GUIDS_MAX];

	if (!order.pf)
		return cmd_usage(r, e, "say of which PF: --pf PF");
	if (order.driver && strcmp(order.driver, "default") == 0)
		order.driver = NULL;
	if (ctl_count(r, &order.count, e) || create_take_guids(r, guids, &order, e) ||
	    nl_open(&nl, e))
		return -1;
	const struct manager m = ctl_manager(r, nl);
	if (manager_create(&m, &order, &made, e) || inventory_pf(&r->ctx, nl, made.pf, &p, e))
		return -1;
	if (r->out.json)
		return create_as_json(r, &p, &made, e);
	create_as_text(r, &p, &made);
	return 0;
}

static const struct opt create_opts[] = {
	{ "pf", "PF", "the card: an interface or a PCI address", 0 },
	{ "count", "N", "number of VFs; 0 removes them", 0 },
	{ "driver", "DRIVER", "bind them to this driver (default: the kernel's choice)", 0 },
	{ "guid", "GUID", "InfiniBand: the GUID of VF 0; again for VF 1, ...", OPT_MANY },
	{ "first-guid", "GUID", "InfiniBand: the GUID of VF 0; that of VF N is N more", 0 },
	{ "force", NULL, "even if VFs are in use, or if the default route uses the PF", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const create_examples[] = {
	"railctl vf create --pf ens3f0 --count 4",
	"railctl vf create --pf ib0 --count 8 --first-guid 02:00:00:00:00:00:01:00",
	"railctl vf create --pf 0000:3b:00.1 --count 0",
	NULL,
};

const struct cmd cmd_vf_create = {
	.name = "create",
	.summary = "make a number of VFs on a network card",
	.about = "The MAC of each VF is derived from the MAC of the card and the number of the VF. "
		 "It is the same after each reboot. The MAC is recorded in /var/lib/railhead/vf. "
		 "A VF of InfiniBand gets a GUID instead, as node and port GUID: that of --guid or "
		 "--first-guid, or one derived in the same way. "
		 "The state of the VF after this command is its baseline. If the card already has "
		 "VFs, they are removed first. This is refused while one is in use, or while the "
		 "default route of this host uses the card. After a failure there are as many VFs "
		 "as before. If the command is killed, run it again to finish the work.",
	.opts = { create_opts },
	.examples = create_examples,
	.run = create_run,
};

/* ---- bind ---- */

static int bind_one(struct vf_work *w, const char *word, const char *driver, struct err *e)
{
	char vf[PCI_STR_LEN];
	struct vf_report report;
	struct err why;

	if (ctl_vf(w->run, word, vf, &why))
		return vf_work_report(w, word, NULL, &why, e);
	int rc = manager_bind(&w->m, vf, driver, &report, &why);
	return vf_work_report(w, vf, &report, rc ? &why : NULL, e);
}

static int bind_all(struct cmd_run *r, struct err *e)
{
	auto_json struct json *array = r->out.json ? json_new_array() : NULL;
	auto_nl struct nl *nl = NULL;
	const char *driver = opt_get(&r->opts, "driver");
	struct vf_work w = { .run = r, .array = array, .verb = "bound", .named = true };

	if (!driver)
		return cmd_usage(r, e, "say to which driver: --driver DRIVER, or --driver default");
	if (strcmp(driver, "default") == 0)
		driver = NULL;
	if (r->out.json && !array)
		return err_nomem(e);
	if (nl_open(&nl, e))
		return -1;
	w.m = ctl_manager(r, nl);
	for (size_t i = 0; i < r->opts.n_words; i++) {
		if (bind_one(&w, r->opts.words[i], driver, e))
			return -1;
	}
	return vf_work_end(&w, e);
}

static const struct opt bind_opts[] = {
	{ "driver", "DRIVER", "vfio-pci, igbvf, ...; default: the kernel's choice", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const bind_examples[] = {
	"railctl vf bind --driver vfio-pci 0000:3b:00.3",
	"railctl vf bind --driver default ens3f0v0",
	NULL,
};

const struct cmd cmd_vf_bind = {
	.name = "bind",
	.words = "VF...",
	.summary = "bind VFs to another driver",
	.about = "A VF is named by its PCI address or its interface. A VF with an owner is "
		 "refused. If the new driver does not accept the VF, the old driver gets it back. "
		 "For each reboot write \"driver\" into a file of /etc/railhead/vf.d.",
	.opts = { bind_opts },
	.examples = bind_examples,
	.min_words = 1,
	.max_words = 65535,
	.run = bind_all,
};
