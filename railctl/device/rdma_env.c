/* SPDX-License-Identifier: Apache-2.0 */
/* rdma_env.c: `railctl rdma env`: print the variables that make NCCL and UCX use the rails of a
 * pod. */
#include <string.h>

#include "railctl/device/rdma.h"
#include "railctl/device/pkey.h"
#include "railctl/device/pod.h"
#include "diag/probe_data.h"
#include "rdma/env/files.h"
#include "rdma/env/tier.h"

enum format { FORMAT_SHELL, FORMAT_JSON, FORMAT_KUBERNETES };

static int take_format(struct cmd_run *r, enum format *out, struct err *e)
{
	static const char *const names[] = { "shell", "json", "kubernetes" };
	const char *word = opt_get(&r->opts, "format");

	*out = r->out.json ? FORMAT_JSON : FORMAT_SHELL;
	if (!word)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (strcmp(word, names[i]) != 0)
			continue;
		if (r->out.json && i != FORMAT_JSON)
			return cmd_usage(r, e, "--json and --format %s exclude each other", word);
		*out = (enum format)i;
		return 0;
	}
	return cmd_usage(r, e, "--format \"%.64s\" is not one of shell, json, kubernetes", word);
}

static int env_take_number(struct cmd_run *r, const char *option, uint64_t max, int *out,
			   struct err *e)
{
	const char *text = opt_get(&r->opts, option);
	uint64_t n;

	if (!text)
		return 0;
	if (parse_u64(text, 0, max, &n))
		return cmd_usage(r, e, "--%s \"%.64s\" is not a number from 0 to %llu", option,
				 text, (unsigned long long)max);
	*out = (int)n;
	return 0;
}

static int take_family(struct cmd_run *r, enum ip_family *out, struct err *e)
{
	const char *text = opt_get(&r->opts, "family");

	if (!text)
		return 0;
	if (strcmp(text, "4") != 0 && strcmp(text, "6") != 0)
		return cmd_usage(r, e, "--family \"%.64s\" is neither 4 nor 6", text);
	*out = *text == '4' ? IP_V4 : IP_V6;
	return 0;
}

static int rdma_env_check_ifname(struct cmd_run *r, const char *option, const char *name,
				 struct err *e)
{
	const char *problem = name ? ifname_problem(name) : NULL;

	return problem ? cmd_usage(r, e, "--%s \"%.64s\": %s", option, name, problem) : 0;
}

static int take_layer(struct cmd_run *r, enum ib_link_layer *out, struct err *e)
{
	const char *text = opt_get(&r->opts, "link-layer");

	if (!text)
		return 0;
	if (strcmp(text, "infiniband") != 0 && strcmp(text, "ethernet") != 0)
		return cmd_usage(r, e, "--link-layer \"%.64s\" is neither infiniband nor ethernet",
				 text);
	*out = *text == 'i' ? IB_LAYER_INFINIBAND : IB_LAYER_ETHERNET;
	return 0;
}

static int take_stack(struct cmd_run *r, unsigned *out, struct err *e)
{
	const char *name = opt_get(&r->opts, "for");

	*out = name ? env_stack(name) : 0;
	return name && !*out
		       ? cmd_usage(r, e,
				   "--for \"%.64s\" is not one of nccl, ucx, nvshmem, mooncake, "
				   "nixl, deepep, vllm, sglang, dynamo",
				   name)
		       : 0;
}

static int take_pkey(struct cmd_run *r, uint16_t *out, struct err *e)
{
	const char *text = opt_get(&r->opts, "pkey");

	return text && pkey_parse(text, out) ? rdma_pkey_usage(r, text, e) : 0;
}

#define INTERFACES_MAX 64

static int take_interfaces(struct cmd_run *r, const char *names[INTERFACES_MAX + 1],
			   struct env_options *o, struct err *e)
{
	size_t n = 0, i = 0;
	const char *name;

	while ((name = opt_next(&r->opts, "interface", &i))) {
		if (rdma_env_check_ifname(r, "interface", name, e))
			return -1;
		if (n == INTERFACES_MAX)
			return cmd_usage(r, e, "more than %d times --interface", INTERFACES_MAX);
		names[n++] = name;
	}
	names[n] = NULL;
	o->interfaces = n ? names : NULL;
	return 0;
}

static int take_options(struct cmd_run *r, struct env_options *o, struct err *e)
{
	o->socket = opt_get(&r->opts, "socket");
	o->pin_index = opt_is_set(&r->opts, "pin-index");
	return env_take_number(r, "tc", 255, &o->tc, e) ||
			       env_take_number(r, "sl", 15, &o->sl, e) ||
			       env_take_number(r, "cross-nic", 2, &o->cross_nic, e) ||
			       env_take_number(r, "adaptive-routing", 1, &o->adaptive_routing, e) ||
			       rdma_take_version(r, "nccl-version", &o->nccl, e) ||
			       rdma_take_version(r, "ucx-version", &o->ucx, e) ||
			       take_stack(r, &o->libraries, e) || take_layer(r, &o->layer, e) ||
			       take_pkey(r, &o->pkey, e) || take_family(r, &o->family, e) ||
			       rdma_env_check_ifname(r, "socket", o->socket, e)
		       ? -1
		       : 0;
}

static int print_env(const struct cmd_run *r, const struct env *x, enum format format,
		     struct err *e)
{
	bool explain = opt_is_set(&r->opts, "explain");

	if (format == FORMAT_JSON) {
		auto_json struct json *o = env_json(x);

		return o ? out_json(&r->out, o, e) : err_nomem(e);
	}

	auto_free char *text =
		format == FORMAT_SHELL ? env_shell(x, explain) : env_kubernetes(x, explain);

	if (!text)
		return err_nomem(e);
	(void)fputs(text, r->out.to);
	return 0;
}

static void refuse_option(const char *what, const char *text)
{
	auto_free char *clean = out_clean(text);

	(void)fprintf(stderr, "railctl rdma env: %s: %s\n", what, clean ? clean : "(no memory)");
}

/*
 * Warnings about the variables go to standard error, because `eval` hides comments. If --expect
 * gives the right number of rails, missing rails are not reported.
 */
static bool is_as_expected(const struct env *x, uint64_t expected)
{
	bool count_is_right = expected && x->n_rails == expected;
	char text[96];

	for (size_t i = 0; i < x->n_warnings; i++)
		refuse_option("warning", x->warning[i]);
	for (size_t i = 0; !count_is_right && i < x->n_missing; i++)
		refuse_option("left out", x->missing[i]);
	if (expected && !count_is_right) {
		(void)snprintf(text, sizeof(text), "%zu, and %llu are expected", x->n_rails,
			       (unsigned long long)expected);
		refuse_option("rails", text);
	}
	return x->n_warnings == 0 && (count_is_right || (!expected && x->n_missing == 0));
}

#define RAILS_MAX 256

static int take_expected(struct cmd_run *r, uint64_t *out, struct err *e)
{
	const char *text = opt_get(&r->opts, "expect-rails");

	*out = 0;
	if (text && parse_u64(text, 1, RAILS_MAX, out))
		return cmd_usage(r, e, "--expect-rails \"%.64s\" is not a number from 1 to %d",
				 text, RAILS_MAX);
	return 0;
}

/* Without --nccl-version, that of the library which the process of --netns has mapped counts. */
static int find_version(struct cmd_run *r, int pid, struct env_options *o, struct err *e)
{
	const struct probe_view view = { .ctx = &r->ctx, .pid = pid };
	auto_free struct job_vars *job = NULL;

	if (opt_is_set(&r->opts, "nccl-version"))
		o->nccl_from = "--nccl-version";
	if (opt_is_set(&r->opts, "ucx-version"))
		o->ucx_from = "--ucx-version";
	if (o->nccl_from)
		return 0;
	job = calloc(1, sizeof(*job));
	if (!job)
		return err_nomem(e);
	if (probe_read_library(&view, job, e))
		return -1;
	if (job->library.is == JOB_LIBRARY_NAMED) {
		o->nccl = job->library.version;
		o->nccl_from = "the library that the process has mapped";
	}
	return 0;
}

static int env_run(struct cmd_run *r, struct err *e)
{
	auto_rdma_inventory struct rdma_inventory v = { 0 };
	auto_env struct env x = { 0 };
	const char *names[INTERFACES_MAX + 1];
	struct env_options o = ENV_OPTIONS_INIT;
	char why[RDMA_TIER_WHY_LEN];
	const char *dir = opt_get(&r->opts, "dir");
	enum format format;
	uint64_t expected;
	int pid;

	if (dir &&
	    (r->out.json || opt_is_set(&r->opts, "format") || opt_is_set(&r->opts, "explain")))
		return cmd_usage(r, e,
				 "--dir writes each format: --json, --format and --explain "
				 "do not go with it");
	if (take_format(r, &format, e) || take_options(r, &o, e) ||
	    take_expected(r, &expected, e) || take_interfaces(r, names, &o, e) ||
	    rdma_tier_class(&r->ctx, opt_get(&r->opts, "netns"), &o, why, e) ||
	    rdma_pod_read(r, &pid, &v, e) || rdma_routes_read(&v, e) ||
	    find_version(r, pid, &o, e) || env_make(&v, &o, &x, e))
		return -1;
	if (!is_as_expected(&x, expected))
		r->status = CMD_FAILED;
	return dir ? pod_files_put(&x, dir, e) : print_env(r, &x, format, e);
}

static const struct opt options[] = {
	RDMA_OPT_NETNS,
	RDMA_OPT_NCCL_VERSION,
	{ "ucx-version", "VERSION", "of the job, such as 1.17", 0 },
	{ "for", "NAME",
	  "all variables of a library or program: nccl, ucx, nvshmem, mooncake, nixl, deepep, "
	  "vllm, sglang, dynamo",
	  0 },
	{ "format", "FORMAT", "shell (default), json, or kubernetes: the list under \"env:\"", 0 },
	{ "dir", "DIR", "write nccl.conf, ucx.conf, env, rails.json and explain.txt to DIR", 0 },
	{ "explain", NULL, "print the reason of each line, and what was left out", 0 },
	{ "expect-rails", "N", "fail unless there are that many", 0 },
	{ "interface", "NAME", "only this interface is a rail; may be given more than once",
	  OPT_MANY },
	{ "family", "4|6", "use GIDs of IPv4 or of IPv6", 0 },
	{ "pin-index", NULL, "print NCCL_IB_GID_INDEX also where an address range would do", 0 },
	{ "socket", "NAME", "interface of NCCL_SOCKET_IFNAME, not that of the default route", 0 },
	{ "tc", "N", "traffic class, 0 to 255: four times the DSCP value, and 2 for ECN", 0 },
	{ "sl", "N", "service level, 0 to 15", 0 },
	{ "link-layer", "LAYER", "only rails of it: infiniband or ethernet", 0 },
	{ "pkey", "PKEY", "partition of InfiniBand rails; default: that of IPoIB interfaces", 0 },
	{ "adaptive-routing", "N", "NCCL_IB_ADAPTIVE_ROUTING, 0 or 1", 0 },
	{ "cross-nic", "N", "NCCL_CROSS_NIC, 0 to 2", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railctl rdma env --explain",
	"eval \"$(railctl rdma env --tc 106)\"",
	"railctl rdma env --expect-rails 1",
	"eval \"$(railctl rdma env --for mooncake)\"",
	"railctl rdma env --tc 106 --dir /tmp",
	"railctl rdma env --link-layer infiniband --pkey 0x8001 --sl 1",
	"railctl rdma env --netns /run/netns/pod1 --format kubernetes",
	NULL,
};

const struct cmd rdma_env_cmd = {
	.name = "env",
	.summary = "print the environment that makes NCCL and UCX use a pod's own rails",
	.about = "Run it in the pod, or on the host with --netns. It names only ports that have an "
		 "address of this network namespace. It sets NCCL_IB_GID_INDEX if one index is "
		 "right for all of them. Otherwise it sets the address family and range by which "
		 "NCCL finds them; so it does if --nccl-version says that NCCL knows these. If no "
		 "setting is "
		 "right, standard error says so and the exit status is 1. The same applies if a "
		 "rail is left out because its link is down or "
		 "it has no address. InfiniBand needs no GID index; there NCCL_IB_PKEY is the "
		 "index of the partition.",
	.opts = { options },
	.examples = examples,
	.run = env_run,
};
