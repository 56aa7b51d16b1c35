// SPDX-License-Identifier: Apache-2.0 OR GPL-2.0-only
/*
 * subnet.c: a subnet administrator that agrees to everything: multicast groups exist when somebody
 * joins, and each GUID of the subnet has a path. So interfaces get a carrier, and neighbours find
 * each other.
 */
#include <linux/jhash.h>
#include <linux/slab.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_sa.h>
#include "conformance/vm/fabric/wire.h"

#define NO_RECORDS  cpu_to_be16(0x0300)
#define UNSUPPORTED cpu_to_be16(IB_MGMT_MAD_STATUS_UNSUPPORTED_METHOD_ATTRIB)
#define EXACTLY     0x80 /* the selector of an MTU, a rate or a life time */
#define RATE        16   /* 200 Gbit/s */
#define LIFE        14
#define QKEY        0x0b1b

/* Records as they are in a datagram. */
struct path_record {
	__be64 service;
	union ib_gid dgid, sgid;
	__be16 dlid, slid;
	__be32 flow;
	u8 traffic_class, paths;
	__be16 pkey, service_level;
	u8 mtu, rate, life, preference;
	u8 reserved[6];
} __packed;

struct member_record {
	union ib_gid mgid, port_gid;
	__be32 qkey;
	__be16 mlid;
	u8 mtu, traffic_class;
	__be16 pkey;
	u8 rate, life;
	__be32 flow;
	u8 scope_state, proxy;
	u8 reserved[2];
} __packed;

static struct fab_function *by_guid(__be64 guid)
{
	struct fab_function *found = NULL;
	unsigned long flags;
	int i;

	spin_lock_irqsave(&fab_lock, flags);
	for (i = 0; i < fab_count && !found; i++)
		if (fab_functions[i].device &&
		    fab_functions[i].device->port_guid == be64_to_cpu(guid) &&
		    fab_state(&fab_functions[i]) == IB_PORT_ACTIVE)
			found = &fab_functions[i];
	spin_unlock_irqrestore(&fab_lock, flags);
	return found;
}

static __be16 path(struct fab_function *from, struct path_record *r)
{
	struct fab_function *to = by_guid(r->dgid.global.interface_id);

	if (!to)
		return NO_RECORDS;
	r->dlid = cpu_to_be16(to->lid);
	r->slid = cpu_to_be16(from->lid);
	r->flow = 0;
	r->paths = 1 | 0x80;
	if (!r->pkey)
		r->pkey = cpu_to_be16(from->pkeys[0]);
	r->service_level = 0;
	r->mtu = EXACTLY | IB_MTU_4096;
	r->rate = EXACTLY | RATE;
	r->life = EXACTLY | LIFE;
	return 0;
}

/* The group's LID follows from its GID. */
static void join(struct member_record *r)
{
	r->mlid = cpu_to_be16(0xc000 + jhash(&r->mgid, sizeof(r->mgid), 0) % 0x3ff0);
	if (!r->qkey)
		r->qkey = cpu_to_be32(QKEY);
	r->mtu = EXACTLY | IB_MTU_4096;
	r->rate = EXACTLY | RATE;
	r->life = EXACTLY | LIFE;
}

static __be16 fill(const struct fab_packet *request, struct ib_sa_mad *mad)
{
	u8 method = mad->mad_hdr.method;

	switch (be16_to_cpu(mad->mad_hdr.attr_id)) {
	case IB_SA_ATTR_CLASS_PORTINFO:
		memset(mad->data, 0, sizeof(mad->data));
		return 0;
	case IB_SA_ATTR_PATH_REC:
		return method == IB_MGMT_METHOD_GET ? path(request->from, (void *)mad->data)
						    : UNSUPPORTED;
	case IB_SA_ATTR_MC_MEMBER_REC:
		if (method != IB_SA_METHOD_DELETE)
			join((void *)mad->data);
		return 0;
	default:
		return UNSUPPORTED;
	}
}

static int refused(const struct fab_packet *request, const struct ib_sa_mad *mad)
{
	switch (be16_to_cpu(mad->mad_hdr.attr_id)) {
	case IB_SA_ATTR_PATH_REC:
		return fab_fault(request->from, FAB_SA_PATH);
	case IB_SA_ATTR_MC_MEMBER_REC:
		return mad->mad_hdr.method == IB_SA_METHOD_DELETE
			       ? 0
			       : fab_fault(request->from, FAB_SA_JOIN);
	default:
		return 0;
	}
}

struct fab_packet *fab_sa_answer(const struct fab_packet *request)
{
	struct ib_sa_mad *mad;
	struct fab_packet *a;

	if (refused(request, (const void *)request->data))
		return NULL;
	a = fab_packet_new(request->from, request->length);
	if (!a)
		return NULL;
	memcpy(a->data, request->data, request->length);
	a->src_qp = 1;
	a->dest_qp = 1;
	a->pkey = request->pkey;
	mad = (void *)a->data;
	mad->mad_hdr.status = fill(request, mad);
	mad->mad_hdr.method = mad->mad_hdr.method == IB_SA_METHOD_DELETE ? IB_SA_METHOD_DELETE_RESP
									 : IB_MGMT_METHOD_GET_RESP;
	return a;
}
