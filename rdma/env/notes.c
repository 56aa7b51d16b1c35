/* SPDX-License-Identifier: Apache-2.0 */
/*
 * notes.c: variables that operators set, and that the node does not decide.
 *
 * Defaults: NCCL 2.30.7, src/transport/net_ib/connect.cc, common.cc, gin.cc; older versions may
 * have others. NVSHMEM's documentation of its environment. UCX's README of 1.19, and pull requests
 * 11000 and 11019 (default routes). The wait of a timeout is 4.096 us * 2^N (InfiniBand
 * specification, local ACK timeout).
 */
#include "rdma/env/priv.h"

static const struct {
	const char *name, *text;
	enum lib_rule rule; /* that it exists; LIB_RULES: in each version */
} notes[] = {
	{ "NCCL_IB_FIFO_TC",
	  "of newer versions: the class of control messages, which is that of NCCL_IB_TC without "
	  "it",
	  LIB_RULES },
	{ "NCCL_GIN_IB_TC", "the class of GIN is that of NCCL_IB_TC without it", NCCL_HAS_GIN_TC },
	{ "NCCL_IB_QPS_PER_CONNECTION",
	  "1 in 2.30; more spread a connection over the paths of the fabric and the ports of a "
	  "bond. The node does not show the paths",
	  LIB_RULES },
	{ "NCCL_IB_SPLIT_DATA_ON_QPS",
	  "0 in 2.30; 1 splits each message over the queue pairs of a connection", LIB_RULES },
	{ "NCCL_IB_TIMEOUT",
	  "20 in 2.30, less in older versions: with 20 a lost packet is sent again after 4.3 s",
	  LIB_RULES },
	{ "NCCL_IB_RETRY_CNT", "7 in 2.30, the most that a queue pair can have", LIB_RULES },
	{ "NCCL_IB_ADAPTIVE_ROUTING",
	  "1 on InfiniBand and 0 on RoCE in 2.30; --adaptive-routing sets it", LIB_RULES },
	{ "rail and plane in NCCL_IB_HCA",
	  "an entry may be NAME:PORT:RAIL:PLANE, where the fabric numbers its rails",
	  NCCL_HCA_HAS_RAILS },
	{ "NVSHMEM_HCA_LIST",
	  "--for nvshmem prints it, and what chooses a GID; --for mooncake, vllm and others print "
	  "theirs",
	  LIB_RULES },
	{ "NVSHMEM_IB_TRAFFIC_CLASS", "0 without it: NVSHMEM does not read NCCL_IB_TC", LIB_RULES },
	{ "UCX_IB_ROCE_REACHABILITY_MODE",
	  "UCX uses a rail only for peers that the pod's routes reach, and 1.19 does not see "
	  "default routes; \"all\" lifts that",
	  UCX_HAS_REACH_MODE },
};

static bool exists(const struct env *v, enum lib_rule rule)
{
	return rule == LIB_RULES ||
	       lib_rule_holds(rule, rule >= UCX_HAS_SUBNETS ? v->ucx : v->nccl);
}

bool env_note(const struct env *v, size_t *i, const char **name, const char **text)
{
	for (; *i < ARRAY_SIZE(notes); (*i)++) {
		if (env_value(v, notes[*i].name) || !exists(v, notes[*i].rule) ||
		    (v->libraries && !(v->libraries & env_library(notes[*i].name))))
			continue;
		*name = notes[*i].name;
		*text = notes[(*i)++].text;
		return true;
	}
	return false;
}
