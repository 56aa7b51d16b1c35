/* SPDX-License-Identifier: Apache-2.0 */
#include "ipam/holder.h"

#include "cni/repair.h"

enum holder holder_look(const struct ctx *ctx, const struct owner *o)
{
	const struct record_key key = { o->network, o->container, o->ifname };
	auto_record struct record r = { 0 };
	struct repair_view view;
	struct err why;

	if (record_read(ctx, &key, &r, &why))
		return why.code == ERR_NOTFOUND ? HOLDER_UNRECORDED : HOLDER_MAY_LIVE;
	if (repair_look(ctx, &r, &view, &why))
		return HOLDER_MAY_LIVE;
	/* An interface that is not seen in a living namespace may only have another name. */
	return view.state == REPAIR_NETNS_GONE || view.state == REPAIR_NETNS_REPLACED
		       ? HOLDER_GONE
		       : HOLDER_MAY_LIVE;
}
