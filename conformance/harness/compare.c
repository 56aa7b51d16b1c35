/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c: two snapshots, and what differs, in words. */
#include <stdlib.h>
#include <string.h>

#include "conformance/harness/snapshot.h"

enum { TOLD_MAX = 16, SYSCTLS_TOLD_MAX = 3, LINE_MAX_LENGTH = 400 };

struct lines {
	char *copy, **list;
	size_t n;
};

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static struct lines sorted_lines(const struct text *t)
{
	struct lines l = { .copy = strdup(t->p ? t->p : "") };
	size_t cap = 1;

	for (const char *p = l.copy; p && *p; p++)
		cap += *p == '\n';
	l.list = malloc(cap * sizeof(*l.list));
	if (!l.list || !l.copy)
		die("out of memory");
	for (char *save, *p = strtok_r(l.copy, "\n", &save); p; p = strtok_r(NULL, "\n", &save))
		l.list[l.n++] = p;
	qsort(l.list, l.n, sizeof(*l.list), by_text);
	return l;
}

static void lines_free(struct lines *l)
{
	free(l->copy);
	free(l->list);
}

/* Keep in each only what the other has not; a line that is there twice counts twice. */
static void drop_common(struct lines *a, struct lines *b)
{
	size_t i = 0, j = 0, na = 0, nb = 0;

	while (i < a->n || j < b->n) {
		int order = i == a->n ? 1 : j == b->n ? -1 : strcmp(a->list[i], b->list[j]);
		if (order < 0)
			a->list[na++] = a->list[i++];
		else if (order > 0)
			b->list[nb++] = b->list[j++];
		else {
			i++;
			j++;
		}
	}
	a->n = na;
	b->n = nb;
}

/* "WHOSE KIND NAME:" */
static size_t subject_length(const char *line)
{
	const char *end = strstr(line, ": ");

	return end ? (size_t)(end - line) + 1 : strlen(line);
}

/* The line about the same thing, which is then taken from the list; NULL: there is none. */
static const char *take_same_subject(struct lines *l, const char *line)
{
	size_t len = subject_length(line);

	for (size_t i = 0; i < l->n; i++) {
		const char *other = l->list[i];
		if (!other || subject_length(other) != len || strncmp(other, line, len) != 0)
			continue;
		l->list[i] = NULL;
		return other;
	}
	return NULL;
}

struct telling {
	struct text *diff;
	size_t told, sysctls;
};

/* A link brings its sysctls with it: those must not hide the link. */
static bool may_tell(struct telling *t, const char *line)
{
	if (strstr(line, " sysctl ") && t->sysctls++ >= SYSCTLS_TOLD_MAX)
		return false;
	return t->told++ < TOLD_MAX;
}

static void tell_one(struct telling *t, const char *what, const char *line)
{
	if (line && may_tell(t, line))
		text_add(t->diff, "%s: %.*s\n", what, LINE_MAX_LENGTH, line);
}

static void tell_changed(struct telling *t, const char *before, const char *now)
{
	if (may_tell(t, now))
		text_add(t->diff, "changed: %.*s ->%.*s\n", LINE_MAX_LENGTH, before,
			 LINE_MAX_LENGTH, now + subject_length(now));
}

bool snapshot_differs(const struct text *before, const struct text *now, struct text *diff)
{
	struct telling t = { .diff = diff };

	if (before->len == now->len && (!now->len || strcmp(before->p, now->p) == 0))
		return false;
	struct lines a = sorted_lines(before), b = sorted_lines(now);
	drop_common(&a, &b);
	bool differs = a.n || b.n;
	for (size_t i = 0; i < a.n; i++) {
		const char *same = take_same_subject(&b, a.list[i]);
		if (same) {
			tell_changed(&t, a.list[i], same);
			a.list[i] = NULL;
		}
	}
	for (size_t i = 0; i < b.n; i++)
		tell_one(&t, "left behind", b.list[i]);
	for (size_t i = 0; i < a.n; i++)
		tell_one(&t, "missing", a.list[i]);
	lines_free(&a);
	lines_free(&b);
	return differs;
}
