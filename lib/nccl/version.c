/* SPDX-License-Identifier: Apache-2.0 */
/* version.c: the table of rules that differ between versions. */
#include "lib/nccl/version.h"

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

/* The rule holds from the first version on, and before the version `before`; 0: still. */
static const struct rule {
	struct lib_version since, before;
} rules[LIB_RULES] = {
	/* NVIDIA's documentation of NCCL_IB_ADDR_FAMILY: "since 2.21" */
	[NCCL_CHOOSES_GID] = { { 2, 21, 0 }, { 0 } },
	/* ncclIbRoceGetVersionNum(): EINVAL is an error. NVIDIA/nccl issue 1573; fixed in 2.26.2 */
	[NCCL_ABORTS_ON_TYPE] = { { 2, 21, 0 }, { 2, 26, 2 } },
	/* ncclIbGdrSupport() of 2.22.3 and 2.23.4. NVIDIA/nccl issue 1676 */
	[NCCL_KNOWS_PEERMEM] = { { 2, 23, 0 }, { 0 } },
	/* NVIDIA's documentation of /etc/nccl.conf: "since 2.23" */
	[NCCL_HAS_CONF_FILE] = { { 2, 23, 0 }, { 0 } },
	/* src/transport/net_ib/gin.cc of 2.30.7 */
	[NCCL_HAS_GIN_TC] = { { 2, 30, 7 }, { 0 } },
	/* src/transport/net_ib/connect.cc of 2.30.7; 2.29.7 has it not */
	[NCCL_HAS_SUBNETS] = { { 2, 30, 7 }, { 0 } },
	/* src/transport/net_ib/init.cc of 2.30.7 */
	[NCCL_HCA_HAS_RAILS] = { { 2, 30, 7 }, { 0 } },
	/* src/uct/ib/base/ib_iface.c of 1.18: ROCE_SUBNETS */
	[UCX_HAS_SUBNETS] = { { 1, 18, 0 }, { 0 } },
	/* NEWS of 1.19: "SRD transport support in EFA"; issue 10692 has UCX_TLS=srd at work */
	[UCX_HAS_EFA] = { { 1, 19, 0 }, { 0 } },
	/* README of 1.19. openucx/ucx pull request 10841 */
	[UCX_HAS_REACH_MODE] = { { 1, 19, 0 }, { 0 } },
	/* openucx/ucx pull request 10939, October 2025 */
	[UCX_SKIPS_LOCAL] = { { 1, 20, 0 }, { 0 } },
	/* uct_ib_device_query_roce_tclass(). openucx/ucx pull request 11105, January 2026 */
	[UCX_TAKES_DRIVER_TC] = { { 1, 21, 0 }, { 0 } },
};

static int64_t number(struct lib_version v)
{
	return ((int64_t)v.major * 10000 + v.minor) * 10000 + v.patch;
}

bool lib_rule_holds(enum lib_rule rule, struct lib_version v)
{
	const struct rule *r = &rules[rule];

	return number(v) >= number(r->since) && (!r->before.major || number(v) < number(r->before));
}

char *lib_rule_versions(enum lib_rule rule, char out[LIB_RULE_LEN])
{
	const char *library = rule < UCX_HAS_SUBNETS ? "NCCL" : "UCX";
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
