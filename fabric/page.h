/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page.h: a cluster as one HTML page without scripts, links and anything from elsewhere. Pure.
 *
 * Up to PAGE_EACH nodes have a row each, of more only the outliers. A colour never says anything
 * alone: a mark says it, too. An unknown fact is never green.
 */
#ifndef RAILHEAD_FABRIC_PAGE_H
#define RAILHEAD_FABRIC_PAGE_H

#include "fabric/page_model.h"

#define PAGE_MAX  ((size_t)2 << 20) /* bytes of the page, at most */
#define PAGE_EACH 256

struct page_pool {
	const char *name, *subnet, *state; /* state: "ok", or what it is */
	double addresses, in_blocks;       /* addresses 0: not known */
	double nodes;                      /* that have blocks */
};

/* Texts are borrowed. */
struct page_facts {
	const struct page *page; /* after page_compare() */
	const struct fabric_groups *groups;
	const uint32_t *number; /* of each group, see pin.h */
	struct page_pool *pool; /* sorted here */
	size_t n_pools;
	const char *when, *store, *node; /* the time; which store; whose agent has read it */
	const struct json *job;          /* what `rdma-probe job --json` printed; NULL: no test */
	bool asked;                      /* nodes were asked for an answer */
	size_t more;                     /* nodes whose heartbeats are not known */
};

/* page_draw - the text of the page; the caller frees it. ERR_NOMEM. */
int page_draw(const struct page_facts *facts, char **out, size_t *len, struct err *e) must_check;

/* ---- of the files of this room ---- */

extern const char page_head[]; /* up to the beginning of the body, with all styles */

#define PAGE_COLUMNS_MAX 64
struct page_draw {
	FILE *to;
	const struct page_facts *facts;
	size_t *order;                                /* owned; nodes by group and name */
	struct fabric_place column[PAGE_COLUMNS_MAX]; /* rail and member */
	size_t n_columns, lost_columns;
};

/* The cells of rails, worst first. */
enum page_cell {
	PAGE_DEGRADED,
	PAGE_WRONG,
	PAGE_MISSING,
	PAGE_SLOW,
	PAGE_SILENT,
	PAGE_FREE, /* cabled, and nothing to compare with */
	PAGE_OK,
	PAGE_NONE, /* it has no such rail, as others of its group */
	PAGE_CELLS
};
extern const struct page_mark {
	const char *class, *mark, *means;
} page_marks[PAGE_CELLS];

/* page_cell_of - of the rail of a node; port, place: NULL if it has none, or the group. */
enum page_cell page_cell_of(const struct page_node *n, const struct fabric_port *port,
			    const struct fabric_place *place);
/* page_port_at - the port of a node at a place; NULL: none. page_place_at - that of a group. */
const struct fabric_port *page_port_at(const struct page_node *n, const struct fabric_place *at);
const struct fabric_place *page_place_at(const struct page_draw *d, size_t group,
					 const struct fabric_place *at);
/* page_group_of - the group with which a node is compared, or FABRIC_NO_GROUP. */
size_t page_group_of(const struct page_node *n);
/* page_link - "400G MTU 9000"; a number that is not known is "?". Returns out. */
#define PAGE_LINK_LEN 40
const char *page_link(uint32_t mbps, uint32_t mtu, char out[PAGE_LINK_LEN]);
/* page_has_room - for a row more. */
bool page_has_room(const struct page_draw *d);

/* page_put_machines - pictures of the machines: nodes of one shape once, and outliers. */
void page_put_machines(const struct page_draw *d);

/* page_put_job - the last test of a job; nothing without one. */
void page_put_job(const struct page_draw *d);

#endif
