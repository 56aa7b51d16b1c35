/* SPDX-License-Identifier: Apache-2.0 */
/* version.c: the table of rules that differ between versions. */
#include "lib/rdma/version.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int lib_version_parse(const char *text, struct lib_version *out)
{
	unsigned long n[3] = { 0 };
	const char *p = text;
	size_t parts = 0;
	char *end;

	for (; parts < ARRAY_SIZE(n); p = end + 1) {
		if (*p < '0' || *p > '9')
			return -1;
		n[parts] = strtoul(p, &end, 10);
		if (n[parts++] > 9999)
			return -1;
		if (*end != '.')
			break;
	}
	if (parts < 2 || (*end && !strchr("-+", *end)))
		return -1;
	*out = (struct lib_version){ (uint16_t)n[0], (uint16_t)n[1], (uint16_t)n[2] };
	return 0;
}

char *lib_version_format(struct lib_version v, char out[LIB_VERSION_LEN])
{
	(void)snprintf(out, LIB_VERSION_LEN, "%u.%u.%u", v.major, v.minor, v.patch);
	return out;
}

/* After any version: RCCL does not have the rule. */
#define NEVER                                                                                      \
	{                                                                                          \
		UINT16_MAX, 0, 0                                                                   \
	}

/*
 * The rule holds from the first version on, and before the version `before`; 0: still. rccl: the
 * first version of RCCL; 0: as in NCCL. Sources were read at NCCL's
 * releases 2.18.1, 2.20.3, 2.20.5, 2.22.3, 2.24.3, 2.25.1, 2.26.2, 2.28.3, 2.29.7 and 2.30.7. If "A
 * has it not, B has it", versions between A and B were not read. Then `since` is the first release
 * of B's minor version, or B.
 *
 * RCCL's are those of projects/rccl/src/graph in public copies of ROCm/rocm-systems:
 * 2.28.3 at 6789fc5b, 16a95f60 and 72901c2f. 2.29.7 at 1ff58479.
 * 2.30.4 at 03a89144, 139aa49a, 1cf6335c and 7d717523. 2.30.7 at 6336ba16 and 02001573.
 * 2.31.2 at 66e4315f and 0e49613c. The kinds of nodes in topo.h tell these versions apart,
 * and so do CHANGELOG.md at 0005e8e8 and version.mk at da887e6e.
 */
static const struct rule {
	struct lib_version since, before, rccl;
} rules[LIB_RULES] = {
	/* NVIDIA's documentation of NCCL_IB_ADDR_FAMILY: "since 2.21" */
	[NCCL_CHOOSES_GID] = { { 2, 21, 0 }, { 0 }, { 0 } },
	/* ncclIbRoceGetVersionNum(): EINVAL is an error. NVIDIA/nccl issue 1573; fixed in 2.26.2 */
	[NCCL_ABORTS_ON_TYPE] = { { 2, 21, 0 }, { 2, 26, 2 }, { 0 } },
	/* ncclIbGdrSupport() of 2.22.3 and 2.23.4. NVIDIA/nccl issue 1676 */
	[NCCL_KNOWS_PEERMEM] = { { 2, 23, 0 }, { 0 }, { 0 } },
	/* NVIDIA's documentation of /etc/nccl.conf: "since 2.23" */
	[NCCL_HAS_CONF_FILE] = { { 2, 23, 0 }, { 0 }, { 0 } },
	/* src/transport/net_ib/gin.cc of 2.30.7 */
	[NCCL_HAS_GIN_TC] = { { 2, 30, 7 }, { 0 }, { 0 } },
	/* src/transport/net_ib/connect.cc of 2.30.7; 2.29.7 has it not */
	[NCCL_HAS_SUBNETS] = { { 2, 30, 7 }, { 0 }, { 0 } },
	/* src/transport/net_ib/init.cc of 2.30.7 */
	[NCCL_HCA_HAS_RAILS] = { { 2, 30, 7 }, { 0 }, { 0 } },
	/* getBcmGen() of topo.cc; 2.18.1 has it not, 2.20.3 has it */
	[NCCL_FLATTENS_PEX890] = { { 2, 20, 0 }, { 0 }, { 0 } },
	/* ncclIbGetPciPath() of net_ib.cc: two digits; 2.18.1 has one, 2.20.5 has it */
	[NCCL_VF_AT_00] = { { 2, 20, 0 }, { 0 }, { 0 } },
	/* ncclIbGetPciPath(), ncclIbMatchVfPath(); 2.22.3 has it not, 2.24.3 has it, 2.28.3 has it
	 * not. RCCL's net_ib_rocm.cc, which has what came with 2.27, has it not */
	[NCCL_KEEPS_PATH] = { { 2, 24, 0 }, { 2, 27, 0 }, { 0 } },
	/* ncclIbFindMatchingDev() of net_ib.cc; 2.18.1 has it not, 2.20.5 and 2.22.3 have
	 * it, 2.24.3 has it not */
	[NCCL_PAIRS_PORTS] = { { 2, 20, 0 }, { 2, 24, 0 }, { 0 } },
	/* ncclTopoMakeVNics() of topo.cc, PATH_PORT of topo.h; 2.22.3 has it not, 2.24.3 has it.
	 * RCCL: "Disabled virtual devices" at 29e8452a; NIC fusion in the notes of 2.28.3 for
	 * ROCm 7.13 */
	[NCCL_FUSES_NETS] = { { 2, 24, 0 }, { 0 }, { 2, 28, 3 } },
	/* ncclTopoAddPci() of topo.cc; 2.22.3 has it not, the library 2.27.7 has it */
	[NCCL_NIC_IS_FUNCTION] = { { 2, 24, 0 }, { 0 }, { 0 } },
	/* ncclTopoFindLinkWidth() and ncclTopoGetVNicParent() of topo.cc; the library 2.27.7 has
	 * the first not, 2.28.9 has it */
	[NCCL_WIDENS_FUSED] = { { 2, 28, 0 }, { 0 }, { 0 } },
	/* ncclTopoGetVNicParent() of topo.cc, "Fusing NET devices from different NUMA
	 * domains"; 2.29.7 has it not, 2.30.7 has it */
	[NCCL_REFUSES_CPUS] = { { 2, 30, 0 }, { 0 }, { 0 } },
	/* ncclTopoWidenLinks() of topo.cc; the library 2.27.7 has it not, 2.28.9 and 2.29.7 have
	 * it, and RCCL 2.30.4 at 1cf6335c. The library 2.30.7 leaves the links of the parts
	 * alone, and so does RCCL 2.30.7 at 6336ba16 */
	[NCCL_WIDENS_ALL] = { { 2, 28, 0 }, { 2, 30, 7 }, { 0 } },
	/* SM100_NVLINK_BW of topo.h; 2.24.3 has it not, 2.25.1 has it */
	[NCCL_KNOWS_SM100] = { { 2, 25, 0 }, { 0 }, { 0 } },
	/* SRP_QPI_BW, ERP_QPI_BW of topo.h; 2.25.1 has them not, 2.26.2 has them */
	[NCCL_KNOWS_XEON_4] = { { 2, 26, 0 }, { 0 }, { 0 } },
	/* LINK_C2C of topo.h; 2.25.1 has it not, 2.26.2 has it */
	[NCCL_HAS_C2C] = { { 2, 26, 0 }, { 0 }, { 0 } },
	/* PATH_P2C of topo.h, NCCL_NET_GDR_C2C=1; 2.26.2 has it not, 2.29.7 has it; RCCL's paths.cc
	 * at 1ff58479 has it, at ee2d4e42 (2.26) not */
	[NCCL_HAS_P2C] = { { 2, 27, 0 }, { 0 }, { 0 } },
	/* ncclTopoComputePaths() of paths.cc; 2.29.7 has it. 2.28.9 prints P2C for all nets of the
	 * CPU */
	[NCCL_P2C_IS_LOCAL] = { { 2, 29, 0 }, { 0 }, { 0 } },
	/* NCCL_PXN_C2C=1; RCCL's CHANGELOG: "upstream NCCL defaults it to 1 since 2.28", RCCL to 0
	 */
	[NCCL_PXN_OVER_C2C] = { { 2, 28, 0 }, { 0 }, NEVER },
	/* ncclTopoComputePaths() of paths.cc; 2.29.7 has it not, 2.30.7 has it, and RCCL 2.30.4 at
	 * 139aa49a */
	[NCCL_PXN_NEEDS_GDR] = { { 2, 30, 0 }, { 0 }, { 0 } },
	/* NCCL_IB_DATA_DIRECT; 2.26.2 has it not, 2.28.3 has it; with mlx5dvwrap.cc since 2.27 */
	[NCCL_HAS_DATA_DIRECT] = { { 2, 27, 0 }, { 0 }, { 0 } },
	/* ncclTopoGetNetDevsPolicy() of topo.cc; 2.22.3 has it not, 2.29.7 has it. NVIDIA's
	 * documentation: "since 2.28" */
	[NCCL_HAS_POLICY] = { { 2, 28, 0 }, { 0 }, { 0 } },
	/* type DEV of topo.h; 2.29.7 has it not, 2.30.7 has it */
	[NCCL_HAS_DEV_NODES] = { { 2, 30, 0 }, { 0 }, { 0 } },
	/* ncclTopoSetPaths() of paths.cc; 2.29.7 has it not, nor the first version with DEV; 2.30.7
	 * has it. RCCL 2.30.4 at 139aa49a has it not, 2.30.7 at 02001573 has it */
	[NCCL_TYPE_FIRST] = { { 2, 30, 7 }, { 0 }, { 0 } },
	/* nvmlDeviceGetCurrPcieLinkWidth() in the library 2.30.7; 2.28.9 and 2.29.7 have it not.
	 * NVML does not know AMD's GPUs: ncclTopoGetXmlFromSys() of RCCL's xml.cc at 66e4315f */
	[NCCL_ASKS_FOR_LINK] = { { 2, 30, 7 }, { 0 }, NEVER },
	/* ncclTopoGetLocalNet() of topo.cc; 2.29.7 has it not, 2.30.7 has it */
	[NCCL_COUNTS_SHARERS] = { { 2, 30, 7 }, { 0 }, NEVER },
	/* ncclTopoGetLocalNet() of RCCL's topo.cc; 0cbce2a7 (2.22) has it, 29e8452a (2.26) has it
	   not */
	[RCCL_SPREADS_BY_PLACE] = { { 2, 0, 0 }, { 2, 24, 0 }, { 0 } },
	/* ncclTopoGetVNicParent() of RCCL's topo.cc, "Cross-NUMA merge": 6789fc5b has it not,
	   72901c2f has it, both of 2.28.3. NCCL 2.29.7 has it not */
	[RCCL_FUSES_OVER_CPUS] = { { 2, 28, 3 }, { 0 }, { 0 } },
	/* ncclTopoSetPaths() of RCCL's paths.cc: "Disallow GPUs as intermediate steps" at 1ff58479
	   (2.29.7). At 139aa49a (2.30.4) this is so only for the new nodes above which a DEV is */
	[RCCL_PASSES_GPUS] = { { 2, 30, 0 }, { 0 }, { 0 } },
	/* the same function: a comment at 139aa49a (2.30.4), code at 02001573 (2.30.7) */
	[RCCL_HAS_NVB] = { { 2, 30, 7 }, { 0 }, { 0 } },
	/* ncclTopoGetLocalNetType() of RCCL's topo.cc: 7d717523 (2.30.4) has it not, 6336ba16
	   (2.30.7) has it; at 66e4315f (2.31.2) only for Blackwell with ConnectX-8 */
	[RCCL_COUNTS_SHARERS] = { { 2, 30, 7 }, { 2, 31, 0 }, { 0 } },
	/* rcclRewriteSameDomainNetPaths() of paths.cc; 1ff58479 has it not, 139aa49a has it */
	[RCCL_JOINS_DOMAINS] = { { 2, 30, 0 }, { 0 }, { 0 } },
	/* GFX125X_XGMI_WIDTH of topo.h; 16a95f60 has it not, 03a89144 has it */
	[RCCL_KNOWS_GFX1250] = { { 2, 30, 0 }, { 0 }, { 0 } },
	/* ncclTopoAddCpu() of topo.cc; 6336ba16 (2.30.7) has it not, 0e49613c (2.31.2) has it */
	[RCCL_KNOWS_XEON_6] = { { 2, 31, 0 }, { 0 }, { 0 } },
	/* ncclTopoGetXmlFromCpu() of xml.cc; 6336ba16 (2.30.7) has it not, 66e4315f (2.31.2) has
	   it. ncclTopoAddCpu() still asks for 143 and 175 to know Rome */
	[RCCL_READS_FAMILY] = { { 2, 31, 0 }, { 0 }, { 0 } },
	/* src/uct/ib/base/ib_iface.c of 1.18: ROCE_SUBNETS */
	[UCX_HAS_SUBNETS] = { { 1, 18, 0 }, { 0 }, { 0 } },
	/* NEWS of 1.19: "SRD transport support in EFA"; issue 10692 has UCX_TLS=srd at work */
	[UCX_HAS_EFA] = { { 1, 19, 0 }, { 0 }, { 0 } },
	/* README of 1.19. openucx/ucx pull request 10841 */
	[UCX_HAS_REACH_MODE] = { { 1, 19, 0 }, { 0 }, { 0 } },
	/* uct_ib_device_select_gid(); 1.20.1 has it not, 1.21.0 has it. Pull request 10939 */
	[UCX_SKIPS_LOCAL] = { { 1, 21, 0 }, { 0 }, { 0 } },
	/* uct_ib_device_query_roce_tclass(). openucx/ucx pull request 11105, January 2026 */
	[UCX_TAKES_DRIVER_TC] = { { 1, 21, 0 }, { 0 }, { 0 } },
};

static int64_t version_number(struct lib_version v)
{
	return ((int64_t)v.major * 10000 + v.minor) * 10000 + v.patch;
}

bool lib_rule_holds(enum lib_rule rule, struct lib_version v)
{
	const struct rule *r = &rules[rule];

	return version_number(v) >= version_number(r->since) &&
	       (!r->before.major || version_number(v) < version_number(r->before));
}

bool lib_rule_in_rccl(enum lib_rule rule, struct lib_version v)
{
	if (version_number(v) > version_number(RCCL_VERSION_NEWEST))
		v = RCCL_VERSION_NEWEST;
	return version_number(v) >= version_number(rules[rule].rccl) && lib_rule_holds(rule, v);
}

char *lib_rule_versions(enum lib_rule rule, char out[LIB_RULE_LEN])
{
	const char *library = rule < RCCL_SPREADS_BY_PLACE ? "NCCL"
			      : rule < UCX_HAS_SUBNETS     ? "RCCL"
							   : "UCX";
	char since[LIB_VERSION_LEN], before[LIB_VERSION_LEN];

	(void)lib_version_format(rules[rule].since, since);
	(void)lib_version_format(rules[rule].before, before);
	if (rules[rule].before.major)
		(void)snprintf(out, LIB_RULE_LEN, "%s since %s and before %s", library, since,
			       before);
	else
		(void)snprintf(out, LIB_RULE_LEN, "%s since %s", library, since);
	return out;
}
