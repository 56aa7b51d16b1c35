/* SPDX-License-Identifier: Apache-2.0 */
/* plan.c: names of the programs in the folder, and the decision about each. */
#include "install/plan.h"

#include <stdio.h>
#include <string.h>

#include "install/chain_text.h"
#include "lib/base/parse.h"
#include "lib/base/text.h"
#include "plugins/names.h"

static const char *const programs[] = {
	PLAN_IPAM, PLUGIN_NAMES, "railhead-hook", "railctl", "rdma-probe", NULL,
};

/* ---- which programs ---- */

static int unknown_plugin(struct slice word, struct err *e)
{
	auto_text struct text known = { 0 };

	for (size_t i = 1; programs[i]; i++)
		text_addf(&known, "%s%s", i > 1 ? ", " : "", programs[i]);
	err_set(e, ERR_FIELD, 0, "\"%.*s\" is not a plugin of railhead",
		(int)(word.len < 64 ? word.len : 64), word.p);
	return err_hint(e, "plugins are %s; railhead-ipam is always installed",
			known.failed ? "in railhead-install(8)" : known.s);
}

/* The index of a word in the table of programs. */
static int find_program(struct slice word, size_t *out, struct err *e)
{
	for (size_t i = 0; programs[i]; i++) {
		if (strlen(programs[i]) == word.len && memcmp(programs[i], word.p, word.len) == 0) {
			*out = i;
			return 0;
		}
	}
	return unknown_plugin(word, e);
}

/* A set of bits, by the index of the program. */
static int plan_read_list(const char *list, unsigned *set, struct err *e)
{
	struct slice rest = { list, strlen(list) }, word;
	size_t i = 0;

	*set = 1; /* railhead-ipam */
	while (slice_next(&rest, ',', &word)) {
		if (find_program(word, &i, e))
			return -1;
		*set |= 1u << i;
	}
	return 0;
}

static int bad_prefix(const char *prefix, struct err *e)
{
	err_set(e, ERR_CONFIG, 0, "the prefix \"%.64s\" cannot be part of the name of a plugin",
		prefix);
	return err_hint(e, "use letters, digits, dots and dashes, at most 32, such as rh-");
}

int plan_choose(const char *list, const char *prefix, struct plan *out, struct err *e)
{
	unsigned set = ~0u;
	struct plan p = { .n = 0 };

	if (*prefix && (strlen(prefix) > 32 || !id_valid(prefix)))
		return bad_prefix(prefix, e);
	if (list && plan_read_list(list, &set, e))
		return -1;
	for (size_t i = 0; programs[i]; i++) {
		struct plan_item *item = &p.item[p.n];
		bool own = strncmp(programs[i], "railhead", 8) == 0 ||
			   strcmp(programs[i], "railctl") == 0 ||
			   strcmp(programs[i], "rdma-probe") == 0;

		if (!(set & 1u << i))
			continue;
		item->program = programs[i];
		(void)snprintf(item->name, sizeof(item->name), "%s%s", own ? "" : prefix,
			       programs[i]);
		p.n++;
	}
	*out = p;
	return 0;
}

void plan_add_chained(struct plan *p)
{
	p->item[p->n++] = (struct plan_item){ .name = CHAIN_PROGRAM, .program = CHAIN_PROGRAM };
}

static bool plan_has_name(const struct plan *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++) {
		if (strcmp(p->item[i].name, name) == 0)
			return true;
	}
	return false;
}

void plan_add_earlier(struct plan *p, const struct receipt *r)
{
	p->interrupted = r->changing;
	for (size_t i = 0; i < r->n && p->n < ARRAY_SIZE(p->item); i++) {
		const struct receipt_program *x = &r->program[i];
		struct plan_item item = { .program = NULL };

		if (plan_has_name(p, x->name))
			continue;
		memcpy(item.name, x->name, sizeof(item.name));
		memcpy(item.sha256, x->sha256, sizeof(item.sha256));
		p->item[p->n++] = item;
	}
}

/* ---- what is to be done ---- */

static enum plan_action decide_new(const struct plan_item *x)
{
	if (x->held == HELD_NONE)
		return PLAN_ADD;
	if (x->held != HELD_OURS || strcmp(x->sha256, x->held_sha256) != 0)
		return PLAN_REPLACE;
	return x->held_wrong ? PLAN_REPAIR : PLAN_SAME;
}

/* An install that was interrupted may have left the program of before under a name. */
static enum plan_action decide_earlier(const struct plan *p, const struct plan_item *x)
{
	if (x->held != HELD_OURS || (strcmp(x->sha256, x->held_sha256) != 0 && !p->interrupted))
		return PLAN_FORGET;
	return x->needed ? PLAN_NEEDED : PLAN_DROP;
}

static void plan_add_word(struct text *t, const char *word)
{
	text_addf(t, "%s%s", t->len ? ", " : "", word);
}

static int refuse_names(const char *names, bool prefix_helps, struct err *e)
{
	err_set(e, ERR_BUSY, 0, "the CNI folder has files of another project: %s", names);
	if (prefix_helps)
		err_hint(e, "to install beside them, set a PLUGIN_PREFIX, such as rh-");
	return err_hint(e, "to replace them, use --force or FORCE=1");
}

int plan_decide(struct plan *p, bool force, struct err *e)
{
	auto_text struct text foreign = { .s = NULL };
	bool prefix_helps = false;

	for (size_t i = 0; i < p->n; i++) {
		struct plan_item *x = &p->item[i];

		x->action = x->program ? decide_new(x) : decide_earlier(p, x);
		if (!x->program)
			continue;
		if (x->held == HELD_FOLDER)
			return err_set(e, ERR_BUSY, 0,
				       "the CNI folder has a folder %s; remove it, or set a "
				       "PLUGIN_PREFIX",
				       x->name);
		if (x->held == HELD_FOREIGN && !force) {
			plan_add_word(&foreign, x->name);
			prefix_helps |= strcmp(x->program, PLAN_IPAM) != 0;
		}
	}
	if (foreign.failed)
		return err_nomem(e);
	return foreign.len ? refuse_names(foreign.s, prefix_helps, e) : 0;
}

void plan_order(struct plan *p, bool ipam_last)
{
	size_t at = 0;

	while (at < p->n && strcmp(p->item[at].name, PLAN_IPAM) != 0)
		at++;
	if (at == p->n)
		return;

	const struct plan_item ipam = p->item[at];
	size_t to = ipam_last ? p->n - 1 : 0;

	if (at < to)
		memmove(&p->item[at], &p->item[at + 1], (to - at) * sizeof(ipam));
	else
		memmove(&p->item[to + 1], &p->item[to], (at - to) * sizeof(ipam));
	p->item[to] = ipam;
}

/* The number up to the next dot; *s goes behind it. No number counts as 0. */
static uint64_t next_number(const char **s)
{
	size_t len = strcspn(*s, ".");
	char digits[24];
	uint64_t n = 0;

	if (len < sizeof(digits)) {
		memcpy(digits, *s, len);
		digits[len] = '\0';
		if (parse_u64(digits, 0, UINT64_MAX, &n))
			n = 0;
	}
	*s += len + ((*s)[len] == '.');
	return n;
}

bool version_older(const char *a, const char *b)
{
	while (*a || *b) {
		uint64_t x = next_number(&a), y = next_number(&b);

		if (x != y)
			return x < y;
	}
	return false;
}

int plan_receipt(const struct plan *p, struct receipt *r, struct err *e)
{
	r->n = 0;
	for (size_t i = 0; i < p->n; i++) {
		const struct plan_item *x = &p->item[i];

		if (x->action == PLAN_FORGET || (x->action == PLAN_DROP && !r->changing))
			continue;
		if (receipt_add(r, x->name, x->sha256, e))
			return -1;
	}
	return 0;
}
