/* SPDX-License-Identifier: Apache-2.0 */
/* masters.c: members that bonds on demand have lost, for people and programs. */
#include <string.h>

#include "railctl/attachments/attachments.h"

void masters_show_lost(const struct out *o, const struct demand_losses *all, const char *master)
{
	char text[DEMAND_LOST_LEN];

	for (size_t i = 0; i < all->n; i++) {
		const struct demand_lost *x = &all->item[i];

		if (strcmp(x->master, master) == 0)
			out_pair(o, "Lost member", "%s of %s: %s", x->member, x->bond,
				 demand_lost_text(x, text));
	}
}

void masters_list_lost(const struct out *o, const struct demand_losses *all)
{
	char text[DEMAND_LOST_LEN];

	for (size_t i = 0; i < all->n; i++) {
		const struct demand_lost *x = &all->item[i];

		if (strcmp(x->master, x->bond) == 0)
			out_line(o, OUT_WARN, "%s has lost its member %s: %s", x->bond, x->member,
				 demand_lost_text(x, text));
	}
}

static int push(struct json *list, const struct demand_lost *x)
{
	struct json *o = json_push_object(list);
	char text[DEMAND_LOST_LEN];

	return !o || json_add_str(o, "bond", x->bond) || json_add_str(o, "member", x->member) ||
			       json_add_str(o, "why", demand_lost_name(x->why)) ||
			       (x->ifindex && json_add_int(o, "ifindex", x->ifindex)) ||
			       json_add_str(o, "remedy", demand_lost_text(x, text))
		       ? -1
		       : 0;
}

int masters_add_lost(struct json *o, const struct demand_losses *all, const char *master,
		     struct err *e)
{
	struct json *list = NULL;

	for (size_t i = 0; i < all->n; i++) {
		if (strcmp(all->item[i].master, master) != 0)
			continue;
		list = list ? list : json_add_array(o, "lostMembers");
		if (!list || push(list, &all->item[i]))
			return err_nomem(e);
	}
	return 0;
}
