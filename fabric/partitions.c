/* SPDX-License-Identifier: Apache-2.0 */
/* partitions.c: finds the section, drops the lines of the message, adds new ones. */
#include "fabric/partitions.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"
#include "lib/base/text.h"

#define BEGIN     "# railhead: begin"
#define END       "# railhead: end"
#define OWNER_LEN 1024

/* ---- lines ---- */

/* As opensm reads it: without white space and comment. Returns the length of what fits. */
static size_t bare(struct slice line, char *out, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < line.len && line.p[i] != '#' && n + 1 < size; i++) {
		if (!isspace((unsigned char)line.p[i]))
			out[n++] = (char)tolower((unsigned char)line.p[i]);
	}
	out[n] = '\0';
	return n;
}

bool partitions_are_ruled(const char *text)
{
	struct slice rest = { text, strlen(text) }, line;

	while (slice_next(&rest, '\n', &line)) {
		char words[64];

		(void)bare(line, words, sizeof(words));
		char *key = strchr(words, '=');
		if (strncmp(words, "default", 7) == 0 || (key && strncmp(key, "=0x7fff", 7) == 0) ||
		    (key && strncmp(key, "=0xffff", 7) == 0))
			return true;
	}
	return false;
}

/* ---- the owner ---- */

static void add_word(char *out, const char *word)
{
	size_t n = strlen(out);

	if (n && n + 1 < OWNER_LEN)
		out[n++] = ' ';
	if (!word || !*word)
		word = "-";
	for (; *word && n + 1 < OWNER_LEN; word++)
		out[n++] = isalnum((unsigned char)*word) || strchr("._-:@", *word) ? *word : '_';
	out[n] = '\0';
}

static void owner_of(const struct sm_message *m, char out[OWNER_LEN])
{
	out[0] = '\0';
	add_word(out, m->node);
	add_word(out, m->who.container);
	add_word(out, m->who.ifname);
}

static bool has_owner(struct slice line, const char *owner)
{
	const char *mark = memchr(line.p, '#', line.len);
	size_t len = strlen(owner);

	if (!mark)
		return false;
	mark++;
	size_t left = line.len - (size_t)(mark - line.p);
	while (left && *mark == ' ') {
		mark++;
		left--;
	}
	return left >= len && memcmp(mark, owner, len) == 0 && (left == len || mark[len] == '\r');
}

/* ---- memberships ---- */

/* "railhead=0x0001,ipoib:0x0200000000000a01=full;" */
static bool partitions_is_of(struct slice line, uint16_t pkey, struct guid guid)
{
	char words[128], head[32], member[32];

	(void)bare(line, words, sizeof(words));
	(void)snprintf(head, sizeof(head), "railhead=0x%04x", pkey_partition(pkey));
	(void)snprintf(member, sizeof(member), ":0x%016" PRIx64 "=", guid_number(guid));
	size_t len = strlen(head);
	return strncmp(words, head, len) == 0 && (words[len] == ',' || words[len] == ':') &&
	       strstr(words, member) != NULL;
}

static bool is_of_message(struct slice line, const struct sm_message *m)
{
	for (size_t i = 0; i < m->n; i++) {
		if (partitions_is_of(line, m->pkey, m->guid[i]))
			return true;
	}
	return false;
}

static void add_lines(struct text *t, const struct sm_message *m, bool ipoib)
{
	char owner[OWNER_LEN];

	owner_of(m, owner);
	for (size_t i = 0; i < m->n; i++)
		text_addf(t, "railhead=0x%04x%s : 0x%016" PRIx64 "=%s ; # %s\n",
			  pkey_partition(m->pkey), ipoib ? ",ipoib" : "", guid_number(m->guid[i]),
			  m->pkey & PKEY_FULL_MEMBER ? "full" : "limited", owner);
}

/* ---- the file ---- */

struct parts {
	struct slice before, section, after; /* section: between the lines of the marks */
	bool found;
};

static int damaged(const char *what, struct err *e)
{
	err_set(e, ERR_CONFIG, 0, "railhead's section: %s", what);
	return err_hint(e, "it must be between one line \"" BEGIN "\" and one line \"" END
			   "\" behind it");
}

static int partitions_split(const char *text, struct parts *p, struct err *e)
{
	struct slice rest = { text, strlen(text) }, line;
	const char *end = text + rest.len, *from = NULL, *to = NULL, *behind = NULL;

	*p = (struct parts){ .before = rest, .after = { end, 0 } };
	while (slice_next(&rest, '\n', &line)) {
		const char *next = line.p + line.len < end ? line.p + line.len + 1 : end;

		if (slice_begins(line, BEGIN)) {
			if (from)
				return damaged("it begins twice", e);
			p->before.len = (size_t)(line.p - text);
			from = next;
		} else if (slice_begins(line, END)) {
			if (!from || to)
				return damaged("it ends without a begin", e);
			to = line.p;
			behind = next;
		}
	}
	if (!from)
		return 0;
	if (!to)
		return damaged("it has no end", e);
	p->found = true;
	p->section = (struct slice){ from, (size_t)(to - from) };
	p->after = (struct slice){ behind, (size_t)(end - behind) };
	return 0;
}

/* The lines that stay. */
static void keep_lines(struct text *t, struct slice section, const struct sm_message *m,
		       size_t *kept)
{
	char owner[OWNER_LEN];
	struct slice line;

	owner_of(m, owner);
	while (slice_next(&section, '\n', &line)) {
		bool named = is_of_message(line, m);
		bool foreign = named && m->action == SM_REMOVE && m->who.container &&
			       !has_owner(line, owner);

		if (!line.len || (named && !foreign))
			continue;
		*kept += foreign;
		text_add_len(t, line.p, line.len);
		text_add(t, "\n");
	}
}

int partitions_edit(const char *text, const struct sm_message *m, bool ipoib,
		    struct partitions_edited *out, struct err *e)
{
	auto_text struct text lines = { .s = NULL }, t = { .s = NULL };
	struct parts p;
	size_t n = 0;

	if (partitions_split(text, &p, e))
		return -1;
	keep_lines(&lines, p.section, m, &n);
	if (m->action == SM_ADD)
		add_lines(&lines, m, ipoib);
	text_add_len(&t, p.before.p, p.before.len);
	if (lines.len) {
		if (p.before.len && p.before.p[p.before.len - 1] != '\n')
			text_add(&t, "\n");
		text_add(&t, BEGIN " (lines of pods; sm-opensm writes them, do not edit)\n");
		text_add_len(&t, lines.s, lines.len);
		text_add(&t, END "\n");
	}
	text_add_len(&t, p.after.p, p.after.len);
	char *done = lines.failed ? NULL : text_take(&t);
	if (!done)
		return err_nomem(e);
	*out = (struct partitions_edited){ done, n };
	return 0;
}
