/* SPDX-License-Identifier: Apache-2.0 */
/* rail_survey.c: reads the machine, numbers its rails, and pins the numbers to slots. */
#include "topo/read/rail_survey.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "topo/read/read.h"
#include "topo/read/roles.h"

void rail_survey_clear(struct rail_survey *s)
{
	topo_choice_clear(&s->choice);
	topo_machine_clear(&s->m);
}

/* The highest rate of the same model: a port that is DOWN has the rate of one lane. */
static uint32_t rate_of_model(const struct topo_machine *m, const struct topo_hca *h)
{
	const struct topo_pci *p = &m->pci[h->pci];
	uint32_t rate = 0;

	for (size_t i = 0; i < m->n_hcas; i++) {
		const struct topo_hca *x = &m->hca[i];
		bool same = x->pci != TOPO_NONE && m->pci[x->pci].vendor == p->vendor &&
			    m->pci[x->pci].device == p->device;

		for (size_t k = 0; same && k < x->n_ports; k++)
			rate = x->port[k].rate_mbps > rate ? x->port[k].rate_mbps : rate;
	}
	return rate;
}

/* A cable that is out must not make another card of each number above. */
static void forget_link_state(struct topo_machine *m)
{
	for (size_t i = 0; i < m->n_hcas; i++) {
		struct topo_hca *h = &m->hca[i];

		for (size_t k = 0; k < h->n_ports; k++) {
			if (h->port[k].active != TOPO_NO)
				continue;
			h->port[k].active = TOPO_UNKNOWN;
			if (h->pci != TOPO_NONE)
				h->port[k].rate_mbps = rate_of_model(m, h);
		}
	}
}

/* ---- pinned numbers ---- */

/* What may have changed since the numbers were pinned: the role of a card by distance may not. */
static bool is_withdrawn(const struct topo_hca *h)
{
	return (h->role == TOPO_STORAGE || h->role == TOPO_MANAGEMENT) &&
	       (!strcmp(h->rule, "operator") || !strcmp(h->rule, "default-route"));
}

/* GPUs get those of the pinned cards that are nearest, and no other card. */
static int survey_pinned(const struct ctx *ctx, struct rail_survey *s, struct err *e)
{
	auto_free uint32_t *number = calloc(s->m.n_hcas + 1, sizeof(*number));
	auto_free bool *is_rail = calloc(s->m.n_hcas + 1, sizeof(*is_rail));

	if (!number || !is_rail)
		return err_nomem(e);
	if (rail_slots_numbers(ctx, &s->slots, &s->m, number, e))
		return -1;
	for (size_t i = 0; i < s->m.n_hcas; i++) {
		if (number[i] != TOPO_NONE && is_withdrawn(&s->m.hca[i])) {
			s->withdrawn |= UINT64_C(1) << number[i];
			number[i] = TOPO_NONE;
		}
		is_rail[i] = number[i] != TOPO_NONE;
	}
	if (topo_choose(&s->m, &(struct topo_scope){ .hca = is_rail }, &s->choice, e))
		return -1;
	for (size_t i = 0; i < s->m.n_hcas; i++)
		s->choice.rail[i] = number[i];
	return 0;
}

/* An ADD waits for it: what numbers do not depend on is not read. */
int rail_survey_read(const struct ctx *ctx, bool pins, struct rail_survey *out, struct err *e)
{
	auto_rail_survey struct rail_survey s = { .withdrawn = 0 };
	struct topo_read_opts places = { .places_only = true };
	char ifname[IFNAME_LEN];
	int rc = pins ? rail_slots_read(ctx, &s.slots, e) : 1;

	if (rc < 0)
		return -1;
	s.pinned = places.no_vpd = rc == 0;
	if (topo_read_sysfs(ctx->sysfs, ctx->proc, &places, &s.m, e))
		return -1;
	forget_link_state(&s.m);
	topo_default_netdev(ctx->proc, true, ifname);
	topo_roles(&s.m, ifname);
	if (topo_operator_roles(ctx, &s.m, e) ||
	    (s.pinned ? survey_pinned(ctx, &s, e) : topo_choose(&s.m, NULL, &s.choice, e)))
		return -1;
	*out = s;
	s = (struct rail_survey){ .pinned = false };
	return 0;
}

/* ---- pinning ---- */

int rail_survey_slots(const struct ctx *ctx, const struct rail_survey *s, struct rail_slots *out,
		      struct err *e)
{
	struct rail_slots all = { .n = 0 };

	/* HCAs are sorted by address: the first one of a card has its lowest function. */
	for (size_t i = 0; i < s->m.n_hcas; i++) {
		const struct topo_hca *h = &s->m.hca[i];
		const uint32_t number = s->choice.rail[i];
		struct rail_slot *x = &all.slot[all.n];
		bool seen = false;

		for (size_t k = 0; k < all.n; k++)
			seen = seen || all.slot[k].number == number;
		if (number == TOPO_NONE || seen || h->pci == TOPO_NONE ||
		    (h->kind != TOPO_HCA_PF && h->kind != TOPO_HCA_BOND))
			continue;
		if (all.n == RAIL_LIST_MAX || number > RAIL_NUMBER_MAX)
			return err_set(e, ERR_CONFIG, 0, "more than %d rails", RAIL_LIST_MAX);
		x->number = number;
		pci_format(s->m.pci[h->pci].addr, x->pci);
		if (rail_slots_path(ctx, &s->m, h->pci, x->path, e))
			return -1;
		all.n++;
	}
	*out = all;
	return 0;
}

static bool has_hca(const struct topo_machine *m, uint32_t pci)
{
	for (size_t i = 0; i < m->n_hcas; i++)
		if ((m->hca[i].pci == pci || m->hca[i].second == pci) &&
		    m->hca[i].kind != TOPO_HCA_SOFTWARE)
			return true;
	return false;
}

/* A rail is a function of this model. */
static bool is_model_of_rail(const struct rail_survey *s, const struct topo_pci *p)
{
	for (size_t i = 0; i < s->m.n_hcas; i++) {
		const struct topo_hca *h = &s->m.hca[i];

		if (s->choice.rail[i] != TOPO_NONE && h->pci != TOPO_NONE &&
		    s->m.pci[h->pci].vendor == p->vendor && s->m.pci[h->pci].device == p->device)
			return true;
	}
	return false;
}

bool rail_survey_unready(const struct rail_survey *s, char pci[PCI_STR_LEN])
{
	for (uint32_t i = 0; i < s->m.n_pci; i++) {
		const struct topo_pci *p = &s->m.pci[i];

		if (!p->has_ids || p->is_vf || has_hca(&s->m, i) || !is_model_of_rail(s, p))
			continue;
		pci_format(p->addr, pci);
		return true;
	}
	return false;
}

int rail_survey_pin(const struct ctx *ctx, struct err *e)
{
	auto_rail_survey struct rail_survey s = { .pinned = false };
	char pci[PCI_STR_LEN], path[4096];
	struct rail_slots slots;
	int rc = rail_slots_read(ctx, &slots, e);

	if (rc <= 0)
		return rc;
	(void)snprintf(path, sizeof(path), "%s/" RAIL_LIST_FILE, ctx->etc_dir);
	if (access(path, F_OK) == 0)
		return 0;
	if (rail_survey_read(ctx, false, &s, e))
		return -1;
	if (rail_survey_unready(&s, pci))
		return 0;
	if (rail_survey_slots(ctx, &s, &slots, e) || (slots.n && rail_slots_write(ctx, &slots, e)))
		return -1;
	return (int)slots.n;
}
