/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rail_slots.h: to which slot of this node each number of a rail is pinned.
 *
 * A slot is the way from a root complex to the first function of a card: "_SB_.PC01/01.0/00.0/00.0"
 * is the name of the root complex in ACPI, and device and function of each bridge and of the card.
 * It has no number of a bus, because these change when a card comes or goes. Without
 * ACPI the root complex has the name of its folder, "pci0000:15".
 *
 * The file is <state_dir>/rail-slots.json, so that the agent, the programs beside it and the
 * plugins read the same one: {"version": 1, "slots": [{"rail": 0, "slot": "...", "pci":
 * "0000:18:00.0"}]}. pci is where the card was when the number was pinned, for people.
 */
#ifndef RAILHEAD_TOPO_READ_RAIL_SLOTS_H
#define RAILHEAD_TOPO_READ_RAIL_SLOTS_H

#include "lib/base/ctx.h"
#include "topo/core/machine.h"

#define RAIL_LIST_FILE  "rails.json" /* of the operator: rail_list.h */
#define RAIL_LIST_MAX   32
#define RAIL_NUMBER_MAX 63

#define RAIL_SLOTS_FILE "rail-slots.json"
#define RAIL_SLOT_LEN   256

struct rail_slot {
	uint32_t number;
	char path[RAIL_SLOT_LEN];
	char pci[PCI_STR_LEN];
};

struct rail_slots {
	struct rail_slot slot[RAIL_LIST_MAX];
	size_t n;
};

/*
 * rail_slots_read - the file. 1: there is none, or this user may not read it: numbers are not
 * pinned, as far as is known. ERR_DECODE, ERR_CONFIG: it is damaged; ERR_FORBIDDEN: others than
 * root may write it. The error has the path and what to do.
 */
int rail_slots_read(const struct ctx *ctx, struct rail_slots *out, struct err *e) must_check;
/* rail_slots_write - make or replace the file. */
int rail_slots_write(const struct ctx *ctx, const struct rail_slots *s, struct err *e) must_check;

/* rail_slots_path - the slot of a function. */
int rail_slots_path(const struct ctx *ctx, const struct topo_machine *m, uint32_t pci,
		    char out[RAIL_SLOT_LEN], struct err *e) must_check;
/* rail_slots_numbers - number[i] for each HCA: that of its card; TOPO_NONE: no slot of the file has
 * it. */
int rail_slots_numbers(const struct ctx *ctx, const struct rail_slots *s,
		       const struct topo_machine *m, uint32_t *number, struct err *e) must_check;

#endif
