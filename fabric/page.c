/* SPDX-License-Identifier: Apache-2.0 */
/* page.c: writes the page. markup_put() and markup_put_short() write each text of the cluster. */
#include "fabric/page.h"

#include <stdlib.h>
#include <string.h>

#include "fabric/pin.h"
#include "lib/base/array.h"
#include "lib/cli/markup.h"

#define NAME_SHORT     63
#define COLUMN_MIN     72 /* px of a rail in the grid: a page of 1,280 px has ten */
#define COLUMNS_AROUND 340
#define COLUMNS_MAX    16                  /* of a table: more cannot be read on a sheet of A4 */
#define HEARTBEAT_OLD  120                 /* seconds: younger ones are not worth a word */
#define LIST_MAX       200                 /* rows of a table beside the grid */
#define TAIL           ((size_t)128 << 10) /* bytes for what is behind the last row */

const struct page_mark page_marks[PAGE_CELLS] = {
	[PAGE_DEGRADED] = { "bad", "D", "degraded" },
	[PAGE_WRONG] = { "bad", "\xe2\x9c\x97", "another leaf than in its group" },
	[PAGE_MISSING] = { "bad", "\xe2\x80\x93", "rail missing" },
	[PAGE_SLOW] = { "warn", "\xe2\x86\x93", "slower link, or smaller MTU" },
	[PAGE_SILENT] = { "unk", "?", "not known" },
	[PAGE_FREE] = { "free", "\xc2\xb7", "cabled, nothing to compare with" },
	[PAGE_OK] = { "ok", "\xe2\x9c\x93", "as its group" },
	[PAGE_NONE] = { "none", "", "" },
};

/* ---- small things ---- */

bool page_has_room(const struct page_draw *d)
{
	return (size_t)ftello(d->to) < PAGE_MAX - TAIL;
}

static void put_name(const struct page_draw *d, const char *text)
{
	fputs("<bdi>", d->to);
	markup_put_short(text, NAME_SHORT, d->to);
	fputs("</bdi>", d->to);
}

static void put_long(const struct page_draw *d, const char *text)
{
	fputs("<bdi>", d->to);
	markup_put_short(text, MARKUP_SHORT_MAX, d->to);
	fputs("</bdi>", d->to);
}

static void put_more(const struct page_draw *d, size_t n, const char *what)
{
	if (n)
		fprintf(d->to, "<p class=note>%zu more %s are not shown.</p>\n", n, what);
}

static const struct page_mark *state_mark(enum finding_state s)
{
	static const struct page_mark marks[] = {
		[FINDING_OK] = { "ok", "\xe2\x9c\x93", "ok" },
		[FINDING_WARN] = { "warn", "!", "warning" },
		[FINDING_FAIL] = { "bad", "\xe2\x9c\x97", "failed" },
		[FINDING_UNKNOWN] = { "unk", "?", "unknown" },
	};

	return &marks[s];
}

#define RATE_LEN 24

static const char *rate_text(uint32_t mbps, char out[RATE_LEN])
{
	(void)snprintf(out, RATE_LEN, mbps % 1000 ? "%u Mbit/s" : "%uG",
		       mbps % 1000 ? mbps : mbps / 1000);
	return mbps ? out : "?";
}

const char *page_link(uint32_t mbps, uint32_t mtu, char out[PAGE_LINK_LEN])
{
	char rate[RATE_LEN];
	int n = snprintf(out, PAGE_LINK_LEN, "%s MTU\xc2\xa0", rate_text(mbps, rate));

	(void)snprintf(out + n, PAGE_LINK_LEN - (size_t)n, mtu ? "%u" : "?", mtu);
	return out;
}

/* ---- which cell a rail has ---- */

size_t page_group_of(const struct page_node *n)
{
	if (!n->cables)
		return FABRIC_NO_GROUP;
	return n->cables->group != FABRIC_NO_GROUP ? n->cables->group : n->cables->near;
}

static bool is_at(const struct fabric_place *p, uint32_t rail, uint32_t member)
{
	return p->rail == rail && p->member == member;
}

const struct fabric_port *page_port_at(const struct page_node *n, const struct fabric_place *at)
{
	for (size_t i = 0; n->cables && i < n->cables->n; i++)
		if (is_at(at, n->cables->port[i].rail, n->cables->port[i].member))
			return &n->cables->port[i];
	return NULL;
}

const struct fabric_place *page_place_at(const struct page_draw *d, size_t group,
					 const struct fabric_place *at)
{
	const struct fabric_group *g =
		group == FABRIC_NO_GROUP ? NULL : &d->facts->groups->group[group];

	for (size_t i = 0; g && i < g->n_places; i++)
		if (is_at(at, g->place[i].rail, g->place[i].member))
			return &g->place[i];
	return NULL;
}

enum page_cell page_cell_of(const struct page_node *n, const struct fabric_port *port,
			    const struct fabric_place *place)
{
	if (!n->cables)
		return PAGE_SILENT;
	if (!port)
		return place ? PAGE_MISSING : PAGE_NONE;
	if ((port->rail < 64 && n->degraded_rails >> port->rail & 1) ||
	    (port->degraded && *port->degraded))
		return PAGE_DEGRADED;
	if (place && port->leaf && place->leaf && strcmp(port->leaf, place->leaf) != 0)
		return PAGE_WRONG;
	if (place &&
	    ((port->mbps && port->mbps < place->mbps) || (port->mtu && port->mtu < place->mtu)))
		return PAGE_SLOW;
	/* An agent that says its card may know nothing of its health. Older agents say neither. */
	if (!port->leaf || (port->hca && !port->degraded && !n->degraded))
		return PAGE_SILENT;
	return place && place->leaf ? PAGE_OK : PAGE_FREE;
}

/* ---- the grid ---- */

static void put_title(const struct page_draw *d, const struct fabric_port *x)
{
	char rate[RATE_LEN];

	fputs(" title=\"", d->to);
	markup_put_short(x->interface, NAME_SHORT, d->to);
	if (x->leaf) {
		fputs(": port ", d->to);
		markup_put_short(x->port, NAME_SHORT, d->to);
		fputs(" of ", d->to);
		markup_put_short(x->leaf_name, NAME_SHORT, d->to);
	}
	if (x->mbps)
		fprintf(d->to, ", %s", rate_text(x->mbps, rate));
	if (x->mtu)
		fprintf(d->to, ", MTU %u", x->mtu);
	if (x->hca) {
		fputs(", ", d->to);
		markup_put_short(x->hca, NAME_SHORT, d->to);
	}
	if (*x->addresses) {
		fputs(", ", d->to);
		markup_put_short(x->addresses, MARKUP_SHORT_MAX, d->to);
	}
	fputs("\"", d->to);
}

/* Beside the mark: only what the line of the group does not say. */
static void put_cell_text(const struct page_draw *d, const struct fabric_port *x,
			  enum page_cell cell)
{
	char link[PAGE_LINK_LEN];

	if (x->leaf && (cell == PAGE_WRONG || cell == PAGE_FREE)) {
		put_name(d, x->leaf_name);
		fputc(' ', d->to);
	}
	if (x->leaf)
		put_name(d, x->port);
	if (cell == PAGE_SLOW)
		fprintf(d->to, " <small>%s</small>", page_link(x->mbps, x->mtu, link));
	if (x->contested)
		fputs(" <small>two senders</small>", d->to);
}

static void put_cell(const struct page_draw *d, const struct page_node *n,
		     const struct fabric_place *at)
{
	const struct fabric_port *x = page_port_at(n, at);
	enum page_cell cell = page_cell_of(n, x, page_place_at(d, page_group_of(n), at));

	fprintf(d->to, "<td class=%s", page_marks[cell].class);
	if (x)
		put_title(d, x);
	fprintf(d->to, "><b>%s</b> ", page_marks[cell].mark);
	if (x)
		put_cell_text(d, x, cell);
	fputs("</td>", d->to);
}

/* One fact of the node itself: "before TEXT after". */
static void put_fact(const struct page_draw *d, const char *class, const char *before,
		     const char *text, const char *after)
{
	fprintf(d->to, "<span class=%s>%s", class, before);
	put_long(d, text);
	fprintf(d->to, "%s</span> ", after);
}

static bool is_not(const char *text, const char *usual)
{
	return text && strcmp(text, usual) != 0;
}

/* What the node says itself: devices, the agent, and how fresh that is. */
static void put_node_facts(const struct page_draw *d, const struct page_node *n)
{
	fputs("<td class=f>", d->to);
	if (n->gpus)
		put_fact(d, "plain", "", n->gpus, " GPUs");
	if (!n->cables && n->rails)
		put_fact(d, "plain", "", n->rails, " rails");
	if (is_not(n->degraded, "0"))
		put_fact(d, "bad", "D ", n->degraded, " degraded");
	if (n->version && is_not(n->version, d->facts->page->version))
		put_fact(d, "warn", "! version ", n->version, "");
	if (is_not(n->health, "ok"))
		put_fact(d, "bad", "\xe2\x9c\x97 agent ", n->health, "");
	if (n->twin)
		put_fact(d, "bad", "\xe2\x9c\x97 ", "two machines have this name", "");
	if (n->forgotten)
		put_fact(d, "unk", "? ", "off, as an operator says", "");
	if (n->why)
		put_fact(d, "unk", "? ", n->why, "");
	if (n->silent >= HEARTBEAT_OLD)
		fprintf(d->to, "<span class=unk>? heartbeat %ld s old</span>", (long)n->silent);
	fputs("</td>", d->to);
}

static void put_node(const struct page_draw *d, const struct page_node *n)
{
	const struct page_mark *m = state_mark(n->worst);

	fprintf(d->to, "<tr%s><th scope=row><b class=%s title=\"%s\">%s</b> ",
		n->outlier ? " class=outlier" : "", m->class, m->means, m->mark);
	put_name(d, n->name);
	fprintf(d->to, "%s</th>", n->outlier ? " <i>outlier</i>" : "");
	for (size_t i = 0; i < d->n_columns; i++)
		put_cell(d, n, &d->column[i]);
	put_node_facts(d, n);
	fputs("</tr>\n", d->to);
}

/* Nodes of one group, in the order. */
struct grid_part {
	size_t group; /* or FABRIC_NO_GROUP */
	const size_t *node;
	size_t n, outliers;
};

static const struct page_node *part_node(const struct page_draw *d, const struct grid_part *p,
					 size_t i)
{
	return &d->facts->page->node[p->node[i]];
}

/* How many nodes have which mark. */
static void put_counts(const struct page_draw *d, const struct grid_part *p,
		       const struct fabric_place *at)
{
	size_t count[PAGE_CELLS] = { 0 };

	for (size_t i = 0; i < p->n; i++) {
		const struct page_node *n = part_node(d, p, i);

		count[page_cell_of(n, page_port_at(n, at), page_place_at(d, p->group, at))]++;
	}
	for (size_t c = 0; c < PAGE_NONE; c++)
		if (count[c])
			fprintf(d->to, " <b class=%s>%s\xc2\xa0%zu</b>", page_marks[c].class,
				page_marks[c].mark, count[c]);
}

static void put_part_head(const struct page_draw *d, const struct grid_part *p, bool counts)
{
	char name[PIN_NAME_LEN], link[PAGE_LINK_LEN];

	fprintf(d->to,
		"<tr class=g><th scope=rowgroup>%s<small>%zu node%s, %zu outlier%s</small></th>",
		p->group == FABRIC_NO_GROUP ? "in no group"
					    : pin_name(d->facts->number[p->group], name),
		p->n, p->n == 1 ? "" : "s", p->outliers, p->outliers == 1 ? "" : "s");
	for (size_t i = 0; i < d->n_columns; i++) {
		const struct fabric_place *place = page_place_at(d, p->group, &d->column[i]);

		fputs("<td>", d->to);
		if (place && place->leaf)
			put_name(d, place->leaf_name);
		if (place && (place->mbps || place->mtu))
			fprintf(d->to, "<small>%s</small>",
				page_link(place->mbps, place->mtu, link));
		if (counts)
			put_counts(d, p, &d->column[i]);
		fputs("</td>", d->to);
	}
	fputs("<td></td></tr>\n", d->to);
}

/* The next nodes of one group from at on. */
static struct grid_part part_at(const struct page_draw *d, size_t at)
{
	const struct page *p = d->facts->page;
	struct grid_part part = { .group = page_group_of(&p->node[d->order[at]]),
				  .node = d->order + at };

	while (at + part.n < p->n && page_group_of(&p->node[part.node[part.n]]) == part.group)
		part.outliers += p->node[part.node[part.n++]].outlier;
	return part;
}

static void put_grid_head(const struct page_draw *d)
{
	fputs("<section><h2>Groups and nodes</h2>\n<p class=note>", d->to);
	for (size_t c = 0; c < PAGE_NONE; c++)
		fprintf(d->to, "<span><b class=%s>%s</b> %s</span> ", page_marks[c].class,
			page_marks[c].mark, page_marks[c].means);
	fputs("</p>\n", d->to);
}

static void put_table_head(const struct page_draw *d)
{
	fprintf(d->to,
		"<div class=wide><table class=\"grid%s\" style=\"min-width:%zupx\"><thead><tr><th "
		"scope=col>node</th>",
		d->n_columns > COLUMNS_MAX / 2 ? " many" : "",
		d->n_columns * COLUMN_MIN + COLUMNS_AROUND);
	for (size_t i = 0; i < d->n_columns; i++) {
		fprintf(d->to, "<th scope=col>rail %u", d->column[i].rail);
		if (d->column[i].member)
			fprintf(d->to, ", link %u", d->column[i].member + 1);
		fputs("</th>", d->to);
	}
	fputs("<th scope=col class=f>the node itself</th></tr></thead>\n", d->to);
}

static void put_table(const struct page_draw *d)
{
	const size_t n = d->facts->page->n;
	const bool each = n <= PAGE_EACH;
	size_t rows = 0, lost = 0, parts = 0;
	struct grid_part p;

	put_table_head(d);
	for (size_t at = 0; at < n; at += p.n) {
		p = part_at(d, at);
		if (++parts > LIST_MAX * 2 || !page_has_room(d)) {
			lost += p.n;
			continue;
		}
		fputs("<tbody>", d->to);
		put_part_head(d, &p, !each);
		for (size_t i = 0; i < p.n; i++) {
			if (!each && !part_node(d, &p, i)->outlier)
				continue;
			if (rows == PAGE_EACH || !page_has_room(d)) {
				lost++;
				continue;
			}
			rows++;
			put_node(d, part_node(d, &p, i));
		}
		fputs("</tbody>\n", d->to);
	}
	fputs("</table></div>\n", d->to);
	put_more(d, lost, "nodes that should have a row");
}

static void put_grid(const struct page_draw *d)
{
	const size_t n = d->facts->page->n;
	size_t first = 0;

	put_grid_head(d);
	do {
		struct page_draw part = *d;

		part.n_columns =
			d->n_columns - first < COLUMNS_MAX ? d->n_columns - first : COLUMNS_MAX;
		memcpy(part.column, d->column + first, part.n_columns * sizeof(*d->column));
		put_table(&part);
		first += COLUMNS_MAX;
	} while (first < d->n_columns);
	if (n > PAGE_EACH)
		fprintf(d->to, "<p class=note>Of %zu nodes, only the outliers have a row.</p>\n",
			n);
	put_more(d, d->lost_columns, "places of rails");
	fputs("</section>\n", d->to);
}

/* ---- findings ---- */

#define NAMES_MAX 8

/* Findings from first on that are equal. Returns how many. */
static size_t put_finding(const struct page_draw *d, size_t first)
{
	const struct page *p = d->facts->page;
	const struct page_finding *f = &p->found[first];
	const struct page_mark *m = state_mark(f->state);
	size_t n = 1;

	while (first + n < p->n_found && page_same_finding(f, &f[n]))
		n++;
	fprintf(d->to, "<tr><td class=%s><b>%s</b>\xc2\xa0%s</td><td>", m->class, m->mark,
		m->means);
	put_name(d, f->code);
	fputs("</td><td>", d->to);
	put_long(d, f->text);
	if (f->reason) {
		fputs("<small>", d->to);
		put_long(d, f->reason);
		fputs("</small>", d->to);
	}
	fputs("</td><td>", d->to);
	for (size_t i = 0; i < n && i < NAMES_MAX; i++) {
		fputs(i ? ", " : "", d->to);
		put_name(d, f[i].node);
	}
	if (n > NAMES_MAX)
		fprintf(d->to, " and %zu more", n - NAMES_MAX);
	fputs("</td><td>", d->to);
	if (f->remedy)
		put_long(d, f->remedy);
	fputs("</td></tr>\n", d->to);
	return n;
}

static void put_findings(const struct page_draw *d)
{
	const struct page *p = d->facts->page;
	size_t rows = 0, at = 0;

	fputs("<section><h2>Findings</h2>\n", d->to);
	if (!p->n_found)
		fputs("<p class=note>There are none.</p>\n", d->to);
	else
		fputs("<div class=wide><table class=findings><thead><tr><th>state<th>finding"
		      "<th>what<th>nodes<th>what to do</tr></thead><tbody>\n",
		      d->to);
	while (at < p->n_found && rows++ < LIST_MAX && page_has_room(d))
		at += put_finding(d, at);
	fputs(p->n_found ? "</tbody></table></div>\n" : "", d->to);
	put_more(d, p->n_found - at, "findings of nodes");
	fputs("</section>\n", d->to);
}

/* ---- pools, agents ---- */

static double share_of(const struct page_pool *p)
{
	return p->addresses > 0 ? p->in_blocks / p->addresses : 0;
}

/* The fullest first. */
static int compare_pools(const void *a, const void *b)
{
	const struct page_pool *x = a, *y = b;
	double s = share_of(x), t = share_of(y);

	return s != t ? (s < t) - (s > t) : strverscmp(x->name, y->name);
}

static void put_pool(const struct page_draw *d, const struct page_pool *p)
{
	const bool full = share_of(p) >= 0.9, ok = strcmp(p->state, "ok") == 0;
	char percent[8], number[2][32];

	fputs("<tr><th scope=row>", d->to);
	put_name(d, p->name);
	fputs("</th><td>", d->to);
	put_name(d, p->subnet);
	if (p->addresses > 0)
		fprintf(d->to,
			"</td><td class=%s><b>%s</b> %s "
			"<span class=bar><i style=\"width:%.0f%%\"></i>"
			"</span></td><td class=n>%s of %s</td>",
			full ? "warn" : "plain", full ? "!" : "",
			out_percent(share_of(p), percent, sizeof(percent)), share_of(p) * 100,
			out_amount(p->in_blocks, number[0], sizeof(number[0])),
			out_amount(p->addresses, number[1], sizeof(number[1])));
	else
		fputs("</td><td class=unk><b>?</b></td><td></td>", d->to);
	fprintf(d->to, "<td class=n>%.0f</td><td class=%s>", p->nodes, ok ? "ok" : "warn");
	fprintf(d->to, "<b>%s</b> ", ok ? "\xe2\x9c\x93" : "!");
	put_name(d, p->state);
	fputs("</td></tr>\n", d->to);
}

static void put_pools(const struct page_draw *d)
{
	const struct page_facts *f = d->facts;
	size_t i = 0;

	fputs("<section><h2>Pools</h2>\n", d->to);
	if (f->n_pools) {
		qsort(f->pool, f->n_pools, sizeof(*f->pool), compare_pools);
		fputs("<p class=note>In use: addresses in blocks that nodes have. Only a node "
		      "knows which of them pods have. The fullest pool is first.</p>\n"
		      "<div class=wide><table><thead><tr><th>pool<th>subnet<th>in use"
		      "<th class=n>addresses<th class=n>nodes<th>state</tr></thead><tbody>\n",
		      d->to);
		for (; i < f->n_pools && i < LIST_MAX && page_has_room(d); i++)
			put_pool(d, &f->pool[i]);
		fputs("</tbody></table></div>\n", d->to);
		put_more(d, f->n_pools - i, "pools, none of them fuller,");
	} else {
		fputs("<p class=note>The store has no shared pool.</p>\n", d->to);
	}
	fputs("</section>\n", d->to);
}

/* A text of nodes, and how many have it. */
struct tally {
	const char *text, *first; /* first: the name of a node */
	size_t n;
};
#define TALLIES_MAX 24

/* Counts the texts that text_of() returns; NULL is not counted. Returns how many there are; those
 * beyond TALLIES_MAX are counted in *lost. */
static size_t count_texts(const struct page *p, const char *(*text_of)(const struct page_node *n),
			  struct tally all[TALLIES_MAX], size_t *lost)
{
	size_t n = 0, k;

	*lost = 0;
	for (size_t i = 0; i < p->n; i++) {
		const char *text = text_of(&p->node[i]);

		if (!text)
			continue;
		for (k = 0; k < n && strcmp(all[k].text, text) != 0;)
			k++;
		if (k == TALLIES_MAX) {
			(*lost)++;
			continue;
		}
		if (k == n)
			all[n++] = (struct tally){ text, p->node[i].name, 0 };
		all[k].n++;
	}
	return n;
}

static void put_tallies(const struct page_draw *d, const char *(*text_of)(const struct page_node *),
			const char *before)
{
	struct tally all[TALLIES_MAX];
	size_t lost, n = count_texts(d->facts->page, text_of, all, &lost);

	for (size_t i = 0; i < n; i++) {
		fprintf(d->to, "<li>%zu %s%s", all[i].n, all[i].n == 1 ? "node" : "nodes", before);
		put_long(d, all[i].text);
		if (all[i].n < d->facts->page->n) {
			fputs(" <small>(", d->to);
			put_name(d, all[i].first);
			fprintf(d->to, "%s)</small>", all[i].n > 1 ? " and others" : "");
		}
		fputs("</li>\n", d->to);
	}
	if (lost)
		fprintf(d->to, "<li>%zu nodes with other texts</li>\n", lost);
}

static const char *version_of(const struct page_node *n)
{
	return n->version ? n->version : "not known";
}

static const char *why_of(const struct page_node *n)
{
	return n->why;
}

static const char *unseen_of(const struct page_node *n)
{
	return n->cables   ? NULL
	       : n->stored ? "its agent does not listen for LLDP"
			   : "the store has no object of the node, so no agent has written one";
}

static void put_agents(const struct page_draw *d)
{
	fputs("<section><h2>Agents</h2>\n<ul>\n", d->to);
	put_tallies(d, version_of, ": version ");
	fputs("</ul></section>\n", d->to);
}

/* ---- what was not looked at ---- */

static void put_unseen(const struct page_draw *d)
{
	const struct page_facts *f = d->facts;
	int64_t oldest = -1, newest = -1;
	size_t none = 0;

	for (size_t i = 0; i < f->page->n; i++) {
		int64_t s = f->page->node[i].silent;

		none += s < 0;
		oldest = s > oldest ? s : oldest;
		newest = s >= 0 && (newest < 0 || s < newest) ? s : newest;
	}
	fputs("<section><h2>What was not looked at, and how old the facts are</h2>\n<ul>\n"
	      "<li>Cables, pools and heartbeats are those of the store: ",
	      d->to);
	put_name(d, f->store);
	fputs(", read by the agent of ", d->to);
	put_name(d, f->node);
	fputs(" at ", d->to);
	put_name(d, f->when);
	fputs(". The store has no times of cables: an agent writes them when they change.</li>\n",
	      d->to);
	fputs(f->asked ? "<li>Findings, versions, GPUs and degraded rails are what each node "
			 "answered just before that.</li>\n"
		       : "<li>No node was asked: health and GPUs are not known, and rails are "
			 "degraded as their agents wrote last. <code>kubectl rail report</code> "
			 "asks all.</li>\n",
	      d->to);
	if (newest >= 0)
		fprintf(d->to,
			"<li>Heartbeats: the newest has not moved for %ld s, the oldest for %ld s, "
			"as far as this agent has looked.</li>\n",
			(long)newest, (long)oldest);
	if (none)
		fprintf(d->to, "<li>%zu of %zu nodes: no heartbeat is known.</li>\n", none,
			f->page->n);
	if (f->more)
		fprintf(d->to, "<li>%zu nodes: the agent does not list their heartbeats.</li>\n",
			f->more);
	put_tallies(d, why_of, " did not answer: ");
	put_tallies(d, unseen_of, ", whose cables are not known: ");
	if (!f->job)
		fputs("<li>Traffic between nodes: <code>kubectl rail verify JOB --json</code> "
		      "tests a "
		      "job, and --job shows its result here.</li>\n",
		      d->to);
	fputs("</ul></section>\n", d->to);
}

/* ---- the head ---- */

static void put_tile(const struct page_draw *d, const char *class, size_t n, const char *what)
{
	fprintf(d->to, "<li class=%s><b>%zu</b> %s</li>\n", n ? class : "none", n, what);
}

static void put_summary(const struct page_draw *d)
{
	const struct page *p = d->facts->page;
	size_t state[FINDING_UNKNOWN + 1] = { 0 }, rails = 0, degraded = 0, outliers = 0,
				       silent = 0;

	for (size_t i = 0; i < p->n; i++) {
		const struct page_node *n = &p->node[i];

		state[n->worst]++;
		rails += n->cables ? n->cables->n : n->rails ? strtoul(n->rails, NULL, 10) : 0;
		degraded += page_degraded(n);
		outliers += n->outlier;
		silent += n->why != NULL;
	}
	fputs("<ul class=tiles>\n", d->to);
	put_tile(d, "plain", p->n, p->n == 1 ? "node" : "nodes");
	put_tile(d, "plain", d->facts->groups->n, d->facts->groups->n == 1 ? "group" : "groups");
	put_tile(d, "plain", rails, "rails");
	put_tile(d, "bad", degraded, "D degraded");
	put_tile(d, "ok", state[FINDING_OK], "\xe2\x9c\x93 ok");
	put_tile(d, "warn", state[FINDING_WARN], "! warned");
	put_tile(d, "bad", state[FINDING_FAIL], "\xe2\x9c\x97 failed");
	put_tile(d, "unk", state[FINDING_UNKNOWN], "? unknown");
	put_tile(d, "warn", outliers, outliers == 1 ? "outlier" : "outliers");
	put_tile(d, "unk", silent, "no answer");
	fputs("</ul>\n", d->to);
}

static void put_all(const struct page_draw *d)
{
	fputs(page_head, d->to);
	fputs("<header><h1>Rails of the cluster</h1>\n<p>", d->to);
	put_name(d, d->facts->when);
	fputs(", store ", d->to);
	put_name(d, d->facts->store);
	fputs("</p></header>\n", d->to);
	put_summary(d);
	put_findings(d);
	put_grid(d);
	page_put_job(d);
	page_put_machines(d);
	put_pools(d);
	put_agents(d);
	put_unseen(d);
	fputs("</body></html>\n", d->to);
}

/* ---- columns and order ---- */

static void add_column(struct page_draw *d, const struct fabric_port *x)
{
	size_t at = d->n_columns;

	for (size_t i = 0; i < d->n_columns; i++)
		if (is_at(&d->column[i], x->rail, x->member))
			return;
	if (at == PAGE_COLUMNS_MAX) {
		d->lost_columns++;
		return;
	}
	for (; at && (d->column[at - 1].rail > x->rail ||
		      (d->column[at - 1].rail == x->rail && d->column[at - 1].member > x->member));
	     at--)
		d->column[at] = d->column[at - 1];
	d->column[at] = (struct fabric_place){ .rail = x->rail, .member = x->member };
	d->n_columns++;
}

static size_t part_of(const struct page_facts *f, const struct page_node *n)
{
	size_t group = page_group_of(n);

	return group == FABRIC_NO_GROUP ? group : f->number[group];
}

/* By the names of groups and nodes. */
static int compare_nodes(const void *a, const void *b, void *facts)
{
	const struct page_facts *f = facts;
	const struct page_node *x = &f->page->node[*(const size_t *)a];
	const struct page_node *y = &f->page->node[*(const size_t *)b];
	size_t g = part_of(f, x), h = part_of(f, y);

	return g != h ? (g > h) - (g < h) : strverscmp(x->name, y->name);
}

int page_draw(const struct page_facts *facts, char **out, size_t *len, struct err *e)
{
	const struct page *p = facts->page;
	auto_free size_t *order = calloc(p->n + 1, sizeof(*order));
	struct page_draw d = { .facts = facts, .order = order };
	char *body = NULL;

	if (!order || !(d.to = open_memstream(&body, len)))
		return err_nomem(e);
	for (size_t i = 0; i < p->n; i++) {
		order[i] = i;
		for (size_t k = 0; p->node[i].cables && k < p->node[i].cables->n; k++)
			add_column(&d, &p->node[i].cables->port[k]);
	}
	qsort_r(order, p->n, sizeof(*order), compare_nodes, (void *)(uintptr_t)facts);
	put_all(&d);
	bool lost = ferror(d.to);
	lost = fclose(d.to) || lost || !body;
	if (lost) {
		free(body);
		return err_nomem(e);
	}
	*out = body;
	return 0;
}
