/* SPDX-License-Identifier: Apache-2.0 */
/* gid_verify.c: waits for the GIDs of a pod's addresses, and describes them. */
#include "rdma/device/gid_verify.h"

#include <string.h>

bool gid_follows_address(const struct rdma_serving *s)
{
	return !*s->link.protocol || strcmp(s->link.protocol, "roce") == 0;
}

static int gid_verify_explain_missing(const struct gid_carrier *at, struct ip addr,
				      const struct gid_look *look, struct err *e)
{
	const struct rdma_serving *s = at->serving;
	char text[IP_STR_LEN];

	err_set(e, ERR_STATE, 0, "RDMA device %s port %u does not carry %s of %s as a RoCE v2 GID",
		s->link.name, s->port, ip_format(addr, text), at->ifname);
	if (look->found == GID_OTHER)
		return err_hint(e, "its GID %u is that address, of type %s and interface %s",
				look->entry.index, gid_type_name(look->entry.type),
				*look->entry.netdev ? look->entry.netdev : "(not told)");
	return err_hint(e, "its GIDs come from addresses of interfaces above its own that are up; "
			   "`railctl rdma list` shows them");
}

int gid_verify(const struct gid_carrier *at, struct ip addr, int64_t deadline_ms,
	       struct gid_entry *out, struct err *e)
{
	const struct gid_port port = { at->sysfs, at->serving->link.name, at->serving->port };
	const struct gid_want want = { gid_of_ip(addr), GID_ROCE_V2, at->ifname };
	struct gid_look look;

	if (gid_await(&port, &want, deadline_ms, &look, e))
		return -1;
	if (look.found != GID_THERE)
		return gid_verify_explain_missing(at, addr, &look, e);
	*out = look.entry;
	return 0;
}

int gid_add_json(struct json *list, const struct gid_entry *g)
{
	struct json *x = json_push_object(list);
	char gid[GID_STR_LEN], ip[IP_STR_LEN];

	return !x || json_add_int(x, "index", g->index) ||
			       json_add_str(x, "gid", gid_format(&g->gid, gid)) ||
			       json_add_str(x, "address", ip_format(gid_to_ip(&g->gid), ip)) ||
			       json_add_str(x, "type", gid_type_name(g->type))
		       ? -1
		       : 0;
}
