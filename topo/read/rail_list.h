/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail_list.h: the rails of this node: which interface of the host each number is.
 *
 * The numbers are those of `railctl topo`: from 0 on by PCI address, over the cards that are
 * nearest to a GPU. They stay as they were when the agent pinned them to slots: rail_slots.h.
 * /etc/railhead/rails.json says it in place of that: railhead-rails(8). With that file, no more
 * than the file is read.
 */
#ifndef RAILHEAD_TOPO_READ_RAIL_LIST_H
#define RAILHEAD_TOPO_READ_RAIL_LIST_H

#include "topo/read/rail_slots.h"

struct rail_entry {
	uint32_t number;
	char ifname[IFNAME_LEN]; /* of the host */
};

/* A rail of a file whose card has no interface on the host now, or is not there. */
struct rail_dead {
	uint32_t number;
	char pci[PCI_STR_LEN]; /* by the slots: where it was when the number was pinned */
};

struct rail_list {
	struct rail_entry rail[RAIL_LIST_MAX]; /* by number */
	size_t n;
	struct rail_dead dead[RAIL_LIST_MAX]; /* not in rail */
	size_t n_dead;
	const char *source; /* "rails.json", "rail-slots.json", "topology": a literal */
};

/*
 * rail_list_load - the rails of this node, from <etc_dir>/rails.json or from the machine below
 * ctx->sysfs, with the numbers of <state_dir>/rail-slots.json if that exists. A card whose
 * interface is not on the host is not a rail of the machine; if a file names it, it is in dead.
 * Errors name the file once, or are those of topo_read_sysfs(). ERR_CONFIG: there are more than
 * RAIL_LIST_MAX.
 */
int rail_list_load(const struct ctx *ctx, struct rail_list *out, struct err *e) must_check;

/*
 * rail_list_parse - the text of such a file. ERR_DECODE and ERR_CONFIG name key and value. Pure,
 * but an entry with a PCI address needs sysfs (NULL: all of them are dead).
 */
int rail_list_parse(const char *text, size_t len, const char *sysfs, struct rail_list *out,
		    struct err *e) must_check;

/* rail_list_find - the entry with that number; NULL: the node has no such rail. rail_list_find_dead
 * - the same for those without an interface. */
const struct rail_entry *rail_list_find(const struct rail_list *l, uint32_t number);
const struct rail_dead *rail_list_find_dead(const struct rail_list *l, uint32_t number);

/* rail_list_is_infiniband - its interface is of IPoIB; false also if it has gone. */
bool rail_list_is_infiniband(const struct ctx *ctx, const struct rail_entry *rail);

/*
 * rail_list_load_near - the same, and in *near the rails whose cards `railctl topo` assigns to
 * these GPUs (PCI addresses), and all dead ones. The machine is read once. ERR_CONFIG: a GPU does
 * not exist.
 */
struct rail_gpus {
	const char (*pci)[PCI_STR_LEN];
	size_t n;
};
int rail_list_load_near(const struct ctx *ctx, struct rail_gpus gpus, struct rail_list *all,
			struct rail_list *near, struct err *e) must_check;

#endif
