/* SPDX-License-Identifier: Apache-2.0 */
/* judge.c: verdicts of a check, and the expectations that many checks share. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/spec/box.h"
#include "conformance/spec/json.h"

__attribute__((format(printf, 1, 0))) static char *vtext(const char *format, va_list ap)
{
	char *s = NULL;

	if (vasprintf(&s, format, ap) < 0)
		broken("memory");
	return s;
}

char *text(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	char *s = vtext(format, ap);
	va_end(ap);
	return s;
}

const char *one_line(const char *s)
{
	char *copy = text("%s", s);

	for (char *c = copy; *c; c++) {
		if (*c == '\n' || *c == '\t' || *c == '\r')
			*c = ' ';
	}
	return copy;
}

/* The first failure is the evidence: later ones mostly follow from it. */
static void record(struct t *t, char *note)
{
	if (t->verdict == FAIL)
		return;
	t->verdict = FAIL;
	t->note = note;
	if (t->overdue > 0)
		t->note = text("cni-conformance killed the call after %.1f s, which is its limit "
			       "(--slower raises it): %s",
			       t->overdue / 1e3, note);
	t->evidence = t->said;
}

void fail(struct t *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	record(t, vtext(format, ap));
	va_end(ap);
}

bool expect(struct t *t, bool so, const char *format, ...)
{
	va_list ap;

	if (so)
		return true;
	va_start(ap, format);
	record(t, vtext(format, ap));
	va_end(ap);
	return false;
}

void not_applicable(struct t *t, const char *format, ...)
{
	va_list ap;

	if (t->verdict != PASS)
		return;
	va_start(ap, format);
	t->verdict = NOT_APPLICABLE;
	t->note = vtext(format, ap);
	va_end(ap);
}

bool at_least(const char *version, const char *least)
{
	return strcmp(version, least) >= 0; /* one digit each: order of text is order of versions */
}

bool supports(const struct t *t, const char *version)
{
	for (size_t i = 0; i < t->facts->n_versions; i++) {
		if (strcmp(t->facts->versions[i], version) == 0)
			return true;
	}
	return false;
}

bool ok(struct t *t, const char *cmd)
{
	bool net = strcmp(cmd, "GC") == 0 || strcmp(cmd, "STATUS") == 0;

	net ? run_net(t, cmd) : run(t, cmd);
	if (!expect(t, t->rc == 0, "%s must succeed", cmd))
		return false;
	if (strcmp(cmd, "ADD") != 0 && strcmp(cmd, "VERSION") != 0)
		return true;
	return expect(t, cJSON_IsObject(t->doc), "%s must print one JSON object", cmd);
}

static bool code_in(double code, const char *codes)
{
	char *list = text(",%s,", codes), *one = text(",%.0f,", code);
	bool found = strstr(list, one) != NULL;

	free(list);
	free(one);
	return found;
}

bool is_error(struct t *t, const char *codes)
{
	double code = jnum(t->doc, "code");

	if (!expect(t, t->rc > 0, "must fail with an exit status, not %s",
		    t->rc ? "by a signal" : "succeed"))
		return false;
	if (!expect(t, cJSON_IsObject(t->doc), "stdout must hold exactly one error object"))
		return false;
	if (!expect(t, code > 0 && *jstr(t->doc, "msg"), "the error must have code and msg"))
		return false;
	return !codes ||
	       expect(t, code_in(code, codes), "the code must be %s, is %.0f", codes, code);
}

bool refused(struct t *t, const char *cmd, const char *codes)
{
	bool net = strcmp(cmd, "GC") == 0 || strcmp(cmd, "STATUS") == 0;

	net ? run_net(t, cmd) : run(t, cmd);
	return is_error(t, codes);
}

bool names(struct t *t, const char *what)
{
	char *all = text("%s %s", jstr(t->doc, "msg"), jstr(t->doc, "details"));
	bool found = strcasestr(all, what) != NULL;

	free(all);
	return expect(t, found, "the error must name \"%s\"", what);
}
