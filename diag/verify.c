// SPDX-License-Identifier: Apache-2.0
/* Compares NCCL's devices and connections with the prediction, GPU by GPU. */
#include "diag/verify.h"

#include <stdio.h>
#include <string.h>

#define TEXT_LEN 512

/* ---- names of HCAs ---- */

/* The HCAs of one device or of several: each once, without ports. */
struct names {
	char text[TEXT_LEN]; /* "mlx5_0,mlx5_1" */
	size_t len;
};

static bool verify_has_name(const struct names *all, struct slice name)
{
	struct slice rest = { all->text, all->len }, one;

	while (slice_next(&rest, ',', &one))
		if (slice_same(one, name))
			return true;
	return false;
}

static void verify_add_name(struct names *all, struct slice name)
{
	if (!name.len || verify_has_name(all, name) || all->len + name.len + 2 > TEXT_LEN)
		return;
	if (all->len)
		all->text[all->len++] = ',';
	memcpy(all->text + all->len, name.p, name.len);
	all->len += name.len;
	all->text[all->len] = '\0';
}

/* "mlx5_0+mlx5_1", or "[0] mlx5_0:1/RoCE, [1] mlx5_1:1/RoCE". */
static void verify_add_device(struct names *all, struct slice device)
{
	const char separator = memchr(device.p, '[', device.len) ? ',' : '+';
	struct slice rest = device, one;

	while (slice_next(&rest, separator, &one)) {
		const char *end = memchr(one.p, ']', one.len), *port;

		if (end) {
			one.len -= (size_t)(end + 1 - one.p);
			one.p = end + 1;
		}
		while (one.len && *one.p == ' ') {
			one.p++;
			one.len--;
		}
		port = memchr(one.p, ':', one.len);
		if (port)
			one.len = (size_t)(port - one.p);
		verify_add_name(all, one);
	}
}

/* Names that only `a` has. */
static struct names subtract(const struct names *a, const struct names *b)
{
	struct slice rest = { a->text, a->len }, one;
	struct names left = { .len = 0 };

	while (slice_next(&rest, ',', &one))
		if (!verify_has_name(b, one))
			verify_add_name(&left, one);
	return left;
}

/* ---- one GPU ---- */

static const struct json *find_gpu(const struct json *machine, struct pci_addr addr)
{
	char bdf[PCI_STR_LEN];

	pci_format(addr, bdf);
	json_each (it, json_get(machine, "gpus")) {
		if (strcmp(json_text(it, "bdf"), bdf) == 0)
			return it;
	}
	return NULL;
}

static struct names used_by(const struct nccl_log *log, const struct nccl_log_gpu *g)
{
	const struct nccl_log_process *p = &log->process[g->process];
	struct names used = { .len = 0 };

	for (size_t n = 0; n < NCCL_LOG_NETS_MAX; n++) {
		if (!(g->nets >> n & 1))
			continue;
		if (p->net[n].p)
			verify_add_device(&used, p->net[n]);
		else
			verify_add_name(&used, (struct slice){ "?", 1 });
	}
	return used;
}

/* The HCAs of a list of the prediction: "local", or "slower". */
static struct names predicted_for(const struct json *gpu, const char *list)
{
	struct names all = { .len = 0 };

	json_each (it, json_get(json_get(gpu, "nccl"), list)) {
		const char *name = json_str(it) ? json_str(it) : "";

		verify_add_device(&all, (struct slice){ name, strlen(name) });
	}
	return all;
}

static void set_subject(struct finding *f, const struct json *gpu)
{
	finding_set_subject(f, "GPU %.0f", json_num(json_get(gpu, "index")));
}

/* Why HCAs that are not predicted are used. */
enum other_cause { OTHER_SEARCHED, OTHER_SLOWER, OTHER_RANKS, OTHER_UNNAMED, OTHER_UNEXPLAINED };

static enum other_cause cause_of(const struct nccl_log_gpu *g, const struct json *gpu,
				 const struct names *other)
{
	struct names slower = predicted_for(gpu, "slower"), rest = subtract(other, &slower);

	/* The prediction names the nearest HCAs. Without GPUDirect RDMA, the links between switch
	 * and CPU carry all data twice, and NCCL's search can prefer the HCAs of other switches. */
	if (json_get(json_get(gpu, "nccl"), "gdr") && !g->sends.gdr && !g->receives.gdr)
		return OTHER_SEARCHED;
	if (!rest.len)
		return OTHER_SLOWER;
	const char *uncertain = json_str(json_get(json_get(gpu, "nccl"), "uncertain"));
	return uncertain && !strcmp(uncertain, "ranks") ? OTHER_RANKS : OTHER_UNEXPLAINED;
}

static void explain_others(struct finding *f, enum other_cause cause, const struct names *other)
{
	static const struct {
		const char *reason, *remedy;
	} texts[] = {
		[OTHER_SEARCHED] = { ": without GPUDirect RDMA it also takes HCAs that are not the "
				     "nearest",
				     "nothing, if GPUDirect RDMA is meant to be off" },
		[OTHER_SLOWER] = { ", slower but no farther: collectives with slow "
				   "channels use these HCAs, too",
				   "nothing; NCCL_IB_HCA with the predicted HCAs leaves the others "
				   "out" },
		[OTHER_RANKS] = { ": the ranks do not see the same NICs",
				  "set NCCL_NET_MERGE_LEVEL=PORT" },
		[OTHER_UNNAMED] = { ", and the log does not name the device of that number: NCCL "
				    "names fused ports only with NCCL_DEBUG_SUBSYS",
				    "log with NCCL_DEBUG_SUBSYS=INIT,NET" },
		[OTHER_UNEXPLAINED] = { ", which the prediction does not have",
					"look at the settings below; if none explains it, report "
					"it with this log and \"railctl topo capture\"" },
	};

	finding_set_reason(f, "NCCL chose %s%s", other->text, texts[cause].reason);
	finding_set_remedy(f, "%s",
			   cause == OTHER_SEARCHED && f->state == FINDING_FAIL
				   ? "see the finding gdr first"
				   : texts[cause].remedy);
}

static void check_nets(const struct verify_input *in, const struct nccl_log_gpu *g,
		       const struct json *gpu, struct findings *out)
{
	struct names used = used_by(in->log, g), predicted = predicted_for(gpu, "local");
	const struct names unnamed = { .text = "?", .len = 1 };
	struct names other = subtract(&used, &predicted), named = subtract(&other, &unnamed);
	enum other_cause cause = other.len && !named.len ? OTHER_UNNAMED : cause_of(g, gpu, &named);
	bool gdr = json_true(json_get(json_get(gpu, "nccl"), "gdr"));
	bool unknown = cause == OTHER_SLOWER || cause == OTHER_RANKS || cause == OTHER_UNNAMED ||
		       (cause == OTHER_SEARCHED && !gdr);
	struct finding *f = findings_add(out, "net",
					 !other.len ? FINDING_OK
					 : unknown  ? FINDING_UNKNOWN
						    : FINDING_FAIL);

	set_subject(f, gpu);
	finding_set_value(f, "predicted %s, NCCL uses %s", predicted.len ? predicted.text : "none",
			  used.text);
	if (other.len)
		explain_others(f, cause, &other);
}

static bool is_gdr(struct nccl_log_count c, bool expected)
{
	return expected ? !c.no_gdr : !c.gdr;
}

/* NCCL_NET_GDR_READ=0 turns GPUDirect RDMA off for what the GPU sends. */
static void check_gdr(const struct nccl_log_gpu *g, const struct json *gpu, struct findings *out)
{
	const struct json *nccl = json_get(gpu, "nccl"), *predicted = json_get(nccl, "gdr");
	bool sends = json_true(predicted),
	     receives = sends || json_true(json_get(nccl, "gdr_receive"));
	size_t gdr = g->sends.gdr + g->receives.gdr, no_gdr = g->sends.no_gdr + g->receives.no_gdr;
	bool same = is_gdr(g->sends, sends) && is_gdr(g->receives, receives);
	bool more = (!sends && g->sends.gdr) || (!receives && g->receives.gdr);
	struct finding *f;

	if (!predicted)
		return;
	f = findings_add(out, "gdr", same ? FINDING_OK : FINDING_FAIL);
	set_subject(f, gpu);
	finding_set_value(f, "predicted %s, %zu connections with GPUDirect RDMA and %zu without",
			  sends      ? "on"
			  : receives ? "on for received data only"
				     : "off",
			  gdr, no_gdr);
	if (same)
		return;
	finding_set_reason(f, more ? "NCCL can do more than the prediction says"
				   : "data goes through the memory of the host");
	finding_set_remedy(f, more ? "report it with this log and \"railctl topo capture\""
				   : "run \"railctl topo check\" on that machine");
}

/* The devices of the process are HCAs of NCCL's own code. */
static bool uses_hcas(const struct nccl_log_process *p)
{
	return !p->network.p || slice_begins(p->network, "IB");
}

static bool check_gpu(const struct verify_input *in, const struct nccl_log_gpu *g,
		      struct findings *out)
{
	const struct json *gpu = g->has_addr ? find_gpu(in->machine, g->addr) : NULL;
	char bdf[PCI_STR_LEN];
	struct finding *f;

	if (!g->nets)
		return false;
	if (!uses_hcas(&in->log->process[g->process]))
		return true;
	if (gpu) {
		check_nets(in, g, gpu, out);
		check_gdr(g, gpu, out);
		return true;
	}
	f = findings_add(out, "gpu", g->has_addr ? FINDING_FAIL : FINDING_UNKNOWN);
	if (g->has_addr)
		finding_set_value(f, "%s", pci_format(g->addr, bdf));
	finding_set_reason(f, g->has_addr ? "this machine has no such GPU"
					  : "the log does not say which GPU a process has");
	finding_set_remedy(f, g->has_addr ? "give the log and the capture of one machine"
					  : "log with NCCL_DEBUG=INFO from the start of the job");
	return true;
}

/* ---- a process ---- */

/* For "%.*s": a value of the log is shown up to this length. */
static int width_of(struct slice s)
{
	return (int)(s.len < 200 ? s.len : 200);
}

static bool has_hcas(const struct json *machine)
{
	json_each (it, json_get(machine, "gpus")) {
		struct names all = predicted_for(it, "local");

		if (all.len)
			return true;
	}
	return false;
}

void topo_verify_network(const struct json *machine, struct slice network, struct findings *out)
{
	bool expected = slice_is(network, "Socket") && !has_hcas(machine);
	struct finding *f = findings_add(out, "network", expected ? FINDING_OK : FINDING_FAIL);

	finding_set_value(f, "NCCL uses %.*s%s", width_of(network), network.p,
			  expected ? ", as predicted: there is no HCA" : "");
	if (expected)
		return;
	finding_set_reason(f, "it does not use HCAs by its own code, so the prediction does not "
			      "apply");
	finding_set_remedy(f, "see \"NET/IB\" in the log: no HCA was found, or a plugin replaces "
			      "it");
}

static int verify_read_version(struct slice text, struct lib_version *out)
{
	char copy[LIB_VERSION_LEN];

	(void)snprintf(copy, sizeof(copy), "%.*s", width_of(text), text.p ? text.p : "");
	return lib_version_parse(copy, out);
}

bool topo_verify_version(const struct nccl_log *log, const char *host, struct lib_version *out,
			 bool *rccl)
{
	const struct nccl_log_process *found = NULL;
	struct lib_version v;

	for (size_t i = 0; i < log->n_processes; i++) {
		const struct nccl_log_process *p = &log->process[i];
		bool own = !host || slice_is(p->host, host);

		if ((found && !own) || verify_read_version(p->version, &v))
			continue;
		found = p;
		*out = v;
		*rccl = p->rccl;
		if (own)
			break;
	}
	/* A line without a host is of some process. */
	if (!found && !verify_read_version(log->version, out)) {
		*rccl = false;
		return true;
	}
	return found != NULL;
}

/* Versions with the same rules choose alike. One that cannot be read may have any. */
static bool has_same_rules(const struct nccl_log_process *p, const struct verify_input *in)
{
	bool (*holds)(enum lib_rule, struct lib_version) =
		in->rccl ? lib_rule_in_rccl : lib_rule_holds;
	struct lib_version v;

	if (verify_read_version(p->version, &v) || p->rccl != in->rccl)
		return false;
	/* NCCL has none of the rules of RCCL alone */
	for (int i = 0; i < (in->rccl ? UCX_HAS_SUBNETS : RCCL_SPREADS_BY_PLACE); i++)
		if (holds((enum lib_rule)i, v) != holds((enum lib_rule)i, in->rules))
			return false;
	return true;
}

static void check_version(const struct nccl_log_process *p, const struct verify_input *in,
			  struct findings *out)
{
	char rules[LIB_VERSION_LEN];
	struct finding *f;

	if (has_same_rules(p, in))
		return;
	f = findings_add(out, "version", FINDING_UNKNOWN);
	finding_set_value(f, "%s %.*s", p->rccl ? "RCCL" : "NCCL", width_of(p->version),
			  p->version.p);
	finding_set_reason(f, "the rules of the prediction are those of %s %s",
			   in->rccl ? "RCCL" : "NCCL", lib_version_format(in->rules, rules));
	finding_set_remedy(f, "give the version of the job by --nccl-version, and --rccl if it is "
			      "of RCCL; nothing, if the devices are as predicted");
}

/* ---- settings ---- */

#define TOPO_FILE "NCCL_TOPO_FILE"

/* Those of --set. */
static const char *const deciding[] = {
	"NCCL_NETDEVS_POLICY",
	"NCCL_NET_GDR_LEVEL",
	"NCCL_IB_MERGE_VFS",
	"NCCL_PXN_DISABLE",
	"NCCL_IB_MERGE_NICS",
	"NCCL_NET_MERGE_LEVEL",
	"NCCL_NET_FORCE_MERGE",
	"NCCL_NET_GDR_C2C",
	"NCCL_NET_MERGE_POLICY",
	"NCCL_NET_GDR_READ",
	"NCCL_IB_DATA_DIRECT",
	"NCCL_IB_HCA",
	TOPO_FILE,
};

static bool is_assumed(const struct verify_input *in, const struct nccl_log_set *s)
{
	for (size_t i = 0; i < in->n_assumed; i++) {
		struct slice text = { in->assumed[i], strlen(in->assumed[i]) };

		struct slice name;

		if (slice_next(&text, '=', &name) && slice_same(name, s->name) &&
		    slice_same(text, s->value))
			return true;
	}
	return false;
}

static void verify_check_setting(const struct verify_input *in, const struct nccl_log_set *s,
				 struct findings *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(deciding); i++) {
		struct finding *f;
		int width = width_of(s->value);

		if (!slice_is(s->name, deciding[i]) || is_assumed(in, s))
			continue;
		f = findings_add(out, "setting", FINDING_WARN);
		finding_set_value(f, "%s=%.*s", deciding[i], width, s->value.p);
		finding_set_reason(
			f, "the job has this setting, and the prediction may not assume it");
		if (slice_is(s->name, TOPO_FILE))
			finding_set_remedy(f, "give that file by --nccl-xml, and add --set %s=%.*s",
					   TOPO_FILE, width, s->value.p);
		else
			finding_set_remedy(f, "add --set %s=%.*s", deciding[i], width, s->value.p);
	}
}

/* ---- all ---- */

static bool is_of_host(const struct verify_input *in, uint32_t process)
{
	return !in->host || slice_is(in->log->process[process].host, in->host);
}

/* A network or version that several processes have is one finding. */
static void check_processes(const struct verify_input *in, struct findings *out)
{
	const struct nccl_log_process *all = in->log->process;
	size_t i, j;

	for (i = 0; i < in->log->n_processes; i++) {
		bool network = all[i].network.p && !uses_hcas(&all[i]), version = all[i].version.p;

		if (!is_of_host(in, (uint32_t)i))
			continue;
		for (j = 0; j < i; j++) {
			network &= !is_of_host(in, (uint32_t)j) ||
				   !slice_same(all[j].network, all[i].network);
			version &= !is_of_host(in, (uint32_t)j) ||
				   !slice_same(all[j].version, all[i].version);
		}
		if (network)
			topo_verify_network(in->machine, all[i].network, out);
		if (version)
			check_version(&all[i], in, out);
	}
}

/* Other HCAs are unknown, not a failure, where the prediction has no GPUDirect RDMA. */
static bool has_difference(const struct findings *all)
{
	for (size_t i = 0; i < all->n; i++) {
		const struct finding *f = &all->item[i];

		if (f->state == FINDING_FAIL ||
		    (f->state == FINDING_UNKNOWN && strcmp(f->id, "net") == 0))
			return true;
	}
	return false;
}

int topo_verify(const struct verify_input *in, struct findings *out, struct err *e)
{
	bool any = false;

	for (size_t i = 0; i < in->log->n_gpus; i++)
		if (is_of_host(in, in->log->gpu[i].process))
			any |= check_gpu(in, &in->log->gpu[i], out);
	check_processes(in, out);
	bool differs = has_difference(out);

	/* Settings explain a difference. Without a difference the prediction assumed the right
	 * ones. */
	for (size_t i = 0; i < in->log->n_sets && differs; i++)
		verify_check_setting(in, &in->log->set[i], out);
	if (!any) {
		struct finding *f = findings_add(out, "connections", FINDING_UNKNOWN);

		finding_set_reason(f, "the log has no connection to another node");
		finding_set_remedy(f, "run the job on two nodes with NCCL_DEBUG=INFO and without "
				      "NCCL_DEBUG_SUBSYS");
	}
	return findings_check(out, e) || findings_sort(out, e) ? -1 : 0;
}
