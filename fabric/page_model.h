/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_model.h: a cluster as its page shows it: nodes, what they answered, and which of them are
 * outliers. Pure.
 *
 * An outlier has a wrong cable, a degraded rail, no answer, or something else that most nodes do
 * not have.
 */
#ifndef RAILHEAD_FABRIC_PAGE_MODEL_H
#define RAILHEAD_FABRIC_PAGE_MODEL_H

#include "fabric/groups.h"

#define PAGE_FINDINGS_MAX 262144
#define PAGE_NO_SHAPE     SIZE_MAX

/* Texts are borrowed; NULL: not known. */
struct page_node {
	const char *name;
	const struct fabric_node *cables; /* NULL: its agent does not say them */
	const char *label;                /* the group that its label has */
	const char *why;                  /* why it did not answer */
	const char *state, *version, *health, *gpus, *rails, *degraded; /* its answer */
	uint64_t degraded_rails; /* a bit for each number of a rail */
	bool stored;             /* the store has an object of it */
	bool twin, forgotten;
	int64_t silent; /* for so many seconds its heartbeat has not moved; -1: not known */

	/* Set by page_compare(). */
	enum finding_state worst;
	bool outlier;
	size_t shape; /* an index; PAGE_NO_SHAPE: its rails are not known */
};

/* Findings of several nodes are equal if state, code and text are. */
struct page_finding {
	enum finding_state state;
	const char *node;            /* its name, borrowed */
	char *code, *text;           /* owned; text: without the name of the node */
	const char *reason, *remedy; /* borrowed; NULL: none */
};

/* Nodes with equal rails and GPUs. */
struct page_shape {
	size_t node, n; /* the first one, an index; how many they are */
};

/* All 0: empty. */
struct page {
	struct page_node *node; /* owned; by name */
	size_t n;
	struct page_finding
		*found; /* owned; after page_compare() equal ones together, worst first */
	size_t n_found;
	struct page_shape *shape; /* owned; the most frequent first */
	size_t n_shapes;
	const char *version; /* that most nodes have; NULL: none is known */
};

/* page_clear - free all that p owns. */
void page_clear(struct page *p);
#define auto_page auto_clean(page_clear)

/* page_node - the node of that name, made if it is new; valid until the next one is made.
 * ERR_NOMEM; ERR_CONFIG: there are too many. */
int page_node(struct page *p, const char *name, struct page_node **out, struct err *e) must_check;

/* page_add_finding - one more finding of a node, whose name may begin the subject; "": of none, but
 * of a leaf. ERR_NOMEM. */
struct page_found {
	enum finding_state state;
	const char *code, *subject, *value; /* subject, value: may be NULL */
	const char *reason, *remedy;        /* borrowed, as node is; may be NULL */
};
int page_add_finding(struct page *p, const char *node, const struct page_found *f,
		     struct err *e) must_check;

/*
 * page_read - lines NAME=VALUE, as of "railctl status --fields". A line "node=NAME" begins what a
 * node says, and "why=TEXT" says why it says nothing. "group=NAME" is its label, "remedy=TEXT" what
 * to do about the finding before. Other names are ignored. The text is changed, and lives as long
 * as p. ERR_DECODE names the line; ERR_NOMEM.
 */
int page_read(struct page *p, char *text, struct err *e) must_check;

/* page_degraded - how many rails of a node are degraded, as it answered, or as its object says. */
size_t page_degraded(const struct page_node *n);

/* page_compare - when all is there: sorts the findings, and sets what follows from all nodes.
 * ERR_NOMEM. */
int page_compare(struct page *p, struct err *e) must_check;

/* page_same_finding - a and b are one finding of two nodes, or twice that of one. */
bool page_same_finding(const struct page_finding *a, const struct page_finding *b);

#endif
