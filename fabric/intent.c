/* SPDX-License-Identifier: Apache-2.0 */
/* intent.c: reads the file of intended cables, and compares what the nodes hear with it. */
#include "fabric/intent.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/array.h"
#include "lib/json/long.h"

void intent_clear(struct intent *t)
{
	free(t->cable);
	*t = (struct intent){ .n = 0 };
}

static int compare_cables(const void *a, const void *b)
{
	const struct intent_cable *x = a, *y = b;
	int rc = strcmp(x->node, y->node);

	return rc ? rc : strcmp(x->interface, y->interface);
}

/* ---- the file ---- */

struct intent_line {
	const char *at, *end;
	size_t number;
	const char *what; /* "line"; "link" of JSON */
};

static int refuse_line(const struct intent_line *l, const char *why, struct err *e)
{
	return err_set(e, ERR_DECODE, 0, "%s %zu: %s: \"%.*s\"", l->what, l->number, why,
		       (int)(l->end - l->at < 64 ? l->end - l->at : 64), l->at);
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* A name without the blanks around it. */
static int take_name(const struct intent_line *l, const char *from, const char *to,
		     char out[INTENT_TEXT_MAX], struct err *e)
{
	while (from < to && is_blank(*from))
		from++;
	while (to > from && is_blank(to[-1]))
		to--;
	if (to - from >= INTENT_TEXT_MAX)
		return refuse_line(l, "a name is too long", e);
	for (const char *c = from; c < to; c++)
		if (*c < 0x20 || *c > 0x7e)
			return refuse_line(l, "a name has a character that is not printable", e);
	memcpy(out, from, (size_t)(to - from));
	out[to - from] = '\0';
	return 0;
}

static int add_cable(struct intent *t, const struct intent_cable *c, struct err *e)
{
	if (ARRAY_GROW(t->cable, t->n, INTENT_CABLES_MAX, "cables", e))
		return -1;
	t->cable[t->n++] = *c;
	return 0;
}

/* Which end is the leaf is not said. */
static int add_both_ways(struct intent *t, const struct intent_cable *c, struct err *e)
{
	struct intent_cable back = { .node = "" };

	memcpy(back.node, c->leaf, sizeof(back.node));
	memcpy(back.interface, c->port, sizeof(back.interface));
	memcpy(back.leaf, c->node, sizeof(back.leaf));
	memcpy(back.port, c->interface, sizeof(back.port));
	return add_cable(t, c, e) || add_cable(t, &back, e) ? -1 : 0;
}

static int read_row(struct intent *t, const struct intent_line *l, struct err *e)
{
	struct intent_cable c = { .node = "" };
	char *const field[] = { c.node, c.interface, c.leaf, c.port };
	const char *at = l->at;
	size_t n = 0;

	while (at && n < ARRAY_SIZE(field)) {
		const char *comma = memchr(at, ',', (size_t)(l->end - at));

		if (take_name(l, at, comma ? comma : l->end, field[n++], e))
			return -1;
		at = comma ? comma + 1 : NULL;
	}
	if (at || !*c.node || !*c.interface || !*c.leaf)
		return refuse_line(l, "not NODE,INTERFACE,LEAF,PORT", e);
	/* The head of the table. */
	return t->n == 0 && strcmp(c.node, "node") == 0 ? 0 : add_cable(t, &c, e);
}

/* The next "text" of the line, and in *at what is behind it; 1: there is none. */
static int take_quoted(const struct intent_line *l, const char **at, char out[INTENT_TEXT_MAX],
		       struct err *e)
{
	const char *from = memchr(*at, '"', (size_t)(l->end - *at)), *to;

	if (!from)
		return 1;
	from++;
	to = memchr(from, '"', (size_t)(l->end - from));
	if (!to)
		return refuse_line(l, "a quotation mark is missing", e);
	*at = to + 1;
	return take_name(l, from, to, out, e);
}

/* Attributes may have "--" in quotation marks. */
static bool is_edge(const struct intent_line *l)
{
	bool quoted = false;

	if (*l->at != '"')
		return false;
	for (const char *c = l->at; c + 1 < l->end && *c != '['; c++) {
		quoted ^= *c == '"';
		if (!quoted && c[0] == '-' && c[1] == '-')
			return true;
	}
	return false;
}

/* "a":"eth1" -- "b":"swp1" [attributes]. Other lines of the graph are no cables. */
static int read_edge(struct intent *t, const struct intent_line *l, struct err *e)
{
	struct intent_cable c = { .node = "" };
	char *const field[] = { c.node, c.interface, c.leaf, c.port };
	const char *at = l->at;

	if (!is_edge(l))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(field); i++) {
		int rc = take_quoted(l, &at, field[i], e);

		if (rc)
			return rc < 0 ? -1
				      : refuse_line(l, "not \"a\":\"eth1\" -- \"b\":\"swp1\"", e);
	}
	if (!*c.node || !*c.interface || !*c.leaf || !*c.port)
		return refuse_line(l, "a name is empty", e);
	return add_both_ways(t, &c, e);
}

/* ---- JSON ---- */

static int read_json_name(const struct json *name, size_t number, char out[INTENT_TEXT_MAX],
			  struct err *e)
{
	const char *text = json_str(name);
	const struct intent_line l = { text, text ? text + strlen(text) : NULL, number, "link" };

	if (!text || !*text)
		return err_set(e, ERR_DECODE, 0, "link %zu: an end lacks its node or its interface",
			       number);
	return take_name(&l, l.at, l.end, out, e);
}

/* A link is two ends, {"node", "interface"} each. One to the world outside is no cable: "exit". */
static int read_json_link(struct intent *t, const struct json *link, size_t number, struct err *e)
{
	struct intent_cable c = { .node = "" };
	char *const field[] = { c.node, c.interface, c.leaf, c.port };
	size_t n = 0;

	if (json_len(link) != 2)
		return err_set(e, ERR_DECODE, 0, "link %zu does not have two ends", number);
	json_each (end, link) {
		if (json_str(end))
			return 0;
		if (read_json_name(json_get(end, "node"), number, field[n++], e) ||
		    read_json_name(json_get(end, "interface"), number, field[n++], e))
			return -1;
	}
	return add_both_ways(t, &c, e);
}

/* Of NVIDIA Air: {"content": {"links": [...]}}, or what stands in content. */
static int read_json(struct intent *t, const char *text, size_t len, struct err *e)
{
	auto_json struct json *all = NULL;
	const struct json *links;
	size_t number = 0;

	if (json_parse_long(text, len, "topology", &all, e))
		return -1;
	links = json_get(json_get(all, "content"), "links");
	if (!links)
		links = json_get(all, "links");
	if (json_type(links) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "it has no list \"links\"");
	json_each (link, links)
		if (read_json_link(t, link, ++number, e))
			return -1;
	return 0;
}

/* A graph begins with its word: graph, strict graph. */
static bool is_graph(const char *text, size_t len)
{
	while (len && (is_blank(*text) || *text == '\n'))
		text++, len--;
	return (len > 5 && strncmp(text, "graph", 5) == 0) ||
	       (len > 6 && strncmp(text, "strict", 6) == 0);
}

static int check_intent(const struct intent *t, struct err *e)
{
	if (!t->n)
		return err_set(e, ERR_CONFIG, 0, "no cable is in it");
	for (size_t i = 1; i < t->n; i++)
		if (compare_cables(&t->cable[i - 1], &t->cable[i]) == 0)
			return err_set(e, ERR_CONFIG, 0, "%s of %s has two cables",
				       t->cable[i].interface, t->cable[i].node);
	return 0;
}

static int read_lines(struct intent *t, const char *text, size_t len, struct err *e)
{
	const bool graph = is_graph(text, len);
	const char *const end = text + len;
	struct intent_line l = { .at = text, .what = "line" };

	for (; l.at < end; l.at = l.end + 1) {
		l.end = memchr(l.at, '\n', (size_t)(end - l.at));
		l.end = l.end ? l.end : end;
		l.number++;
		while (l.at < l.end && is_blank(*l.at))
			l.at++;
		if (l.at == l.end || *l.at == '#')
			continue;
		if (graph ? read_edge(t, &l, e) : read_row(t, &l, e))
			return -1;
	}
	return 0;
}

int intent_read(const char *text, size_t len, struct intent *out, struct err *e)
{
	auto_intent struct intent t = { .n = 0 };
	const char *first = text;

	while (first < text + len && (is_blank(*first) || *first == '\n'))
		first++;
	if (first < text + len && *first == '{' ? read_json(&t, text, len, e)
						: read_lines(&t, text, len, e))
		return -1;
	if (t.n)
		qsort(t.cable, t.n, sizeof(*t.cable), compare_cables);
	if (check_intent(&t, e))
		return -1;
	*out = t;
	t = (struct intent){ .n = 0 };
	return 0;
}

/* ---- findings ---- */

static bool is_switch(const char *heard, const char *want)
{
	const size_t len = strlen(want);

	return strcmp(heard, want) == 0 ||
	       (!strchr(want, '.') && strncmp(heard, want, len) == 0 && heard[len] == '.');
}

static const struct fabric_port *find_interface(const struct fabric_node *n, const char *name)
{
	for (size_t i = 0; i < n->n; i++)
		if (strcmp(n->port[i].interface, name) == 0)
			return &n->port[i];
	return NULL;
}

static struct finding *intent_add(struct findings *all, const char *code, enum finding_state state,
				  const struct intent_cable *c)
{
	struct finding *f = findings_add(all, "fabric", state);

	f->code = code;
	finding_set_subject(f, "%s %s", c->node, c->interface);
	return f;
}

/* The interface of the node that has the cable of this one: both are swapped. */
static const struct intent_cable *find_other_end(const struct intent *t,
						 const struct fabric_node *n,
						 const struct intent_cable *c,
						 const struct fabric_port *x)
{
	for (const struct intent_cable *o = t->cable; o < t->cable + t->n; o++) {
		const struct fabric_port *y =
			strcmp(o->node, n->name) == 0 ? find_interface(n, o->interface) : NULL;

		if (y && y != x && y->leaf && is_switch(x->leaf_name, o->leaf) &&
		    is_switch(y->leaf_name, c->leaf) && strcmp(o->leaf, c->leaf) != 0)
			return o;
	}
	return NULL;
}

static void check_cable(const struct intent *t, const struct fabric_node *n,
			const struct intent_cable *c, struct findings *all)
{
	const struct fabric_port *x = find_interface(n, c->interface);
	const bool leaf = x && x->leaf && is_switch(x->leaf_name, c->leaf);
	const struct intent_cable *o;
	struct finding *f;

	if (!x || !x->leaf) {
		f = intent_add(all, x ? "unknown" : "missing", x ? FINDING_UNKNOWN : FINDING_FAIL,
			       c);
		finding_set_value(f, "planned %s port %s", c->leaf, *c->port ? c->port : "any");
		if (x) {
			fabric_say_unheard(f, x);
			return;
		}
		finding_set_reason(f, "the node has no rail by this interface");
		finding_set_remedy(f, "look for its card with \"railctl topo\"");
		return;
	}
	if (leaf && (!*c->port || strcmp(x->port, c->port) == 0))
		return;
	o = leaf ? NULL : find_other_end(t, n, c, x);
	/* One finding for both ends. */
	if (o && o < c)
		return;
	f = intent_add(all,
		       leaf ? "port"
		       : o  ? "crossed"
			    : "leaf",
		       leaf ? FINDING_WARN : FINDING_FAIL, c);
	finding_set_value(f, "%s port %s, planned %s port %s", x->leaf_name, x->port, c->leaf,
			  *c->port ? c->port : "any");
	if (o) {
		finding_set_reason(f, "the cables of %s and %s are crossed", c->interface,
				   o->interface);
		finding_set_remedy(f, "swap the cables of %s and %s", c->interface, o->interface);
		return;
	}
	finding_set_reason(f,
			   leaf ? "the cable is in another port" : "the rail is on another leaf");
	finding_set_remedy(f, "plug the cable of %s into %s%s%s", c->interface, c->leaf,
			   *c->port ? " port " : "", c->port);
}

/* Interfaces that the file does not name. */
static void check_unplanned(const struct intent *t, const struct fabric_node *n,
			    struct findings *all)
{
	for (size_t i = 0; i < n->n; i++) {
		struct intent_cable c = { .node = "" };
		struct finding *f;

		(void)snprintf(c.node, sizeof(c.node), "%s", n->name);
		(void)snprintf(c.interface, sizeof(c.interface), "%s", n->port[i].interface);
		if (bsearch(&c, t->cable, t->n, sizeof(c), compare_cables))
			continue;
		f = intent_add(all, "unplanned", FINDING_UNKNOWN, &c);
		finding_set_reason(f, "the file has no cable for it");
		finding_set_remedy(f, "add it to the file");
	}
}

int intent_check(const struct intent *t, const struct fabric_node *node, size_t n,
		 struct findings *out, struct err *e)
{
	for (const struct fabric_node *x = node; x < node + n; x++) {
		for (const struct intent_cable *c = t->cable; c < t->cable + t->n; c++)
			if (strcmp(c->node, x->name) == 0)
				check_cable(t, x, c, out);
		check_unplanned(t, x, out);
	}
	return findings_check(out, e);
}
