/* SPDX-License-Identifier: Apache-2.0 */
/* finding.c: collects findings, sorts them, and prints them as lines or JSON. */
#include "lib/cli/finding.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"

#define FINDINGS_MAX (1u << 20)
#define INDENT_MAX   9

static const struct {
	const char *name;
	enum out_style style;
	int weight;
} states[] = {
	[FINDING_OK] = { "ok", OUT_GOOD, 0 },
	[FINDING_UNKNOWN] = { "unknown", OUT_FAINT, 1 },
	[FINDING_WARN] = { "warn", OUT_WARN, 2 },
	[FINDING_FAIL] = { "fail", OUT_BAD, 3 },
};

const char *finding_state_name(enum finding_state s)
{
	return states[s].name;
}

enum out_style finding_style(enum finding_state s)
{
	return states[s].style;
}

enum finding_state finding_worse(enum finding_state a, enum finding_state b)
{
	return states[b].weight > states[a].weight ? b : a;
}

/* ---- adding ---- */

static void clear_finding(struct finding *f)
{
	free(f->subject);
	free(f->value);
	free(f->path);
	free(f->reason);
	free(f->remedy);
	*f = (struct finding){ 0 };
}

struct finding *findings_add(struct findings *all, const char *id, enum finding_state state)
{
	struct finding *f = &all->spare;
	struct err ignored; /* findings_check() tells it */

	if (ARRAY_GROW(all->item, all->n, FINDINGS_MAX, "findings", &ignored)) {
		clear_finding(f);
		*f = (struct finding){ .id = id, .state = state, .failed = true };
		return f;
	}
	f = &all->item[all->n++];
	*f = (struct finding){ .id = id, .state = state };
	return f;
}

static void printf_like(3, 0) set_text(struct finding *f, char **to, const char *fmt, va_list ap)
{
	char text[FINDING_TEXT_LEN];

	(void)vsnprintf(text, sizeof(text), fmt, ap);
	free(*to);
	*to = strdup(text);
	if (!*to)
		f->failed = true;
}

#define SET_TEXT(field)                                                                            \
	do {                                                                                       \
		va_list ap;                                                                        \
		va_start(ap, fmt);                                                                 \
		set_text(f, &f->field, fmt, ap);                                                   \
		va_end(ap);                                                                        \
	} while (0)

void findings_move(struct findings *to, struct finding *f)
{
	struct finding *copy = findings_add(to, f->id, f->state);

	if (copy->failed)
		return;
	*copy = *f;
	*f = (struct finding){ .id = f->id };
}

void finding_set_subject(struct finding *f, const char *fmt, ...)
{
	SET_TEXT(subject);
}

void finding_set_value(struct finding *f, const char *fmt, ...)
{
	SET_TEXT(value);
}

void finding_set_path(struct finding *f, const char *fmt, ...)
{
	SET_TEXT(path);
}

void finding_set_reason(struct finding *f, const char *fmt, ...)
{
	SET_TEXT(reason);
}

void finding_set_remedy(struct finding *f, const char *fmt, ...)
{
	SET_TEXT(remedy);
}

/* ---- all of them ---- */

int findings_check(const struct findings *all, struct err *e)
{
	bool failed = all->spare.failed;

	for (size_t i = 0; i < all->n; i++)
		failed = failed || all->item[i].failed;
	return failed ? err_nomem(e) : 0;
}

int findings_sort(struct findings *all, struct err *e)
{
	static const enum finding_state order[] = { FINDING_FAIL, FINDING_WARN, FINDING_UNKNOWN,
						    FINDING_OK };
	struct finding *sorted = NULL;
	size_t n = 0;

	if (ARRAY_GROW_BY(sorted, 0, all->n, FINDINGS_MAX, "findings", e))
		return -1;
	for (size_t s = 0; s < ARRAY_SIZE(order); s++)
		for (size_t i = 0; i < all->n; i++)
			if (all->item[i].state == order[s])
				sorted[n++] = all->item[i];
	free(all->item);
	all->item = sorted;
	return 0;
}

enum finding_state findings_worst(const struct findings *all)
{
	enum finding_state worst = FINDING_OK;

	for (size_t i = 0; i < all->n; i++)
		worst = finding_worse(worst, all->item[i].state);
	return worst;
}

size_t findings_count(const struct findings *all, enum finding_state s)
{
	size_t n = 0;

	for (size_t i = 0; i < all->n; i++)
		n += all->item[i].state == s;
	return n;
}

void findings_clear(struct findings *all)
{
	for (size_t i = 0; i < all->n; i++)
		clear_finding(&all->item[i]);
	free(all->item);
	clear_finding(&all->spare);
	*all = (struct findings){ 0 };
}

/* ---- lines ---- */

/* How much of text fits into n columns: up to the last space, or one long word. */
static size_t fitting(const char *text, size_t n)
{
	size_t end = strcspn(text, " ");

	for (size_t at = end; text[at]; at += 1 + strcspn(text + at + 1, " "))
		if (at <= n)
			end = at;
	return strlen(text) <= n ? strlen(text) : end;
}

/* "so: TEXT" below the value, in as many lines as a terminal needs. */
static void print_below(const struct out *o, int indent, const char *label, const char *text)
{
	const size_t used = (size_t)indent + 4, least = 30;
	const size_t n = !o->width ? SIZE_MAX : o->width > used + least ? o->width - used : least;

	for (const char *first = label; *text; first = "") {
		size_t len = fitting(text, n);

		out_line(o, OUT_PLAIN, "%*s%-4s%.*s", indent, "", first, (int)len, text);
		text += len + strspn(text + len, " ");
	}
}

static void print_one(const struct out *o, const struct finding *f, int width)
{
	const char *whom = f->subject ? f->subject : "";
	const char *id = f->code ? f->code : f->id;
	const char *value = f->value ? f->value : f->path ? f->path : "-";
	bool both = f->value && f->path;
	char text[2 * FINDING_TEXT_LEN];
	/* A wide column of ids leaves too little of a line. */
	int indent = width > INDENT_MAX ? INDENT_MAX + 11 : width + 11;

	(void)snprintf(text, sizeof(text), "%s%s%s%s", value, both ? " (" : "", both ? f->path : "",
		       both ? ")" : "");
	const size_t head = (size_t)(width > (int)strlen(id) ? width : (int)strlen(id)) + 13 +
			    out_columns(whom);
	const bool fits = !o->width || head + out_columns(text) <= o->width;

	out_line(o, finding_style(f->state), "%-7s  %-*s  %s%s%s", finding_state_name(f->state),
		 width, id, whom, *whom ? fits ? ": " : ":" : "", fits ? text : "");
	if (!fits)
		print_below(o, indent, "", text);
	if (f->reason)
		print_below(o, indent, "so: ", f->reason);
	if (f->remedy)
		print_below(o, indent, "do: ", f->remedy);
}

static bool same_text(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* Consequence and remedy are alike; the evidence may differ. */
static bool concludes_alike(const struct finding *a, const struct finding *b)
{
	return a->state == b->state && same_text(a->id, b->id) && same_text(a->code, b->code) &&
	       same_text(a->reason, b->reason) && same_text(a->remedy, b->remedy);
}

static bool says_same(const struct finding *a, const struct finding *b)
{
	return concludes_alike(a, b) && same_text(a->value, b->value) &&
	       same_text(a->path, b->path);
}

static bool is_first(const struct findings *all, size_t at,
		     bool (*same)(const struct finding *a, const struct finding *b))
{
	for (size_t i = 0; i < at; i++)
		if (same(&all->item[i], &all->item[at]))
			return false;
	return true;
}

/* The finding at first with the subjects of all that say the same: "net1, net2". */
static void print_folded(const struct out *o, const struct findings *all, size_t first,
			 bool concludes, int width)
{
	struct finding line = all->item[first];
	char subjects[1200] = "";
	size_t len = 0;

	for (size_t i = first; i < all->n && len < sizeof(subjects); i++)
		if (says_same(&all->item[i], &all->item[first]))
			len += (size_t)snprintf(subjects + len, sizeof(subjects) - len, "%s%s",
						len ? ", " : "",
						all->item[i].subject ? all->item[i].subject : "");
	if (len >= sizeof(subjects))
		(void)strcpy(subjects + sizeof(subjects) - 4, "...");
	line.subject = subjects;
	if (!concludes)
		line.reason = line.remedy = NULL;
	print_one(o, &line, width);
}

/* A line for each evidence, and the conclusion once. */
static void print_group(const struct out *o, const struct findings *all, size_t first, int width)
{
	size_t at = first;

	for (size_t i = first + 1; i < all->n; i++) {
		if (!concludes_alike(&all->item[i], &all->item[first]) ||
		    !is_first(all, i, says_same))
			continue;
		print_folded(o, all, at, false, width);
		at = i;
	}
	print_folded(o, all, at, true, width);
}

void findings_print(const struct out *o, const struct findings *all, int width, unsigned flags)
{
	for (size_t i = 0; i < all->n; i++) {
		bool ok = all->item[i].state == FINDING_OK;

		if (ok && !(flags & FINDINGS_OK))
			continue;
		if (flags & FINDINGS_EACH || (ok && !(flags & FINDINGS_FOLD_OK)))
			print_one(o, &all->item[i], width);
		else if (is_first(all, i, concludes_alike))
			print_group(o, all, i, width);
	}
}

void findings_print_counts(const struct out *o, const struct findings *all)
{
	out_line(o, OUT_HEAD, "%zu ok, %zu warned, %zu failed, %zu unknown",
		 findings_count(all, FINDING_OK), findings_count(all, FINDING_WARN),
		 findings_count(all, FINDING_FAIL), findings_count(all, FINDING_UNKNOWN));
}

/* ---- JSON ---- */

struct json *findings_json(const struct findings *all, const char *key)
{
	auto_json struct json *o = json_new_object();
	struct json *list;

	if (!o || json_add_int(o, "version", 1) ||
	    json_add_str(o, "state", finding_state_name(findings_worst(all))) ||
	    !(list = json_add_array(o, key)))
		return NULL;
	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->item[i];
		struct json *one = json_push_object(list);

		if (!one || json_add_str(one, "check", f->id) ||
		    json_add_str(one, "code", f->code) ||
		    json_add_str(one, "state", finding_state_name(f->state)) ||
		    json_add_or_null(one, "subject", f->subject) ||
		    json_add_or_null(one, "value", f->value) ||
		    json_add_or_null(one, "consequence", f->reason) ||
		    json_add_or_null(one, "remedy", f->remedy))
			return NULL;
	}
	return TAKE_PTR(o);
}
