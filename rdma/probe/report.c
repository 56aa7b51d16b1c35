/* SPDX-License-Identifier: Apache-2.0 */
/* report.c: one measurement, for people and for programs. */
#include <stdio.h>

#include "lib/base/pkey.h"
#include "rdma/probe/run.h"
#include "rdma/job/stats.h"

static const char *const ways[] = { "send", "write" };

static int report_flow(struct json *obj, const char *key, struct wire_flow f)
{
	struct json *o = json_add_object(obj, key);

	return o && json_add_int(o, "bytes", (int64_t)f.bytes) == 0 &&
			       json_add_int(o, "ns", (int64_t)f.ns) == 0 &&
			       json_add_int(o, "bytesPerSecond",
					    (int64_t)(stats_per_second(f.bytes, f.ns) + 0.5)) == 0
		       ? 0
		       : -1;
}

static int json_end(struct json *obj, const char *key, const struct wire_path *p)
{
	struct json *o = json_add_object(obj, key);
	char gid[IP_STR_LEN];

	return o && json_add_str(o, "device", p->device) == 0 &&
			       json_add_int(o, "port", p->device_port) == 0 &&
			       json_add_int(o, "mtu", 128 << p->mtu) == 0 &&
			       (!p->lid || json_add_int(o, "lid", p->lid) == 0) &&
			       json_add_int(o, "gidIndex", p->gid_index) == 0 &&
			       json_add_str(o, "gid", verbs_gid_format(p->gid, gid)) == 0
		       ? 0
		       : -1;
}

static int json_latency(struct json *obj, const struct wire_result *r)
{
	struct json *o = json_add_object(obj, "latencyNs");

	return o && json_add_int(o, "samples", (int64_t)r->lat_count) == 0 &&
			       json_add_int(o, "min", (int64_t)r->lat_min) == 0 &&
			       json_add_int(o, "p50", (int64_t)r->lat_p50) == 0 &&
			       json_add_int(o, "p99", (int64_t)r->lat_p99) == 0 &&
			       json_add_int(o, "max", (int64_t)r->lat_max) == 0
		       ? 0
		       : -1;
}

static int json_flows(struct json *obj, const struct wire_result *r)
{
	for (size_t i = 0; i < WAYS; i++) {
		struct json *o = json_add_object(obj, ways[i]);
		if (!o || report_flow(o, "toPeer", r->out[i]) ||
		    report_flow(o, "fromPeer", r->in[i]))
			return -1;
	}
	return 0;
}

/* Each is absent unless given. */
static int json_partition(struct json *root, const struct run *r)
{
	const struct wire_hello *h = &r->hello;
	char pkey[PKEY_STR_LEN];

	if (h->pkey && json_add_str(root, "pkey", pkey_format(h->pkey, pkey)))
		return -1;
	if (r->tc >= 0 &&
	    (json_add_int(root, "trafficClass", r->tc) || json_add_int(root, "dscp", r->tc / 4)))
		return -1;
	return h->sl ? json_add_int(root, "sl", h->sl) : 0;
}

static int report_as_json(const struct out *o, const struct run *r, const char *peer, struct err *e)
{
	auto_json struct json *root = json_new_object();

	if (!root || json_add_str(root, "peer", peer) ||
	    json_add_str(root, "connection", r->hello.cm ? "rdma-cm" : "verbs") ||
	    json_end(root, "local", &r->own) || json_end(root, "remote", &r->peer) ||
	    json_add_bool(root, "oneCard", run_is_local(r)) || json_partition(root, r) ||
	    json_add_int(root, "pathMtu", r->mtu) || json_add_int(root, "size", r->hello.size) ||
	    json_add_int(root, "iterations", r->hello.iterations) ||
	    json_latency(root, &r->result) || json_flows(root, &r->result) ||
	    json_add_int(root, "checkedBytes", (int64_t)r->result.checked) ||
	    json_add_int(root, "checkedMessages", (int64_t)r->result.messages))
		return err_nomem(e);
	return out_json(o, root, e);
}

static void text_end(const struct out *o, const char *name, const struct wire_path *p)
{
	char gid[IP_STR_LEN], lid[16] = "";

	if (p->lid)
		(void)snprintf(lid, sizeof(lid), "LID %u, ", p->lid);
	out_pair(o, name, "%s port %u, %sGID %u %s", p->device, p->device_port, lid, p->gid_index,
		 verbs_gid_format(p->gid, gid));
}

static void text_result(const struct out *o, const struct wire_result *r)
{
	char min[STATS_TEXT_LEN], p50[STATS_TEXT_LEN], p99[STATS_TEXT_LEN], max[STATS_TEXT_LEN];
	char to[STATS_TEXT_LEN], from[STATS_TEXT_LEN];

	out_pair(o, "latency", "p50 %s, p99 %s, max %s, min %s, half of %llu round trips",
		 stats_time(r->lat_p50, p50), stats_time(r->lat_p99, p99),
		 stats_time(r->lat_max, max), stats_time(r->lat_min, min),
		 (unsigned long long)r->lat_count);
	for (size_t i = 0; i < WAYS; i++)
		out_pair(o, ways[i], "to the peer %s, from it %s",
			 stats_rate(stats_per_second(r->out[i].bytes, r->out[i].ns), to),
			 stats_rate(stats_per_second(r->in[i].bytes, r->in[i].ns), from));
	out_pair(o, "checked", "%llu bytes in %llu messages: every byte is right",
		 (unsigned long long)r->checked, (unsigned long long)r->messages);
}

/* What was asked for: packets are not seen, and a driver may set another class. */
static void text_class(const struct out *o, const struct run *r)
{
	/* InfiniBand has LIDs, and its class says nothing. */
	if (r->own.lid)
		return;
	if (r->tc >= 0)
		out_pair(o, "class", "%d (%s): DSCP %d, unless the driver sets another class",
			 r->tc, r->hello.has_tc ? "--tc, both ends" : "NCCL_IB_TC, this end",
			 r->tc / 4);
	else
		out_pair(o, "class", "%s",
			 r->hello.cm ? "none asked for: the default of RDMA CM on this host, or of "
				       "the driver"
				     : "none asked for: DSCP 0, unless the driver sets a class");
}

int report_run(const struct out *o, const struct run *r, const struct peer *peer, struct err *e)
{
	char text[PEER_TEXT_LEN], size[STATS_TEXT_LEN], pkey[PKEY_STR_LEN];

	peer_format(peer, text);
	if (o->json)
		return report_as_json(o, r, text, e);
	out_pair(o, "peer", "%s, %s, path MTU %u", text,
		 r->hello.cm ? "connected by RDMA CM" : "connected without RDMA CM", r->mtu);
	text_end(o, "local", &r->own);
	text_end(o, "remote", &r->peer);
	if (r->hello.pkey || r->hello.sl)
		out_pair(o, "partition", "%s, service level %u",
			 r->hello.pkey ? pkey_format(r->hello.pkey, pkey) : "the first",
			 r->hello.sl);
	text_class(o, r);
	if (run_is_local(r))
		out_line(o, OUT_WARN, "both ends are on one card: the data passed no network");
	if (r->own.mtu != r->peer.mtu)
		out_line(o, OUT_WARN, "the ports have different MTUs: %u here, %u there",
			 128u << r->own.mtu, 128u << r->peer.mtu);
	out_pair(o, "messages", "%u of %s each way, by send and by RDMA write", r->hello.iterations,
		 stats_size(r->hello.size, size));
	text_result(o, &r->result);
	return 0;
}
