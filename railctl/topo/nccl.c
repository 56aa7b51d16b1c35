/* SPDX-License-Identifier: Apache-2.0 */
/* nccl.c: the settings of NCCL that a prediction assumes, from --set, --rccl and
 * --nccl-version. */
#include <string.h>

#include "railctl/device/pod.h"
#include "railctl/topo/topo.h"

static int nccl_refuse_option(struct cmd_run *r, const char *name, const char *value,
			      const char *wanted, struct err *e)
{
	return cmd_usage(r, e, "--set %s=\"%.64s\": it must be %s", name, value, wanted);
}

/* NCCL_NETDEVS_POLICY: AUTO, ALL or MAX:N. */
static int set_policy(struct cmd_run *r, const char *name, const char *value, struct topo *t,
		      struct err *e)
{
	uint64_t n = 0;

	if (strcmp(value, "AUTO") == 0)
		t->opts.policy = NCCL_AUTO;
	else if (strcmp(value, "ALL") == 0)
		t->opts.policy = NCCL_ALL;
	else if (strncmp(value, "MAX:", 4) == 0 && parse_u64(value + 4, 1, 1024, &n) == 0)
		t->opts.policy = NCCL_MAX;
	else
		return nccl_refuse_option(r, name, value, "AUTO, ALL or MAX:N", e);
	t->opts.max = (uint32_t)n;
	return 0;
}

/* NCCL_NET_GDR_LEVEL: a name, or one of the old numbers 0 to 4. */
static int set_level(struct cmd_run *r, const char *name, const char *value, struct topo *t,
		     struct err *e)
{
	static const enum nccl_path_type old[] = { NCCL_LOC, NCCL_PIX, NCCL_PXB, NCCL_PHB,
						   NCCL_SYS };
	uint64_t n;

	if (parse_u64(value, 0, 1000, &n) == 0) {
		t->opts.gdr_level = (int)old[n < ARRAY_SIZE(old) ? n : ARRAY_SIZE(old) - 1];
		return 0;
	}
	for (enum nccl_path_type p = NCCL_LOC; p <= NCCL_SYS; p++) {
		if (strcmp(value, nccl_path_name(p)) == 0) {
			t->opts.gdr_level = (int)p;
			return 0;
		}
	}
	return nccl_refuse_option(r, name, value, "LOC, PIX, PXB, P2C, PXN, PHB or SYS", e);
}

/* NCCL_NET_MERGE_LEVEL: nicPathKvList of topo.cc. */
static int set_merge_level(struct cmd_run *r, const char *name, const char *value, struct topo *t,
			   struct err *e)
{
	static const struct {
		const char *name;
		enum nccl_path_type level;
	} levels[] = { { "PORT", NCCL_LOC }, { "PIX", NCCL_PIX }, { "PXB", NCCL_PXB },
		       { "P2C", NCCL_P2C },  { "PXN", NCCL_PXN }, { "PHB", NCCL_PHB },
		       { "SYS", NCCL_SYS } };

	t->opts.no_merge = strcmp(value, "LOC") == 0;
	t->opts.merge_level = NCCL_LOC;
	for (size_t i = 0; i < ARRAY_SIZE(levels) && !t->opts.no_merge; i++) {
		if (strcmp(value, levels[i].name) == 0) {
			t->opts.merge_level = levels[i].level;
			return 0;
		}
	}
	return t->opts.no_merge
		       ? 0
		       : nccl_refuse_option(r, name, value,
					    "LOC, PORT, PIX, PXB, P2C, PXN, PHB or SYS", e);
}

/* NCCL_NET_MERGE_POLICY: NCCL takes any other word for ALL. */
static int set_merge_policy(struct cmd_run *r, const char *name, const char *value, struct topo *t,
			    struct err *e)
{
	t->opts.merge_rails = strcasecmp(value, "RAIL") == 0;
	if (t->opts.merge_rails || strcasecmp(value, "ALL") == 0)
		return 0;
	return nccl_refuse_option(r, name, value, "ALL or RAIL", e);
}

/* NCCL_IB_DATA_DIRECT */
static int set_direct(struct cmd_run *r, const char *name, const char *value, struct topo *t,
		      struct err *e)
{
	static const enum nccl_direct modes[] = { NCCL_DIRECT_OFF, NCCL_DIRECT_ONLY,
						  NCCL_DIRECT_BOTH };
	uint64_t n;

	if (parse_u64(value, 0, ARRAY_SIZE(modes) - 1, &n))
		return nccl_refuse_option(r, name, value, "0, 1 or 2", e);
	t->opts.direct = modes[n];
	return 0;
}

static int set_hcas(struct cmd_run *r, const char *name, const char *value, struct topo *t,
		    struct err *e)
{
	(void)r;
	(void)name;
	(void)e;
	t->opts.hca_list = value;
	return 0;
}

static int set_force_merge(struct cmd_run *r, const char *name, const char *value, struct topo *t,
			   struct err *e)
{
	(void)r;
	(void)name;
	(void)e;
	t->opts.force_merge = value;
	return 0;
}

/* NCCL_TOPO_FILE: the job reads the file of --nccl-xml. Its path there says nothing here. */
static int set_topo_file(struct cmd_run *r, const char *name, const char *value, struct topo *t,
			 struct err *e)
{
	(void)name;
	(void)value;
	if (!opt_is_set(&r->opts, "nccl-xml"))
		return cmd_usage(r, e, "--set NCCL_TOPO_FILE needs that file in --nccl-xml");
	t->opts.own_file = true;
	return 0;
}

/* ---- switches: 0 or 1 ---- */

static bool *switch_of(struct nccl_opts *o, const char *name, bool *off)
{
	const struct {
		const char *name;
		bool *on, off;
	} switches[] = {
		{ "NCCL_IB_MERGE_VFS", &o->keep_vf_path, true },
		{ "NCCL_IB_MERGE_NICS", &o->no_merge_nics, true },
		{ "NCCL_PXN_DISABLE", &o->no_pxn, false },
		{ "NCCL_NET_GDR_C2C", &o->no_c2c, true },
		{ "NCCL_NET_GDR_READ", &o->no_read, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(switches); i++) {
		if (strcmp(name, switches[i].name) == 0) {
			*off = switches[i].off;
			return switches[i].on;
		}
	}
	return NULL;
}

static int set_switch(struct cmd_run *r, const char *name, const char *value, struct topo *t,
		      struct err *e)
{
	bool off = false, *on = switch_of(&t->opts, name, &off);
	uint64_t n;

	if (parse_u64(value, 0, 1, &n))
		return nccl_refuse_option(r, name, value, "0 or 1", e);
	*on = (n == 1) != off;
	if (on == &t->opts.no_read)
		t->opts.read = n == 1;
	if (on == &t->opts.no_pxn)
		t->opts.pxn = n == 0;
	return 0;
}

static const struct {
	const char *name;
	int (*set)(struct cmd_run *r, const char *name, const char *value, struct topo *t,
		   struct err *e);
} known[] = {
	{ "NCCL_NETDEVS_POLICY", set_policy },
	{ "NCCL_NET_GDR_LEVEL", set_level },
	{ "NCCL_IB_HCA", set_hcas },
	{ "NCCL_IB_DATA_DIRECT", set_direct },
	{ "NCCL_NET_MERGE_LEVEL", set_merge_level },
	{ "NCCL_NET_MERGE_POLICY", set_merge_policy },
	{ "NCCL_NET_FORCE_MERGE", set_force_merge },
	{ "NCCL_TOPO_FILE", set_topo_file },
	{ "NCCL_IB_MERGE_NICS", set_switch },
	{ "NCCL_IB_MERGE_VFS", set_switch },
	{ "NCCL_PXN_DISABLE", set_switch },
	{ "NCCL_NET_GDR_C2C", set_switch },
	{ "NCCL_NET_GDR_READ", set_switch },
};

static int nccl_set_option(struct cmd_run *r, const char *text, struct topo *t, struct err *e)
{
	const char *equals = strchr(text, '=');

	for (size_t i = 0; equals && i < ARRAY_SIZE(known); i++) {
		const char *name = known[i].name;

		if (strlen(name) == (size_t)(equals - text) &&
		    strncmp(name, text, strlen(name)) == 0)
			return known[i].set(r, name, equals + 1, t, e);
	}
	cmd_usage(r, e, "--set \"%.64s\" is not a NAME=VALUE that is known here", text);
	return err_hint(e, "NAME is one of NCCL_NETDEVS_POLICY, NCCL_NET_GDR_LEVEL, "
			   "NCCL_IB_HCA, NCCL_IB_DATA_DIRECT, NCCL_NET_GDR_C2C, NCCL_NET_GDR_READ, "
			   "NCCL_NET_MERGE_LEVEL, NCCL_NET_MERGE_POLICY, "
			   "NCCL_NET_FORCE_MERGE, NCCL_IB_MERGE_NICS, NCCL_IB_MERGE_VFS, "
			   "NCCL_PXN_DISABLE, NCCL_TOPO_FILE");
}

int topo_nccl_opts(struct cmd_run *r, struct topo *t, struct err *e)
{
	const char *text;
	size_t i = 0;

	bool rccl = t->opts.rccl;

	t->opts = (struct nccl_opts)NCCL_OPTS_DEFAULT;
	if (rdma_take_version(r, "nccl-version", &t->nccl_version, e))
		return -1;
	t->has_version = t->nccl_version.major > 0;
	t->opts.version = t->nccl_version;
	/* A topology file of RCCL alone does not select the rules of RCCL. */
	t->opts.rccl = rccl || opt_is_set(&r->opts, "rccl");
	while ((text = opt_next(&r->opts, "set", &i)))
		if (nccl_set_option(r, text, t, e))
			return -1;
	return 0;
}
