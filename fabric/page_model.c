/* SPDX-License-Identifier: Apache-2.0 */
/* page_model.c: which nodes are alike, and which are outliers. */
#include "fabric/page_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/array.h"

void page_clear(struct page *p)
{
	for (size_t i = 0; i < p->n_found; i++) {
		free(p->found[i].code);
		free(p->found[i].text);
	}
	free(p->found);
	free(p->node);
	free(p->shape);
	*p = (struct page){ .n = 0 };
}

/* The first node whose name is not before this one. */
static size_t page_place(const struct page *p, const char *name)
{
	return ARRAY_PLACE(i, p->n, strcmp(p->node[i].name, name) < 0);
}

int page_node(struct page *p, const char *name, struct page_node **out, struct err *e)
{
	size_t i = page_place(p, name);

	if (i == p->n || strcmp(p->node[i].name, name) != 0) {
		if (ARRAY_GROW(p->node, p->n, FABRIC_NODES_MAX, "nodes", e))
			return -1;
		memmove(p->node + i + 1, p->node + i, (p->n - i) * sizeof(*p->node));
		p->n++;
		p->node[i] = (struct page_node){ .name = name, .silent = -1 };
	}
	*out = &p->node[i];
	return 0;
}

/* ---- findings ---- */

/* The subject without the name of the node before it. */
static const char *behind_name(const char *subject, const char *node)
{
	size_t len = strlen(node);

	if (!subject || strncmp(subject, node, len) != 0 || !strchr(" :", subject[len]))
		return subject ? subject : "";
	return subject + len + strspn(subject + len, " :");
}

int page_add_finding(struct page *p, const char *node, const struct page_found *f, struct err *e)
{
	const char *subject = behind_name(f->subject, node), *value = f->value ? f->value : "";
	struct page_finding *to;

	if (ARRAY_GROW(p->found, p->n_found, PAGE_FINDINGS_MAX, "findings", e))
		return -1;
	to = &p->found[p->n_found];
	*to = (struct page_finding){ .state = f->state,
				     .node = node,
				     .reason = f->reason,
				     .remedy = f->remedy,
				     .code = strdup(f->code) };
	if (asprintf(&to->text, "%s%s%s", subject, *subject && *value ? ": " : "", value) < 0)
		to->text = NULL;
	p->n_found++;
	return to->code && to->text ? 0 : err_nomem(e);
}

/* The worst first. */
static int compare_states(enum finding_state a, enum finding_state b)
{
	if (a == b)
		return 0;
	return finding_worse(a, b) == a ? -1 : 1;
}

static int compare_kinds(const struct page_finding *x, const struct page_finding *y)
{
	int rc = compare_states(x->state, y->state);

	rc = rc ? rc : strcmp(x->code, y->code);
	return rc ? rc : strcmp(x->text, y->text);
}

/* One with a reason is before the same one without. */
static int compare_findings(const void *a, const void *b)
{
	const struct page_finding *x = a, *y = b;
	int rc = compare_kinds(x, y);

	rc = rc ? rc : strverscmp(x->node, y->node);
	return rc ? rc : (x->reason == NULL) - (y->reason == NULL);
}

bool page_same_finding(const struct page_finding *a, const struct page_finding *b)
{
	return compare_kinds(a, b) == 0;
}

/* The cluster and the node itself may both have it. */
static void drop_twice(struct page *p)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n_found; i++) {
		struct page_finding *f = &p->found[i], *last = kept ? &p->found[kept - 1] : NULL;

		if (!last || !page_same_finding(last, f) || strcmp(last->node, f->node) != 0) {
			p->found[kept++] = *f;
			continue;
		}
		free(f->code);
		free(f->text);
	}
	p->n_found = kept;
}

/* A node with a finding that most nodes do not have is an outlier. */
static void mark_findings(struct page *p)
{
	size_t first = 0;

	for (size_t i = 0; i < p->n_found; i++) {
		const bool of_node = *p->found[i].node;
		struct page_node *n = &p->node[page_place(p, p->found[i].node)];
		size_t end = i + 1;

		if (of_node)
			n->worst = finding_worse(n->worst, p->found[i].state);
		if (end < p->n_found && page_same_finding(&p->found[i], &p->found[end]))
			continue;
		for (size_t k = first; of_node && k < end && (end - first) * 2 <= p->n; k++)
			p->node[page_place(p, p->found[k].node)].outlier = true;
		first = end;
	}
}

/* ---- shapes and versions ---- */

static int compare_texts(const char *a, const char *b)
{
	return strcmp(a ? a : "", b ? b : "");
}

static int compare_ports(const struct fabric_port *x, const struct fabric_port *y)
{
	int rc = (x->rail > y->rail) - (x->rail < y->rail);

	rc = rc ? rc : (x->mbps > y->mbps) - (x->mbps < y->mbps);
	rc = rc ? rc : (x->mtu > y->mtu) - (x->mtu < y->mtu);
	return rc ? rc : strcmp(x->interface, y->interface);
}

static int compare_shapes(const struct page_node *x, const struct page_node *y)
{
	size_t n = x->cables ? x->cables->n : 0, m = y->cables ? y->cables->n : 0;
	int rc = (n > m) - (n < m);

	for (size_t i = 0; i < n && !rc; i++)
		rc = compare_ports(&x->cables->port[i], &y->cables->port[i]);
	rc = rc ? rc : compare_texts(x->gpus, y->gpus);
	return rc ? rc : compare_texts(x->rails, y->rails);
}

/* Sorts indices; the nodes are the argument. */
static int compare_by_shape(const void *a, const void *b, void *nodes)
{
	const struct page_node *node = nodes;
	size_t i = *(const size_t *)a, k = *(const size_t *)b;
	int rc = compare_shapes(&node[i], &node[k]);

	return rc ? rc : strverscmp(node[i].name, node[k].name);
}

static int compare_counts(const void *a, const void *b)
{
	const struct page_shape *x = a, *y = b;

	return x->n != y->n ? (x->n < y->n) - (x->n > y->n)
			    : (x->node > y->node) - (x->node < y->node);
}

static int find_shapes(struct page *p, struct err *e)
{
	auto_free size_t *order = calloc(p->n + 1, sizeof(*order));
	size_t n = 0;

	p->shape = calloc(p->n + 1, sizeof(*p->shape));
	if (!order || !p->shape)
		return err_nomem(e);
	for (size_t i = 0; i < p->n; i++) {
		p->node[i].shape = PAGE_NO_SHAPE;
		/* A node that did not answer has not said its GPUs. */
		if (!p->node[i].why &&
		    ((p->node[i].cables && p->node[i].cables->n) || p->node[i].rails))
			order[n++] = i;
	}
	qsort_r(order, n, sizeof(*order), compare_by_shape, p->node);
	for (size_t i = 0; i < n; i++) {
		if (!i || compare_shapes(&p->node[order[i - 1]], &p->node[order[i]]) != 0)
			p->shape[p->n_shapes++].node = order[i];
		p->shape[p->n_shapes - 1].n++;
	}
	qsort(p->shape, p->n_shapes, sizeof(*p->shape), compare_counts);
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < p->n_shapes && p->node[order[i]].shape == PAGE_NO_SHAPE; k++)
			if (compare_shapes(&p->node[p->shape[k].node], &p->node[order[i]]) == 0)
				p->node[order[i]].shape = k;
	return 0;
}

static int compare_versions(const void *a, const void *b)
{
	return compare_texts(*(const char *const *)a, *(const char *const *)b);
}

/* The most frequent one. */
static int find_version(struct page *p, struct err *e)
{
	auto_free const char **text = calloc(p->n + 1, sizeof(char *));
	size_t n = 0, run = 0, most = 0;

	if (!text)
		return err_nomem(e);
	for (size_t i = 0; i < p->n; i++)
		if (p->node[i].version)
			text[n++] = p->node[i].version;
	qsort(text, n, sizeof(*text), compare_versions);
	for (size_t i = 0; i < n; i++) {
		run = i && strcmp(text[i - 1], text[i]) == 0 ? run + 1 : 1;
		if (run > most) {
			most = run;
			p->version = text[i];
		}
	}
	return 0;
}

size_t page_degraded(const struct page_node *n)
{
	const size_t said = n->degraded ? strtoul(n->degraded, NULL, 10) : 0;
	size_t stored = 0;

	for (size_t i = 0; n->cables && i < n->cables->n; i++)
		stored += n->cables->port[i].degraded && *n->cables->port[i].degraded;
	return said > stored ? said : stored;
}

int page_compare(struct page *p, struct err *e)
{
	if (p->n_found)
		qsort(p->found, p->n_found, sizeof(*p->found), compare_findings);
	drop_twice(p);
	if (find_shapes(p, e) || find_version(p, e))
		return -1;
	for (size_t i = 0; i < p->n; i++) {
		struct page_node *n = &p->node[i];

		n->worst = !n->state                       ? FINDING_UNKNOWN
			   : strcmp(n->state, "fail") == 0 ? FINDING_FAIL
			   : strcmp(n->state, "warn") == 0 ? FINDING_WARN
			   : strcmp(n->state, "ok") == 0   ? FINDING_OK
							   : FINDING_UNKNOWN;
		n->outlier = n->why || n->twin || n->forgotten || page_degraded(n) ||
			     (n->version && strcmp(n->version, p->version) != 0) ||
			     (n->shape && n->shape != PAGE_NO_SHAPE);
	}
	mark_findings(p);
	return 0;
}

/* ---- the answers of nodes ---- */

static enum finding_state state_of(const char *word)
{
	for (int s = FINDING_OK; s < FINDING_UNKNOWN; s++)
		if (strcmp(finding_state_name((enum finding_state)s), word) == 0)
			return (enum finding_state)s;
	return FINDING_UNKNOWN;
}

/* "fail crossed n4 rail 0 (rail0): leaf-b port swp4": cuts it at its first two spaces. */
static int read_finding(struct page *p, const char *node, char *text, struct err *e)
{
	char *code = strchr(text, ' '), *rest = code ? strchr(code + 1, ' ') : NULL;

	if (!rest)
		return err_set(e, ERR_DECODE, 0, "not STATE CODE TEXT: \"%.64s\"", text);
	*code = *rest = '\0';
	return page_add_finding(p, node,
				&(struct page_found){ .state = state_of(text),
						      .code = code + 1,
						      .subject = rest + 1 },
				e);
}

static uint64_t read_rails(const char *text)
{
	uint64_t rails = 0;

	for (unsigned long n; *text; text += *text == ' ') {
		char *end;

		n = strtoul(text, &end, 10);
		if (end == text)
			break;
		rails |= n < 64 ? UINT64_C(1) << n : 0;
		text = end;
	}
	return rails;
}

static int read_field(struct page *p, struct page_node *n, char *name, char *value, struct err *e)
{
	const struct {
		const char *name;
		const char **to;
	} texts[] = { { "group", &n->label },   { "why", &n->why },
		      { "state", &n->state },   { "version", &n->version },
		      { "health", &n->health }, { "gpus", &n->gpus },
		      { "rails", &n->rails },   { "degraded", &n->degraded } };

	struct page_finding *last = p->n_found ? &p->found[p->n_found - 1] : NULL;

	/* "-": not known */
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (strcmp(texts[i].name, name) == 0)
			*texts[i].to = strcmp(value, "-") == 0 || !*value ? NULL : value;
	if (strcmp(name, "degraded-rails") == 0)
		n->degraded_rails = read_rails(value);
	/* A node speaks for itself only. */
	if (strcmp(name, "remedy") == 0 && last && strcmp(last->node, n->name) == 0)
		last->remedy = value;
	return strcmp(name, "finding") == 0 ? read_finding(p, n->name, value, e) : 0;
}

int page_read(struct page *p, char *text, struct err *e)
{
	struct page_node *n = NULL;
	size_t number = 0;

	for (char *next; text && *text; text = next) {
		char *end = strchrnul(text, '\n'), *value;

		next = *end ? end + 1 : end;
		*end = '\0';
		number++;
		value = strchr(text, '=');
		if (value)
			*value++ = '\0';
		if (!value ? err_set(e, ERR_DECODE, 0, "not NAME=VALUE: \"%.64s\"", text)
		    : strcmp(text, "node") == 0 ? page_node(p, value, &n, e)
		    : n                         ? read_field(p, n, text, value, e)
						: err_set(e, ERR_DECODE, 0, "it is not of a node"))
			return err_wrap(e, "line %zu of the answers", number);
	}
	return 0;
}
