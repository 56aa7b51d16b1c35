/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: print outcomes as text, TAP, JUnit, Markdown or JSON. */
#include "conformance/spec/report.h"

#include <string.h>

#include "conformance/spec/json.h"

const char *level_name(enum level level)
{
	static const char *const names[] = { [MUST] = "MUST", [SHOULD] = "SHOULD", [MAY] = "MAY",
					     [LIB] = "LIB",   [CONV] = "CONV",     [DES] = "DES" };

	return names[level];
}

static const char *verdict_name(enum verdict v)
{
	static const char *const names[] = {
		[PASS] = "pass", [FAIL] = "FAIL", [NOT_APPLICABLE] = "n/a", [DECLARED] = "deviates"
	};

	return names[v];
}

/* "": the right plugin, run in the way of the wrong ones. */
static bool is_wrong(const struct outcome *x)
{
	return x->wrong && *x->wrong;
}

/* A wrong plugin that was caught, or a right one that passed. */
static bool is_good(const struct outcome *x)
{
	return x->verdict == (is_wrong(x) ? FAIL : PASS);
}

bool is_bad(const struct outcome *x)
{
	return x->verdict == (is_wrong(x) ? PASS : FAIL);
}

/* "catches ..." of a wrong plugin. */
static const char *about(const struct outcome *x)
{
	if (!x->wrong)
		return x->item->title;
	return *x->wrong ? text("%s | catches: %s", x->item->title, one_line(x->wrong))
			 : text("%s | control", x->item->title);
}

static void as_text(const struct report *r, const struct outcome *x)
{
	const char *word = verdict_name(x->verdict);

	if (is_wrong(x) && x->verdict != NOT_APPLICABLE)
		word = is_good(x) ? "caught" : "MISSED";

	fprintf(r->to, "%-8s CNI-%03d %-6s %s\n", word, x->item->id, level_name(x->item->level),
		about(x));
	if (x->verdict != PASS && !is_wrong(x) && *x->note)
		fprintf(r->to, "         %s\n", x->note);
	if (x->verdict == FAIL && !is_wrong(x) && *x->evidence)
		fprintf(r->to, "         %s\n", x->evidence);
	fflush(r->to);
}

static void as_tap(struct report *r, const struct outcome *x)
{
	r->n++;
	if (x->verdict == NOT_APPLICABLE || x->verdict == DECLARED) {
		fprintf(r->to, "ok %zu - CNI-%03d %s # SKIP %s\n", r->n, x->item->id, about(x),
			x->note);
		return;
	}
	fprintf(r->to, "%sok %zu - CNI-%03d %s\n", is_bad(x) ? "not " : "", r->n, x->item->id,
		about(x));
	if (is_bad(x))
		fprintf(r->to, "# %s\n# %s\n", x->note, x->evidence);
}

static void xml(FILE *to, const char *s)
{
	for (; *s; s++) {
		unsigned char c = (unsigned char)*s;
		if (c == '<')
			fputs("&lt;", to);
		else if (c == '&')
			fputs("&amp;", to);
		else if (c == '"')
			fputs("&quot;", to);
		else if (c >= 0x20 && c < 0x7f)
			fputc(c, to);
		else
			fputc(' ', to);
	}
}

static void as_junit(const struct report *r, const struct outcome *x)
{
	fprintf(r->to, "    <testcase classname=\"%s\" name=\"CNI-%03d ",
		level_name(x->item->level), x->item->id);
	xml(r->to, about(x));
	fprintf(r->to, "\" time=\"%.3f\">", x->ms / 1e3);
	if (x->verdict == NOT_APPLICABLE || x->verdict == DECLARED) {
		fputs("<skipped message=\"", r->to);
		xml(r->to, x->note);
		fputs("\"/>", r->to);
	} else if (is_bad(x)) {
		fputs("<failure message=\"", r->to);
		xml(r->to, x->note);
		fputs("\">", r->to);
		xml(r->to, x->evidence);
		fputs("</failure>", r->to);
	}
	fputs("</testcase>\n", r->to);
}

/* A bar would end the cell. */
static void cell(FILE *to, const char *s)
{
	for (; *s; s++) {
		if (*s == '|')
			fputc('\\', to);
		fputc(*s == '\n' ? ' ' : *s, to);
	}
}

static void as_markdown(const struct report *r, const struct outcome *x)
{
	fprintf(r->to, "| CNI-%03d | %s | ", x->item->id, level_name(x->item->level));
	cell(r->to, about(x));
	fprintf(r->to, " | %s | ", verdict_name(x->verdict));
	cell(r->to, x->verdict == PASS ? "" : x->note);
	fputs(" |\n", r->to);
}

static void as_json(const struct report *r, const struct outcome *x)
{
	cJSON *o = cJSON_CreateObject();

	cJSON_AddStringToObject(o, "item", text("CNI-%03d", x->item->id));
	cJSON_AddStringToObject(o, "level", level_name(x->item->level));
	cJSON_AddStringToObject(o, "title", x->item->title);
	cJSON_AddStringToObject(o, "verdict", verdict_name(x->verdict));
	cJSON_AddStringToObject(o, "note", x->note);
	cJSON_AddStringToObject(o, "evidence", x->evidence ? x->evidence : "");
	cJSON_AddNumberToObject(o, "ms", x->ms);
	if (x->wrong)
		cJSON_AddStringToObject(o, "wrong", x->wrong);
	fprintf(r->to, "%s\n", jtext(o));
}

bool report_knows(const char *format)
{
	static const char *const formats[] = { "text", "tap", "junit", "markdown", "json" };

	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
		if (strcmp(formats[i], format) == 0)
			return true;
	}
	return false;
}

void report_begin(struct report *r, size_t n)
{
	const char *name = r->order->profile->name;

	if (strcmp(r->format, "text") == 0)
		fprintf(r->to, "%s%s: %zu runs, %zu versions of the protocol\n", name,
			r->selftest ? ", made wrong" : "", n, r->order->facts.n_versions);
	else if (strcmp(r->format, "tap") == 0)
		fprintf(r->to, "TAP version 13\n1..%zu\n# %s\n", n, name);
	else if (strcmp(r->format, "junit") == 0)
		fprintf(r->to,
			"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
			"  <testsuite name=\"%s\" tests=\"%zu\">\n",
			name, n);
	else if (strcmp(r->format, "markdown") == 0)
		fprintf(r->to,
			"# %s\n\n| item | level | rule | outcome | why |\n"
			"| --- | --- | --- | --- | --- |\n",
			name);
}

void report_one(struct report *r, const struct outcome *x)
{
	switch (*r->format) {
	case 't':
		if (r->format[1] == 'e')
			as_text(r, x);
		else
			as_tap(r, x);
		break;
	case 'j':
		if (r->format[1] == 'u')
			as_junit(r, x);
		else
			as_json(r, x);
		break;
	default:
		as_markdown(r, x);
		break;
	}
}

static void summary(const struct report *r, const struct outcome *all, size_t n)
{
	static const enum level order[] = { MUST, SHOULD, MAY, CONV, LIB, DES };

	fprintf(r->to, "\n%-8s %6s %6s %6s %9s\n", "level", "pass", "fail", "n/a", "deviates");
	for (size_t k = 0; k < sizeof(order) / sizeof(order[0]); k++) {
		int count[4] = { 0 };
		for (size_t i = 0; i < n; i++) {
			if (all[i].item->level == order[k])
				count[all[i].verdict]++;
		}
		fprintf(r->to, "%-8s %6d %6d %6d %9d\n", level_name(order[k]), count[PASS],
			count[FAIL], count[NOT_APPLICABLE], count[DECLARED]);
	}
}

void report_end(struct report *r, const struct outcome *all, size_t n)
{
	int good = 0, bad = 0;

	for (size_t i = 0; i < n; i++) {
		good += is_good(&all[i]);
		bad += is_bad(&all[i]);
	}
	if (strcmp(r->format, "junit") == 0)
		fputs("  </testsuite>\n</testsuites>\n", r->to);
	if (strcmp(r->format, "text") != 0)
		return;
	if (!r->selftest)
		summary(r, all, n);
	fprintf(r->to, "%d passed, %d failed, %d skipped\n", good, bad, (int)n - good - bad);
}
