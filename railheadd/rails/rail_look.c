/* SPDX-License-Identifier: Apache-2.0 */
/* rail_look.c: reads the machine, asks topo/gdr about each rail, and misses those that are known.
 */
#include "railheadd/rails/rail_look.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/ctx.h"
#include "lib/device/rdma.h"
#include "lib/sys/fs.h"
#include "railheadd/rails/rail_table.h"
#include "topo/gdr/gdr.h"
#include "topo/read/read.h"

static const struct finding_key keys[] = {
	{ "check", FINDING_ID, false },      { "state", FINDING_STATE, false },
	{ "value", FINDING_VALUE, false },   { "reason", FINDING_REASON, false },
	{ "remedy", FINDING_REMEDY, false }, { NULL, FINDING_ID, false },
};

/* ---- rails that are there ---- */

static bool is_rail(const struct topo_hca *h)
{
	return h->pci != TOPO_NONE && (h->kind == TOPO_HCA_PF || h->kind == TOPO_HCA_BOND);
}

static const struct json *find_rail(const struct json *list, const char *pci, double port)
{
	json_each (o, list)
		if (strcmp(json_text(o, "pci"), pci) == 0 && json_num(json_get(o, "port")) == port)
			return o;
	return NULL;
}

static int check_rail(const struct topo_machine *m, const char *sysfs, struct gdr_rail which,
		      struct findings *out, struct err *e)
{
	const struct topo_tree_dirs dirs = { .sysfs = sysfs };

	if (gdr_check_rail(m, &dirs, which, out, e))
		return -1;
	finding_set_value(findings_add(out, "device", FINDING_OK), "%s", m->hca[which.hca].name);
	return findings_check(out, e);
}

/* A second device of one function and port is left out: the function identifies a rail. */
static int add_rail(const struct topo_machine *m, const char *sysfs, struct gdr_rail which,
		    struct json *list, struct err *e)
{
	auto_findings struct findings all = { 0 };
	const struct topo_hca *h = &m->hca[which.hca];
	const struct topo_port *p = &h->port[which.port];
	char pci[PCI_STR_LEN];
	struct json *o;

	pci_format(m->pci[h->pci].addr, pci);
	if (find_rail(list, pci, p->port))
		return 0;
	if (check_rail(m, sysfs, which, &all, e))
		return -1;
	o = json_push_object(list);
	return !o || json_add_str(o, "pci", pci) || json_add_str(o, "device", h->name) ||
			       json_add_int(o, "port", p->port) ||
			       json_add_int(o, "rate", p->rate_mbps) ||
			       json_put(o, "findings", findings_json(&all, keys))
		       ? err_nomem(e)
		       : 0;
}

/* ---- rails that are not ---- */

static void judge_missing(const struct rail_look_from *from, const char *pci, struct finding *f)
{
	char driver[PCI_DRIVER_LEN] = "";
	struct err why;

	if (pci_driver(from->sysfs, pci, driver, &why)) {
		if (why.code != ERR_NOTFOUND)
			return;
		f->state = FINDING_WARN;
		finding_set_value(f, "the card is not on the PCIe bus any more");
		finding_set_reason(f, "it failed or was removed");
		finding_set_remedy(f,
				   "look for its last errors: dmesg | grep -e AER -e %s; then "
				   "restart the node, and replace the card if it stays away",
				   pci);
	} else if (from->shared && !pci_driver_is_stub(driver)) {
		f->state = FINDING_WARN;
		finding_set_value(f, "the card has no RDMA device any more (driver: %s)",
				  *driver ? driver : "none");
		finding_set_reason(f, "its driver or its firmware failed, or was stopped");
		finding_set_remedy(f,
				   "look at dmesg | grep %s; then bind the driver again, or "
				   "restart the node",
				   pci);
	}
}

static int miss_rail(const struct rail_look_from *from, const struct json *known, struct json *list,
		     struct err *e)
{
	auto_findings struct findings all = { 0 };
	struct finding *f = findings_add(&all, "device", FINDING_UNKNOWN);
	struct json *o = json_push_object(list);

	judge_missing(from, json_text(known, "pci"), f);
	if (findings_check(&all, e))
		return -1;
	return !o || json_add_copy(o, "pci", json_get(known, "pci")) ||
			       json_add_copy(o, "device", json_get(known, "device")) ||
			       json_add_copy(o, "port", json_get(known, "port")) ||
			       json_put(o, "findings", findings_json(&all, keys))
		       ? err_nomem(e)
		       : 0;
}

/* ---- all of it ---- */

int rail_look(const struct rail_look_from *from, const struct json *known, struct json **out,
	      struct err *e)
{
	auto_topo_machine struct topo_machine m = { 0 };
	auto_json struct json *list = json_new_array();

	if (!list)
		return err_nomem(e);
	/* Without /proc: only GPUs need it, and their driver may be slow to answer. */
	if (topo_read_sysfs(from->sysfs, NULL, &(struct topo_read_opts){ 0 }, &m, e))
		return -1;
	for (uint32_t h = 0; h < m.n_hcas; h++)
		for (size_t p = 0; is_rail(&m.hca[h]) && p < m.hca[h].n_ports; p++)
			if (add_rail(&m, from->sysfs, (struct gdr_rail){ h, p }, list, e))
				return -1;
	json_each (o, known)
		if (!find_rail(list, json_text(o, "pci"), json_num(json_get(o, "port"))) &&
		    miss_rail(from, o, list, e))
			return -1;
	*out = TAKE_PTR(list);
	return 0;
}

/* Without an answer a device that is not visible may be a pod's. */
static bool is_shared(void)
{
	auto_nl struct nl *nl = NULL;
	struct rdma_sys sys;
	struct err ignored;

	return nl_rdma_open(&nl, &ignored) == 0 && nl_rdma_sys_get(nl, &sys, &ignored) == 0 &&
	       sys.mode == RDMA_SHARED;
}

int rail_look_main(void)
{
	auto_json struct json *known = NULL, *look = NULL;
	auto_free char *input = NULL;
	size_t len = 0;
	struct ctx ctx;
	struct err e;

	ctx_init(&ctx, "railheadd");
	const struct rail_look_from from = { ctx.sysfs, is_shared() };
	if (fs_read_fd(STDIN_FILENO, JSON_MAX_SIZE, &input, &len, &e) ||
	    json_parse(input, len, "known rails", &known, &e) ||
	    rail_look(&from, known, &look, &e)) {
		log_error(&ctx.log, "rails: %s", e.msg);
		return 1;
	}
	auto_free char *text = json_print(look, false);
	return text && puts(text) >= 0 && fflush(stdout) == 0 ? 0 : 1;
}
