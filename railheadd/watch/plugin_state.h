/* SPDX-License-Identifier: Apache-2.0 */
/* plugin_state.h: what became of the programs that railhead-install put into a CNI folder. Pure. */
#ifndef RAILHEAD_RAILHEADD_WATCH_PLUGIN_STATE_H
#define RAILHEAD_RAILHEADD_WATCH_PLUGIN_STATE_H

#include "install/plan.h"
#include "lib/json/json.h"

enum plugin_state {
	PLUGIN_INTACT,
	PLUGIN_OVERWRITTEN, /* the name has a file of another project */
	PLUGIN_MISSING,
	PLUGIN_OTHER_BUILD, /* a program of railhead which that install did not write */
};
#define PLUGIN_STATES 4

/* A program of the receipt. */
struct plugin_row {
	struct receipt_program is;
	enum plugin_state state;
};

/* Zeroed: nothing is known. */
struct plugin_table {
	size_t n;
	struct plugin_row row[RECEIPT_PROGRAMS];
};

/* plugin_state_of - seen is what folder_look() found under the name of the program. */
enum plugin_state plugin_state_of(const struct receipt_program *p, const struct plan_item *seen);

/* plugin_is_broken - a runtime that starts it would not start railhead. */
bool plugin_is_broken(enum plugin_state s);

/* plugin_row_of - the row of that program with that digest, or NULL. */
const struct plugin_row *plugin_row_of(const struct plugin_table *t,
				       const struct receipt_program *p);

/*
 * plugin_is_news - is the state of this program one that people do not know yet? A program that
 * before does not have counts as intact.
 */
bool plugin_is_news(const struct plugin_table *before, const struct plugin_row *now);

/* plugin_table_add_status - add the number of intact ones and the names of the others to obj. */
int plugin_table_add_status(const struct plugin_table *t, struct json *obj) must_check;

#endif
