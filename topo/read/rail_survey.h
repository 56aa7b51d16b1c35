/* SPDX-License-Identifier: Apache-2.0 */
/* rail_survey.h: the machine of this node, and the number of each of its rails. */
#ifndef RAILHEAD_TOPO_READ_RAIL_SURVEY_H
#define RAILHEAD_TOPO_READ_RAIL_SURVEY_H

#include "topo/core/choose.h"
#include "topo/read/rail_slots.h"

struct rail_survey {
	struct topo_machine m;
	/* rail has the pinned numbers, if numbers are pinned. Each HCA in a slot of the file has
	 * its number then, also if no GPU is near, and those in other slots have none. */
	struct topo_choice choice;
	struct rail_slots slots;
	bool pinned;
	uint64_t withdrawn; /* bits of numbers that are pinned, but topo.json says or the default
			     * route shows that the card is no rail */
};

/* rail_survey_read - the machine below ctx->sysfs. A link that is down changes nothing. pins false:
 * the numbers are those of topo_choose(), whatever the file says. The caller clears *out. */
int rail_survey_read(const struct ctx *ctx, bool pins, struct rail_survey *out,
		     struct err *e) must_check;
void rail_survey_clear(struct rail_survey *s);
#define auto_rail_survey auto_clean(rail_survey_clear)

/* rail_survey_slots - the slots of a survey without pins: what a file would say. ERR_CONFIG: there
 * are more than RAIL_LIST_MAX rails. */
int rail_survey_slots(const struct ctx *ctx, const struct rail_survey *s, struct rail_slots *out,
		      struct err *e) must_check;

/*
 * rail_survey_pin - write the file if there is neither it nor a rails.json. Returns the number of
 * rails that are pinned now; 0: nothing was written. It does not write while a function of the same
 * model as a rail has no RDMA device: its driver may not be loaded yet. -1: cannot read or write.
 */
int rail_survey_pin(const struct ctx *ctx, struct err *e) must_check;
/* rail_survey_unready - the address of such a function; false: there is none. */
bool rail_survey_unready(const struct rail_survey *s, char pci[PCI_STR_LEN]);

#endif
