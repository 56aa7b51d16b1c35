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
	return ARRAY_PUSH(t->cable, t->n, INTENT_CABLES_MAX, "cables", *c, e);
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
	char *const field[][2] = { { c.node, c.interface }, { c.leaf, c.port } };
	size_t n = 0;

	if (json_len(link) != 2)
		return err_set(e, ERR_DECODE, 0, "link %zu does not have two ends", number);
	json_each (end, link) {
		if (json_str(end) || n == ARRAY_SIZE(field))
			return 0;
		if (read_json_name(json_get(end, "node"), number, field[n][0], e) ||
		    read_json_name(json_get(end, "interface"), number, field[n][1], e))
			return -1;
		n++;
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

/* ---- leaves that were renamed ---- */

/* A planned leaf whose cables are on one that the file does not name. */
struct intent_renamed {
	const char *planned, *system; /* borrowed */
	bool ports;                   /* its ports are those of the file */
};

/* A cable of the file, and the port that its interface hears. */
struct intent_heard {
	const struct intent_cable *cable;
	const struct fabric_port *port;
};

struct intent_checked {
	const struct intent *t;
	struct intent_heard *heard; /* owned; by leaf of the file, and then by name */
	size_t n_heard;
	struct intent_renamed *renamed; /* owned */
	size_t n_renamed;
	struct findings *out;
};

static void intent_checked_clear(struct intent_checked *k)
{
	free(k->heard);
	free(k->renamed);
}

static const struct intent_renamed *find_renamed(const struct intent_checked *k, const char *leaf)
{
	for (size_t i = 0; i < k->n_renamed; i++)
		if (strcmp(k->renamed[i].planned, leaf) == 0)
			return &k->renamed[i];
	return NULL;
}

/* The cable is on the leaf of the file, whatever its name is now. */
static bool is_on(const struct intent_checked *k, const struct fabric_port *x, const char *leaf)
{
	const struct intent_renamed *r = find_renamed(k, leaf);

	return is_switch(x->system, r ? r->system : leaf);
}

static bool is_same_port(const struct intent_heard *h)
{
	return !*h->cable->port || strcmp(h->port->port, h->cable->port) == 0;
}

static bool is_planned(const struct intent *t, const char *system)
{
	for (size_t i = 0; i < t->n; i++)
		if (is_switch(system, t->cable[i].leaf))
			return true;
	return false;
}

static int compare_heard(const void *a, const void *b)
{
	const struct intent_heard *x = a, *y = b;
	int rc = strcmp(x->cable->leaf, y->cable->leaf);

	return rc ? rc : strcmp(x->port->system, y->port->system);
}

/* The cables of the file that a node has. */
static size_t cables_of(const struct intent *t, const char *node, const struct intent_cable **first)
{
	const size_t from = ARRAY_PLACE(i, t->n, strcmp(t->cable[i].node, node) < 0);
	size_t n = 0;

	*first = t->n ? t->cable + from : NULL; /* NULL + 0 is undefined */
	while (from + n < t->n && strcmp(t->cable[from + n].node, node) == 0)
		n++;
	return n;
}

/* The cables of one leaf. If they moved together, a single finding says so. */
static int check_planned_leaf(struct intent_checked *k, const struct intent_heard *h, size_t n,
			      struct err *e)
{
	const struct intent_heard *best = h;
	size_t most = 0, run = 0, same = 0;
	struct finding *f;

	for (size_t i = 0; i < n; i++) {
		run = i && compare_heard(&h[i - 1], &h[i]) == 0 ? run + 1 : 1;
		if (run > most) {
			most = run;
			best = &h[i + 1 - run];
		}
	}
	if (most < FABRIC_GROUP_MIN || most * 100 < n * FABRIC_ALIKE ||
	    is_planned(k->t, best->port->system))
		return 0;
	if (ARRAY_GROW(k->renamed, k->n_renamed, INTENT_CABLES_MAX, "leaves", e))
		return -1;
	for (size_t i = 0; i < most; i++)
		same += is_same_port(&best[i]);
	k->renamed[k->n_renamed++] = (struct intent_renamed){ h->cable->leaf, best->port->system,
							      same * 100 >= most * FABRIC_ALIKE };
	f = findings_add(k->out, "fabric", FINDING_WARN);
	f->code = "renamed";
	finding_set_subject(f, "leaf %s", h->cable->leaf);
	finding_set_value(f, "%zu of %zu cables are on %s", most, n, best->port->leaf_name);
	finding_set_reason(f, "its cables moved together: it was renamed or replaced");
	finding_set_remedy(f, "write %s in place of %s into the file", best->port->system,
			   h->cable->leaf);
	return 0;
}

static int find_all_renamed(struct intent_checked *k, const struct fabric_node *node, size_t n,
			    struct err *e)
{
	k->heard = calloc(k->t->n + 1, sizeof(*k->heard));
	if (!k->heard)
		return err_nomem(e);
	for (const struct fabric_node *x = node; x < node + n; x++) {
		const struct intent_cable *c;

		for (size_t left = cables_of(k->t, x->name, &c); left; left--, c++) {
			const struct fabric_port *p = find_interface(x, c->interface);

			/* A node that the agent names twice has no further cables. */
			if (p && p->leaf && k->n_heard < k->t->n)
				k->heard[k->n_heard++] = (struct intent_heard){ c, p };
		}
	}
	if (k->n_heard)
		qsort(k->heard, k->n_heard, sizeof(*k->heard), compare_heard);
	for (size_t i = 0, end; i < k->n_heard; i = end) {
		for (end = i + 1; end < k->n_heard &&
				  strcmp(k->heard[i].cable->leaf, k->heard[end].cable->leaf) == 0;)
			end++;
		if (check_planned_leaf(k, &k->heard[i], end - i, e))
			return -1;
	}
	return 0;
}

/* ---- cables ---- */

/* The interface of the node that has the cable of this one: both are swapped. */
static const struct intent_cable *find_other_end(const struct intent_checked *k,
						 const struct fabric_node *n,
						 const struct intent_cable *c,
						 const struct fabric_port *x)
{
	const struct intent_cable *o;

	for (size_t left = cables_of(k->t, n->name, &o); left; left--, o++) {
		const struct fabric_port *y = find_interface(n, o->interface);

		if (y && y != x && y->leaf && is_on(k, x, o->leaf) && is_on(k, y, c->leaf) &&
		    strcmp(o->leaf, c->leaf) != 0)
			return o;
	}
	return NULL;
}

static void check_cable(const struct intent_checked *k, const struct fabric_node *n,
			const struct intent_cable *c)
{
	const struct fabric_port *x = find_interface(n, c->interface);
	const struct intent_renamed *r = find_renamed(k, c->leaf);
	const bool leaf = x && x->leaf && is_on(k, x, c->leaf);
	struct findings *all = k->out;
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
	if (leaf && ((r && !r->ports) || is_same_port(&(struct intent_heard){ c, x })))
		return;
	o = leaf ? NULL : find_other_end(k, n, c, x);
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
	auto_clean(intent_checked_clear) struct intent_checked k = { .t = t, .out = out };

	if (find_all_renamed(&k, node, n, e))
		return -1;
	for (const struct fabric_node *x = node; x < node + n; x++) {
		const struct intent_cable *c;

		for (size_t left = cables_of(t, x->name, &c); left; left--, c++)
			check_cable(&k, x, c);
		check_unplanned(t, x, out);
	}
	return findings_check(out, e);
}
