/* SPDX-License-Identifier: Apache-2.0 */
/* conf.h: the options of rdma-probe as values. Pure. */
#ifndef RAILHEAD_RDMA_PROBE_CONF_H
#define RAILHEAD_RDMA_PROBE_CONF_H

#include "lib/cli/opt.h"
#include "rdma/probe/peer.h"
#include "rdma/probe/wire.h"

struct conf {
	char device[WIRE_NAME]; /* "": found by the address */
	unsigned device_port;   /* 0: found by the address */
	int gid_index;          /* -1: found by the address */
	bool cm;
	uint16_t pkey; /* partition key of InfiniBand; 0: the first of the port's table */
	uint8_t sl;    /* service level */
	bool has_tc;   /* else that of the system */
	uint8_t tc;    /* traffic class of RoCE */
	/* What NCCL's variables say about this end, where options say nothing; -1: nothing. The
	 * peer has its own. */
	struct conf_nccl {
		int tc, sl, gid_index;
		bool odd_tc; /* tc is what NCCL makes of a variable that is not a class */
	} nccl;
	struct ip bind; /* IP_NONE: any */
	uint16_t port;  /* TCP */
	int timeout_ms;

	uint32_t size, iterations;
	bool seeded; /* else the seed is random */
	uint64_t seed;

	bool once; /* serve */
};

/* Tables for struct cmd. */
extern const struct opt conf_device[], conf_connection[], conf_amount[], conf_serve[], conf_which[];

/*
 * conf_take_nccl - set c->nccl to what NCCL would use, for options that are absent: NCCL_IB_TC, and
 * without RDMA CM NCCL_IB_SL and NCCL_IB_GID_INDEX. get: getenv(). Files of settings are not read.
 */
void conf_take_nccl(const struct opts *o, const char *(*get)(const char *name), struct conf *c);

/* conf_read - defaults, replaced by the given options. ERR_CONFIG names the option and its value.
 */
int conf_read(const struct opts *o, struct conf *out, struct err *e) must_check;

#endif
