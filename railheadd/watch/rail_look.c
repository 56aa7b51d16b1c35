/* SPDX-License-Identifier: Apache-2.0 */
/* rail_look.c: reads the machine, asks topo/gdr about each rail, and names known ones that are not
 * there. */
#include "railheadd/watch/rail_look.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/ctx.h"
#include "lib/base/guid.h"
#include "lib/device/rdma.h"
#include "lib/sys/fs.h"
#include "railheadd/watch/look.h"
#include "railheadd/watch/rail_qos.h"
#include "railheadd/watch/rail_table.h"
#include "topo/gdr/gdr.h"
#include "topo/read/rail_survey.h"
#include "topo/read/read.h"

static int add_findings(struct json *o, const struct findings *all)
{
	struct json *list = json_add_array(o, "findings");

	for (const struct finding *f = all->item; list && f < all->item + all->n; f++) {
		struct json *one = json_push_object(list);

		if (!one || json_add_str(one, "check", f->id) ||
		    json_add_str(one, "state", finding_state_name(f->state)) ||
		    json_add_str(one, "value", f->value) ||
		    json_add_str(one, "reason", f->reason) ||
		    json_add_str(one, "remedy", f->remedy))
			return -1;
	}
	return list ? 0 : -1;
}

/* ---- rails that are there ---- */

static bool watch_is_rail(const struct topo_hca *h)
{
	return h->pci != TOPO_NONE && (h->kind == TOPO_HCA_PF || h->kind == TOPO_HCA_BOND);
}

/*
 * mlx5 in switchdev mode has one device, with a port for each representor and for each VF that
 * could be (drivers/infiniband/hw/mlx5/ib_rep.c, Linux 5.10 to 6.12). The physical port is the one
 * with the interface of the PF. A port without an interface may have it by its number alone.
 */
static bool is_physical(const struct topo_hca *h, size_t n)
{
	const struct topo_port *p = &h->port[n];

	if (p->representor)
		return false;
	if (h->n_ports <= 2)
		return true;
	for (size_t i = 0; i < h->n_ports; i++)
		if (h->port[i].active == TOPO_YES && p->active != TOPO_YES &&
		    strcmp(h->port[i].netdev, p->netdev) == 0)
			return false;
	return *p->netdev;
}

/* The first rail of this function and port, or NULL. */
static const struct json *find_rail_at(const struct json *list, const char *pci, uint32_t port)
{
	json_each (o, list)
		if (strcmp(json_text(o, "pci"), pci) == 0 && json_num(json_get(o, "port")) == port)
			return o;
	return NULL;
}

/* A GUID that two ports of one number have identifies neither. */
static bool is_unique(const struct topo_machine *m, const struct topo_hca *h, uint32_t port)
{
	for (const struct topo_hca *x = m->hca; x < m->hca + m->n_hcas; x++)
		for (size_t i = 0; i < x->n_ports; i++)
			if (x != h && watch_is_rail(x) && x->node == h->node &&
			    x->port[i].port == port)
				return false;
	return true;
}

static int rail_look_add_guid(const struct topo_machine *m, const struct topo_hca *h, uint32_t port,
			      struct json *o)
{
	struct guid guid = guid_of_number(h->node);
	char text[GUID_STR_LEN];

	if (!guid_is_usable(guid) || !is_unique(m, h, port))
		return 0;
	return json_add_str(o, "guid", guid_format(guid, text));
}

static int watch_check_rail(const struct topo_machine *m, const struct rail_look_from *from,
			    struct gdr_rail which, struct findings *out, struct err *e)
{
	const struct topo_tree_dirs dirs = { .sysfs = from->sysfs };
	const struct topo_hca *h = &m->hca[which.hca];
	char pci[PCI_STR_LEN];

	if (gdr_check_rail(m, &dirs, which, out, e) ||
	    (from->qos && rail_qos_check(from->qos, h->port[which.port].netdev,
					 pci_format(m->pci[h->pci].addr, pci), out, e)))
		return -1;
	finding_set_value(findings_add(out, "device", FINDING_OK), "%s", m->hca[which.hca].name);
	return findings_check(out, e);
}

/* A second device of one function and port is left out: the function identifies a rail. */
static int watch_add_rail(const struct topo_machine *m, const struct rail_look_from *from,
			  struct gdr_rail which, struct json *list, struct err *e)
{
	auto_findings struct findings all = { 0 };
	const struct topo_hca *h = &m->hca[which.hca];
	const struct topo_port *p = &h->port[which.port];
	char pci[PCI_STR_LEN];
	struct json *o;

	pci_format(m->pci[h->pci].addr, pci);
	if (find_rail_at(list, pci, p->port))
		return 0;
	if (watch_check_rail(m, from, which, &all, e))
		return -1;
	o = json_push_object(list);
	return !o || json_add_str(o, "pci", pci) || rail_look_add_guid(m, h, p->port, o) ||
			       json_add_str(o, "device", h->name) ||
			       json_add_int(o, "port", p->port) ||
			       json_add_int(o, "rate", p->rate_mbps) ||
			       json_add_bool(o, "bond", h->kind == TOPO_HCA_BOND) ||
			       add_findings(o, &all)
		       ? err_nomem(e)
		       : 0;
}

/* ---- known rails that are not there ---- */

struct missing {
	char pci[PCI_STR_LEN];
	uint32_t port;
	const struct json *known;
	bool replaced;   /* the function at its address is another known rail */
	bool has_device; /* its function has an RDMA device */
	char why[96];    /* it is not a rail any more; "": it should be there */
};

static bool rail_look_is_function(const struct topo_machine *m, uint32_t pci,
				  const struct missing *x)
{
	char text[PCI_STR_LEN];

	return pci != TOPO_NONE && strcmp(pci_format(m->pci[pci].addr, text), x->pci) == 0;
}

static void rail_look_note_device(const struct topo_hca *h, struct missing *x)
{
	bool other_port = h->n_ports > 0;

	x->has_device = true;
	for (size_t i = 0; i < h->n_ports; i++) {
		if (h->port[i].port != x->port)
			continue;
		other_port = false;
		if (h->port[i].representor)
			(void)snprintf(x->why, sizeof(x->why), "its interface is that of a VF");
	}
	if (other_port)
		(void)snprintf(x->why, sizeof(x->why), "%s has no such port any more", h->name);
}

/* The second function of a bond loses its device, and a device may have fewer ports than before. */
static void note_devices(const struct topo_machine *m, struct missing *x)
{
	for (uint32_t i = 0; i < m->n_hcas; i++) {
		const struct topo_hca *h = &m->hca[i];

		if (watch_is_rail(h) && rail_look_is_function(m, h->second, x))
			(void)snprintf(x->why, sizeof(x->why), "it is part of %s", h->name);
		else if (watch_is_rail(h) && rail_look_is_function(m, h->pci, x))
			rail_look_note_device(h, x);
	}
}

static void judge_missing(const struct rail_look_from *from, const struct missing *x,
			  struct finding *f)
{
	char driver[PCI_DRIVER_LEN] = "";
	struct err why;

	if (x->replaced && from->shared) {
		f->state = FINDING_WARN;
		finding_set_value(f, "no card has its GUID any more; another one has its address");
		finding_set_reason(f, "it failed or was removed, and PCI addresses changed");
		finding_set_remedy(f, "compare the cards with those of railctl topo before; "
				      "restart the node, and replace the card if it stays away");
	}
	if (x->has_device)
		return;
	if (pci_driver(from->sysfs, x->pci, driver, &why)) {
		if (why.code != ERR_NOTFOUND)
			return;
		f->state = FINDING_WARN;
		finding_set_value(f, "the card is not on the PCIe bus any more");
		finding_set_reason(f, "it failed or was removed");
		finding_set_remedy(f,
				   "look for its last errors: dmesg | grep -e AER -e %s; then "
				   "restart the node, and replace the card if it stays away",
				   x->pci);
	} else if (from->shared && !pci_driver_is_stub(driver)) {
		f->state = FINDING_WARN;
		finding_set_value(f, "the card has no RDMA device any more (driver: %s)",
				  *driver ? driver : "none");
		finding_set_reason(f, "its driver or its firmware failed, or was stopped");
		finding_set_remedy(f,
				   "look at dmesg | grep %s; then bind the driver again, or "
				   "restart the node",
				   x->pci);
	}
}

static int rail_look_add_missing(const struct rail_look_from *from, const struct missing *x,
				 struct json *list, struct err *e)
{
	auto_findings struct findings all = { 0 };
	struct json *o = json_push_object(list);

	if (!*x->why)
		judge_missing(from, x, findings_add(&all, "device", FINDING_UNKNOWN));
	if (findings_check(&all, e))
		return -1;
	return !o || json_add_str(o, "pci", x->pci) ||
			       (json_get(x->known, "guid") &&
				json_add_copy(o, "guid", json_get(x->known, "guid"))) ||
			       json_add_copy(o, "device", json_get(x->known, "device")) ||
			       json_add_int(o, "port", x->port) ||
			       (*x->why && json_add_str(o, "dropped", x->why)) ||
			       add_findings(o, &all)
		       ? err_nomem(e)
		       : 0;
}

/* A rail that is there has this GUID and port, or NULL. */
static const struct json *find_guid(const struct json *list, const char *guid, uint32_t port)
{
	json_each (o, list)
		if (*guid && strcmp(json_text(o, "guid"), guid) == 0 &&
		    json_num(json_get(o, "port")) == port)
			return o;
	return NULL;
}

/*
 * The rules of rail_table.h: the GUID identifies a rail, else its address. A card with a new GUID
 * at that address replaces the old one, unless the GUID is that of another known rail.
 */
static bool rail_look_is_there(struct missing *x, const struct json *seen, const struct json *known)
{
	const char *guid = json_text(x->known, "guid");
	const struct json *at = find_rail_at(seen, x->pci, x->port);

	if (find_guid(seen, guid, x->port))
		return true;
	x->replaced = at && find_guid(known, json_text(at, "guid"), x->port);
	if (x->replaced && !*guid)
		(void)snprintf(x->why, sizeof(x->why), "another card has its address");
	return at && !x->replaced;
}

/* All are looked for before the first one is added to list. */
static int add_all_missing(const struct rail_look_from *from, const struct topo_machine *m,
			   const struct json *known, struct json *list, struct err *e)
{
	auto_free struct missing *missing = calloc(json_len(known) + 1, sizeof(*missing));
	size_t n = 0;

	if (!missing)
		return err_nomem(e);
	json_each (o, known) {
		struct missing x = { .known = o, .port = (uint32_t)json_num(json_get(o, "port")) };

		(void)snprintf(x.pci, sizeof(x.pci), "%s", json_text(o, "pci"));
		if (!rail_look_is_there(&x, list, known))
			missing[n++] = x;
	}
	for (size_t i = 0; i < n; i++) {
		note_devices(m, &missing[i]);
		if (rail_look_add_missing(from, &missing[i], list, e))
			return -1;
	}
	return 0;
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
		for (size_t p = 0; watch_is_rail(&m.hca[h]) && p < m.hca[h].n_ports; p++)
			if (is_physical(&m.hca[h], p) &&
			    watch_add_rail(&m, from, (struct gdr_rail){ h, p }, list, e))
				return -1;
	if (add_all_missing(from, &m, known, list, e))
		return -1;
	*out = TAKE_PTR(list);
	return 0;
}

/* Without an answer a device that is not visible may be a pod's. */
static bool rail_look_is_shared(void)
{
	auto_nl struct nl *nl = NULL;
	struct rdma_sys sys;
	struct err ignored;

	return nl_rdma_open(&nl, &ignored) == 0 && nl_rdma_sys_get(nl, &sys, &ignored) == 0 &&
	       sys.mode == RDMA_SHARED;
}

static int look_at_known(const struct ctx *ctx, const struct json *known, struct json **out,
			 struct err *e)
{
	auto_qos_cards struct qos_cards cards = { 0 };
	auto_nl struct nl *nl = NULL;
	struct rail_qos qos = { .ctx = ctx, .cards = &cards };
	struct rail_look_from from = { .sysfs = ctx->sysfs, .shared = rail_look_is_shared() };

	if (qos_cards_read(ctx, QOS_DIR, &cards, &cards.wrong)) {
		if (cards.wrong.code == ERR_NOMEM)
			return err_nomem(e);
		cards.n_wrong = 1;
	}
	if (nl_open(&nl, e))
		return -1;
	qos.nl = nl;
	from.qos = &qos;
	return rail_look(&from, known, out, e);
}

/* The first look at a node with all drivers loaded decides the numbers of its rails for good. A
 * damaged file is the error of each reader. */
static void pin_numbers(const struct ctx *ctx)
{
	struct err e;
	const int n = rail_survey_pin(ctx, &e);

	if (n > 0)
		log_info(&ctx->log, "rails: %d numbers are pinned to slots: %s/" RAIL_SLOTS_FILE, n,
			 ctx->state_dir);
}

int rail_look_main(const struct json *known)
{
	auto_json struct json *look = NULL;
	struct ctx ctx;
	struct err e;

	ctx_init(&ctx, "railheadd");
	pin_numbers(&ctx);
	if (look_at_known(&ctx, known, &look, &e))
		return look_print(NULL, &e);
	return look_print(look, NULL);
}
