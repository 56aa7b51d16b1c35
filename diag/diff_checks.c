// SPDX-License-Identifier: Apache-2.0
/* Compares the findings of `railctl topo check` that two documents have. */
#include <string.h>

#include "lib/base/array.h"
#include "diag/diff_priv.h"

/* Each pair of findings is looked at; a machine of 16 GPUs has about 500. */
#define CHECKS_MAX 4096

/* ---- one machine ---- */

/* A finding about one device, or about the machine: gpu and hca are NULL. */
struct check {
	const struct json *finding;
	const char *id;
	enum finding_state state;
	const struct diff_pair *gpu, *hca;
};

struct checks {
	struct check *item; /* owned */
	size_t n;
};

static bool parse_state(const struct json *finding, enum finding_state *out)
{
	const char *name = json_text(finding, "state");

	for (int s = FINDING_OK; s <= FINDING_UNKNOWN; s++) {
		*out = (enum finding_state)s;
		if (strcmp(name, finding_state_name(*out)) == 0)
			return true;
	}
	return false;
}

static bool is_on_both(const char *name, const struct diff_pair *p)
{
	return !*name || (p && p->expected && p->found);
}

/* Findings about devices that only one machine has are left out. */
static int take_checks(const struct diff *d, bool found, const struct json *list,
		       struct checks *out, struct err *e)
{
	json_each (it, list) {
		const char *gpu = json_text(it, "gpu"), *hca = json_text(it, "hca");
		struct check c = { .finding = it, .id = json_text(it, "check") };

		c.gpu = diff_find(&d->gpu, found, "bdf", gpu);
		c.hca = diff_find(&d->hca, found, "name", hca);
		if (!is_on_both(gpu, c.gpu) || !is_on_both(hca, c.hca) ||
		    !parse_state(it, &c.state))
			continue;
		if (ARRAY_GROW(out->item, out->n, CHECKS_MAX, "findings of a machine", e))
			return -1;
		out->item[out->n++] = c;
	}
	return 0;
}

static bool is_same_check(const struct check *a, const struct check *b)
{
	return a->gpu == b->gpu && a->hca == b->hca && strcmp(a->id, b->id) == 0;
}

/* Several findings about one subject count as the worst of them; NULL: there is none. */
static const struct check *worst_of(const struct checks *all, const struct check *of)
{
	const struct check *worst = NULL;

	for (size_t i = 0; i < all->n; i++) {
		const struct check *c = &all->item[i];

		if (is_same_check(c, of) &&
		    (!worst || finding_worse(c->state, worst->state) != worst->state))
			worst = c;
	}
	return worst;
}

/* ---- both ---- */

static void diff_checks_add(struct diff *d, const struct check *expected, const struct check *found)
{
	enum finding_state was = expected->state, is = found->state;
	bool unknown = was == FINDING_UNKNOWN || is == FINDING_UNKNOWN;
	bool better = !unknown && finding_worse(was, is) == was;
	/* The machine that is bad, or does not know, has the reason and the remedy. */
	bool of_expected = better || was == FINDING_UNKNOWN;
	const struct check *why = of_expected ? expected : found;
	enum finding_state state = unknown ? FINDING_UNKNOWN : better ? FINDING_WARN : is;
	struct finding *f =
		diff_add(d, found->id, state, finding_state_name(was), finding_state_name(is));
	const char *value = json_text(why->finding, "value");

	if (*value)
		finding_set_value(f, "expected %s, found %s: %s", finding_state_name(was),
				  finding_state_name(is), value);
	finding_set_reason(f, "%s%s", of_expected ? "on the expected machine: " : "",
			   json_text(why->finding, "consequence"));
	finding_set_remedy(f, "%s", json_text(why->finding, "remedy"));
	if (found->gpu || found->hca)
		finding_set_subject(f, "%s%s%s", found->gpu ? found->gpu->label : "",
				    found->gpu && found->hca ? " " : "",
				    found->hca ? found->hca->label : "");
}

int diff_checks(struct diff *d, const struct json *expected, const struct json *found,
		struct err *e)
{
	struct checks a = { 0 }, b = { 0 };
	int rc = take_checks(d, false, json_get(expected, "findings"), &a, e) ||
		 take_checks(d, true, json_get(found, "findings"), &b, e);

	for (size_t i = 0; !rc && i < a.n; i++) {
		const struct check *other = worst_of(&b, &a.item[i]);

		if (other && worst_of(&a, &a.item[i]) == &a.item[i] &&
		    other->state != a.item[i].state)
			diff_checks_add(d, &a.item[i], other);
	}
	free(a.item);
	free(b.item);
	return rc ? -1 : 0;
}
