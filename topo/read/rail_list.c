/* SPDX-License-Identifier: Apache-2.0 */
/* rail_list.c: the rails of this node, from the file of its operator, or by their slots. */
#include "topo/read/rail_list.h"

#include <errno.h>
#include <limits.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>

#include "lib/device/sysfs.h"
#include "lib/json/json.h"
#include "lib/sys/fs.h"
#include "topo/read/rail_survey.h"

#define FILE_MAX 65536

const struct rail_entry *rail_list_find(const struct rail_list *l, uint32_t number)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->rail[i].number == number)
			return &l->rail[i];
	return NULL;
}

const struct rail_dead *rail_list_find_dead(const struct rail_list *l, uint32_t number)
{
	for (size_t i = 0; i < l->n_dead; i++)
		if (l->dead[i].number == number)
			return &l->dead[i];
	return NULL;
}

bool rail_list_is_infiniband(const struct ctx *ctx, const struct rail_entry *rail)
{
	char path[64];
	struct err ignored;
	uint64_t type;

	(void)snprintf(path, sizeof(path), "class/net/%s/type", rail->ifname);
	return sysfs_read_u64(ctx->sysfs, path, &type, &ignored) == 0 && type == ARPHRD_INFINIBAND;
}

static int check_room(const struct rail_list *l, struct err *e)
{
	return l->n + l->n_dead < RAIL_LIST_MAX
		       ? 0
		       : err_set(e, ERR_CONFIG, 0, "more than %d rails", RAIL_LIST_MAX);
}

static int insert_dead(struct rail_list *l, uint32_t number, const char *pci, struct err *e)
{
	struct rail_dead *x = &l->dead[l->n_dead];

	if (check_room(l, e))
		return -1;
	x->number = number;
	(void)snprintf(x->pci, sizeof(x->pci), "%s", pci);
	l->n_dead++;
	return 0;
}

/* Keeps the order of the numbers. */
static int insert(struct rail_list *l, uint32_t number, const char *ifname, struct err *e)
{
	size_t at = l->n;

	if (check_room(l, e))
		return -1;
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->rail[i].ifname, ifname) == 0)
			return err_set(e, ERR_CONFIG, 0, "rails %u and %u are both interface %s",
				       l->rail[i].number, number, ifname);
	for (; at && l->rail[at - 1].number > number; at--)
		l->rail[at] = l->rail[at - 1];
	l->rail[at].number = number;
	(void)snprintf(l->rail[at].ifname, sizeof(l->rail[at].ifname), "%s", ifname);
	l->n++;
	return 0;
}

/* ---- the file ---- */

struct entry_text {
	uint32_t number;
	const char *ifname, *pci;
};

static const struct json_field entry_fields[] = {
	{ "rail", J_U32, J_AT(struct entry_text, number), .flags = J_REQUIRED,
	  .max = RAIL_NUMBER_MAX },
	{ "interface", J_STRING, J_AT(struct entry_text, ifname) },
	{ "pci", J_STRING, J_AT(struct entry_text, pci) },
	{ 0 },
};

static const struct json_field file_fields[] = {
	{ .key = "rails", .kind = J_ARRAY, .offset = 0, .flags = J_REQUIRED },
	{ 0 },
};

static int parse_pci(const char *where, const char *text, char bdf[PCI_STR_LEN], struct err *e)
{
	struct pci_addr a;

	if (pci_parse_loose(text, &a))
		return err_set(e, ERR_CONFIG, 0, "%s.pci: \"%.64s\" is not a PCI address", where,
			       text);
	pci_format(a, bdf);
	return 0;
}

static int rail_list_check_ifname(const char *where, const char *text, struct err *e)
{
	const char *problem = ifname_problem(text);
	struct pci_addr ignored;

	if (!problem)
		return 0;
	err_set(e, ERR_CONFIG, 0, "%s.interface: \"%.64s\": %s", where, text, problem);
	return pci_parse_loose(text, &ignored) ? -1 : err_hint(e, "its key is \"pci\"");
}

/* "" in ifname: the card has none. It cannot be used now, which is not an error of the file. */
static int rail_list_find_netdev(const char *sysfs, const char *where, const char *bdf,
				 char ifname[IFNAME_LEN], struct err *e)
{
	struct err why;

	*ifname = '\0';
	if (!sysfs || pci_pf_netdev(sysfs, bdf, ifname, &why) == 0)
		return 0;
	*ifname = '\0';
	if (why.errnum == ENOENT)
		return 0;
	*e = why;
	return err_wrap(e, "%s.pci", where);
}

static int rail_list_read_entry(const struct json *item, size_t i, const char *sysfs,
				struct rail_list *l, struct err *e)
{
	struct entry_text t = { 0 };
	char where[32], bdf[PCI_STR_LEN], ifname[IFNAME_LEN];

	(void)snprintf(where, sizeof(where), "rails[%zu]", i);
	if (json_type(item) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "%s: must be an object, got %s", where,
			       json_type_name(item));
	if (json_decode_known(item, where, entry_fields, &t, e))
		return -1;
	if (!t.ifname == !t.pci)
		return err_set(e, ERR_CONFIG, 0, "%s: give either interface or pci", where);
	if (t.ifname && rail_list_check_ifname(where, t.ifname, e))
		return -1;
	if (rail_list_find(l, t.number) || rail_list_find_dead(l, t.number))
		return err_set(e, ERR_CONFIG, 0, "%s.rail: %u is given twice", where, t.number);
	if (t.pci && (parse_pci(where, t.pci, bdf, e) ||
		      rail_list_find_netdev(sysfs, where, bdf, ifname, e)))
		return -1;
	if (t.pci && !*ifname)
		return insert_dead(l, t.number, bdf, e);
	return insert(l, t.number, t.ifname ? t.ifname : ifname, e);
}

int rail_list_parse(const char *text, size_t len, const char *sysfs, struct rail_list *out,
		    struct err *e)
{
	struct rail_list l = { .source = RAIL_LIST_FILE };
	auto_json struct json *tree = NULL;
	const struct json *rails = NULL;
	size_t i = 0;

	if (json_parse(text, len, "the file", &tree, e))
		return -1;
	if (json_type(tree) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "must be an object, got %s", json_type_name(tree));
	if (json_decode_known(tree, "", file_fields, &rails, e))
		return -1;
	json_each (item, rails)
		if (rail_list_read_entry(item, i++, sysfs, &l, e))
			return -1;
	*out = l;
	return 0;
}

/* 1: there is none. Below the folder by its path, so that every error has it once. */
static int rail_list_read_file(const struct ctx *ctx, struct rail_list *out, struct err *e)
{
	auto_free char *text = NULL;
	char path[PATH_MAX];
	struct err why;

	if (!ctx->etc_dir)
		return 1;
	(void)snprintf(path, sizeof(path), "%s/" RAIL_LIST_FILE, ctx->etc_dir);
	auto_fd int dir = fs_open_dir(ctx->etc_dir, false, &why);
	ssize_t n = dir < 0 ? -1 : fs_read_trusted_at(dir, path, FILE_MAX, &text, &why);
	if (n < 0 && why.errnum == ENOENT)
		return 1;
	if (n < 0)
		return err_pass(e, &why);
	return rail_list_parse(text, (size_t)n, ctx->sysfs, out, e) ? err_wrap(e, "%s", path) : 0;
}

/* ---- the machine ---- */

/* The interface of the first ACTIVE port, else of the first port; "": none. */
static const char *rail_list_netdev_of(const struct topo_hca *h)
{
	const char *first = "";

	for (size_t i = 0; i < h->n_ports; i++) {
		const struct topo_port *p = &h->port[i];

		if (p->representor || !*p->netdev)
			continue;
		if (p->active == TOPO_YES)
			return p->netdev;
		if (!*first)
			first = p->netdev;
	}
	return first;
}

/* The functions of a card have one number. The first one by PCI address is taken. */
static int take_rails(const struct rail_survey *s, struct rail_list *l, struct err *e)
{
	for (size_t i = 0; i < s->m.n_hcas; i++) {
		const struct topo_hca *h = &s->m.hca[i];
		const uint32_t number = s->choice.rail[i];
		const char *ifname = rail_list_netdev_of(h);

		if (number > RAIL_NUMBER_MAX || !*ifname || rail_list_find(l, number) ||
		    (h->kind != TOPO_HCA_PF && h->kind != TOPO_HCA_BOND))
			continue;
		if (insert(l, number, ifname, e))
			return -1;
	}
	return 0;
}

/* A rail of the file that lost its card. One that the operator took away is not missed. */
static int miss_rails(const struct rail_survey *s, struct rail_list *l, struct err *e)
{
	for (size_t i = 0; i < s->slots.n; i++) {
		const struct rail_slot *x = &s->slots.slot[i];

		if (!rail_list_find(l, x->number) && !(s->withdrawn >> x->number & 1) &&
		    insert_dead(l, x->number, x->pci, e))
			return -1;
	}
	return 0;
}

static int list_machine(const struct rail_survey *s, struct rail_list *out, struct err *e)
{
	struct rail_list l = { .source = s->pinned ? RAIL_SLOTS_FILE : "topology" };

	if (take_rails(s, &l, e) || (s->pinned && miss_rails(s, &l, e)))
		return err_wrap(e, "%s", l.source);
	*out = l;
	return 0;
}

int rail_list_load(const struct ctx *ctx, struct rail_list *out, struct err *e)
{
	auto_rail_survey struct rail_survey s = { .choice = { .n_gpus = 0 } };
	int rc = rail_list_read_file(ctx, out, e);

	if (rc <= 0)
		return rc;
	return rail_survey_read(ctx, true, &s, e) || list_machine(&s, out, e) ? -1 : 0;
}

/* ---- near GPUs ---- */

static int mark_share(const struct rail_survey *s, const char *gpu, bool *is_near, struct err *e)
{
	struct pci_addr a;
	const uint32_t at = pci_parse_loose(gpu, &a) ? TOPO_NONE : topo_find_gpu(&s->m, a);

	if (at == TOPO_NONE)
		return err_set(e, ERR_CONFIG, 0, "this machine has no GPU at %s", gpu);
	for (size_t i = 0; i < s->choice.gpu[at].n_share; i++)
		is_near[s->choice.gpu[at].share[i]] = true;
	return 0;
}

static bool rail_list_has_netdev(const struct topo_hca *h, const char *ifname)
{
	for (size_t i = 0; i < h->n_ports; i++)
		if (strcmp(h->port[i].netdev, ifname) == 0)
			return true;
	return false;
}

static int keep_near(const struct rail_survey *s, struct rail_gpus gpus, struct rail_list *l,
		     struct err *e)
{
	auto_free bool *is_near = calloc(s->m.n_hcas + 1, sizeof(*is_near));
	size_t kept = 0;

	if (!is_near)
		return err_nomem(e);
	for (size_t i = 0; i < gpus.n; i++)
		if (mark_share(s, gpus.pci[i], is_near, e))
			return -1;
	for (size_t i = 0; i < l->n; i++) {
		bool keep = false;

		for (size_t k = 0; k < s->m.n_hcas; k++)
			keep |= is_near[k] && rail_list_has_netdev(&s->m.hca[k], l->rail[i].ifname);
		if (keep)
			l->rail[kept++] = l->rail[i];
	}
	l->n = kept;
	return 0;
}

int rail_list_load_near(const struct ctx *ctx, struct rail_gpus gpus, struct rail_list *all,
			struct rail_list *near, struct err *e)
{
	auto_rail_survey struct rail_survey s = { .choice = { .n_gpus = 0 } };
	struct rail_list every, kept;
	int rc = rail_list_read_file(ctx, &every, e);

	if (rc < 0 || rail_survey_read(ctx, rc == 1, &s, e) || (rc && list_machine(&s, &every, e)))
		return -1;
	kept = every;
	if (keep_near(&s, gpus, &kept, e))
		return -1;
	*all = every;
	*near = kept;
	return 0;
}
