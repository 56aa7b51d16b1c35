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

int finding_exit_status(const struct finding_exit *x, enum finding_state worst, bool strict)
{
	if (worst == FINDING_FAIL)
		return x->fail;
	if (worst == FINDING_WARN && x->warn)
		return x->warn;
	return worst != FINDING_OK && strict ? x->strict : 0;
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

void finding_print(const struct out *o, const struct finding *f, int width, const char *subject)
{
	const char *whom = subject ? subject : f->subject ? f->subject : "";
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

void findings_print_counts(const struct out *o, const struct findings *all)
{
	out_line(o, OUT_HEAD, "%zu ok, %zu warned, %zu failed, %zu unknown",
		 findings_count(all, FINDING_OK), findings_count(all, FINDING_WARN),
		 findings_count(all, FINDING_FAIL), findings_count(all, FINDING_UNKNOWN));
}

/* ---- JSON ---- */

static const char *part_text(const struct finding *f, enum finding_part part)
{
	switch (part) {
	case FINDING_ID:
		return f->id;
	case FINDING_CODE:
		return f->code;
	case FINDING_STATE:
		return finding_state_name(f->state);
	case FINDING_SUBJECT:
		return f->subject;
	case FINDING_VALUE:
		return f->value;
	case FINDING_PATH:
		return f->path;
	case FINDING_REASON:
		return f->reason;
	case FINDING_REMEDY:
		return f->remedy;
	}
	return NULL;
}

int finding_add_json(struct json *o, const struct finding *f, const struct finding_key *keys)
{
	for (; keys->key; keys++) {
		const char *text = part_text(f, keys->part);

		if (text ? json_add_str(o, keys->key, text)
			 : keys->or_null && json_add_null(o, keys->key))
			return -1;
	}
	return 0;
}

struct json *findings_json(const struct findings *all, const struct finding_key *keys)
{
	auto_json struct json *list = json_new_array();

	for (size_t i = 0; list && i < all->n; i++) {
		struct json *o = json_push_object(list);

		if (!o || finding_add_json(o, &all->item[i], keys))
			return NULL;
	}
	return TAKE_PTR(list);
}
