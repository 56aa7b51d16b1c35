/* SPDX-License-Identifier: Apache-2.0 */
/* The JSON of docs/topo.schema.json. An unknown value is null. Versions add keys and change none.
 */
#include <math.h>

#include "topo/output/show_priv.h"

#define VERSION 1

/* ---- pieces ---- */

static int add_number_or_null(struct json *o, const char *key, int64_t n)
{
	return n < 0 ? json_add_null(o, key) : json_add_int(o, key, n);
}

static int64_t show_json_index_of(uint32_t i)
{
	return i == TOPO_NONE ? -1 : (int64_t)i;
}

static int add_tristate(struct json *o, const char *key, enum topo_tristate t)
{
	return t == TOPO_UNKNOWN ? json_add_null(o, key) : json_add_bool(o, key, t == TOPO_YES);
}

/* Converts 100 Mbit/s to Gbit/s. */
static int add_gbps(struct json *o, const char *key, uint32_t bw)
{
	return json_add_num(o, key, bw ? bw / 10.0 : NAN);
}

static int show_json_add_names(struct json *o, const char *key, const struct topo_machine *m,
			       const uint32_t *hca, size_t n)
{
	struct json *list = json_add_array(o, key);

	if (!list)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (json_push_str(list, m->hca[hca[i]].name))
			return -1;
	return 0;
}

static int show_json_add_nets(struct json *o, const char *key, const struct topo_view *v,
			      const uint32_t *net, size_t n)
{
	char name[NCCL_NET_NAME_LEN];
	struct json *list = json_add_array(o, key);

	if (!list)
		return -1;
	for (size_t i = 0; i < n; i++)
		if (json_push_str(list, nccl_net_name(v->m, &v->nccl->net[net[i]], name)))
			return -1;
	return 0;
}

/* ---- GPUs ---- */

static int add_distance(struct json *o, const struct topo_distance *r)
{
	bool known = r->class != TOPO_CLASS_UNKNOWN;

	return json_add_or_null(o, "class", known ? topo_class_name(r->class) : NULL) ||
			       (known ? json_add_int(o, "switches", r->switches)
				      : json_add_null(o, "switches")) ||
			       add_gbps(o, "bandwidth_gbps", r->max_bw) ||
			       add_gbps(o, "bandwidth_now_gbps", r->cur_bw)
		       ? -1
		       : 0;
}

static int add_gpu_hcas(struct json *gpu, const struct topo_view *v, size_t g)
{
	struct json *list = json_add_array(gpu, "hcas");
	struct topo_distance r;
	char bdf[PCI_STR_LEN];

	if (!list)
		return -1;
	for (size_t h = 0; h < v->m->n_hcas; h++) {
		if (!show_has_hca(v, h))
			continue;
		struct json *o = json_push_object(list);
		topo_distance_to_hca(v->m, (uint32_t)g, (uint32_t)h, &r);
		if (!o || json_add_str(o, "name", v->m->hca[h].name) ||
		    json_add_or_null(o, "bdf", show_hca_bdf(v->m, h, bdf)) || add_distance(o, &r))
			return -1;
		/* only if chips and visible bridges differ */
		if ((r.collapsed && json_add_bool(o, "collapsed", true)) ||
		    (r.probable && json_add_bool(o, "probably_one_switch", true)) ||
		    (r.own_bridge && json_add_bool(o, "own_bridge", true)) ||
		    (r.direct && json_add_bool(o, "data_direct", true)))
			return -1;
	}
	return 0;
}

/* Only if there are any. */
static int add_slower_nets(struct json *o, const struct topo_view *v, const struct nccl_gpu *n)
{
	auto_free uint32_t *net = calloc(v->nccl->n_nets + 1, sizeof(*net));
	size_t count = 0;

	if (!net)
		return -1;
	for (uint32_t i = 0; i < v->nccl->n_nets; i++)
		if (nccl_is_slower(n, i))
			net[count++] = i;
	return count ? show_json_add_nets(o, "slower", v, net, count) : 0;
}

static int add_nccl(struct json *gpu, const struct topo_view *v, size_t g)
{
	const struct nccl_gpu *n = &v->nccl->gpu[g];
	struct json *o;

	if (!n->in)
		return json_add_null(gpu, "nccl");
	o = json_add_object(gpu, "nccl");
	if (!o || show_json_add_nets(o, "local", v, n->local, n->n_local) ||
	    add_slower_nets(o, v, n))
		return -1;
	if (n->type == NCCL_DIS ? json_add_null(o, "class") || json_add_null(o, "bandwidth_gBps") ||
					  json_add_null(o, "gdr")
				: json_add_str(o, "class", nccl_path_name(n->type)) ||
					  json_add_num(o, "bandwidth_gBps", n->bw) ||
					  json_add_bool(o, "gdr", n->gdr))
		return -1;
	if (n->gdr_write && !n->gdr && json_add_bool(o, "gdr_receive", true))
		return -1;
	if (nccl_is_uncertain(v->nccl, g) &&
	    json_add_str(o, "uncertain", v->nccl->ranks_differ ? "ranks" : "gdr-off"))
		return -1;
	return show_json_add_nets(o, "channels", v, n->channel, n->n_channels);
}

static int add_comparison(struct json *gpu, const struct compare_gpu *d)
{
	struct json *o;

	if (!d->text)
		return json_add_null(gpu, "differs");
	o = json_add_object(gpu, "differs");
	return !o || json_add_str(o, "verdict", compare_verdict_name(d->verdict)) ||
			       json_add_or_null(o, "cause", compare_cause_id(d->cause)) ||
			       json_add_str(o, "text", d->text) ||
			       json_add_or_null(o, "setting", d->setting)
		       ? -1
		       : 0;
}

static const char *vendor_name(enum topo_vendor v)
{
	switch (v) {
	case TOPO_NVIDIA:
		return "nvidia";
	case TOPO_AMD:
		return "amd";
	case TOPO_GAUDI:
		return "gaudi";
	case TOPO_ASCEND:
		return "ascend";
	case TOPO_OTHER:
		break;
	}
	return NULL;
}

static int add_choice(struct json *o, const struct topo_view *v, size_t g)
{
	const struct topo_gpu_choice *c = &v->choice->gpu[g];
	const char *assigned = c->assigned == TOPO_NONE ? NULL : v->m->hca[c->assigned].name;

	return show_json_add_names(o, "nearest", v->m, c->nearest, c->n_nearest) ||
			       json_add_or_null(o, "assigned", assigned) ||
			       show_json_add_names(o, "share", v->m, c->share, c->n_share) ||
			       json_add_or_null(o, "why_none", c->why_none)
		       ? -1
		       : 0;
}

/* The links between GPU and CPU of one package; null: none are known. */
static int show_json_add_c2c(struct json *gpu, const struct topo_gpu *g)
{
	struct json *o;

	if (!g->c2c_count || !g->c2c_mbps)
		return json_add_null(gpu, "c2c");
	o = json_add_object(gpu, "c2c");
	return !o || json_add_num(o, "bandwidth_gBps", (double)g->c2c_mbps * g->c2c_count / 1000) ||
			       json_add_str(o, "from", g->c2c_from)
		       ? -1
		       : 0;
}

static int show_json_add_gpu(struct json *list, const struct topo_view *v, size_t g)
{
	const struct topo_gpu *gpu = &v->m->gpu[g];
	struct json *o = json_push_object(list);
	char bdf[PCI_STR_LEN];

	if (!o || json_add_int(o, "index", gpu->index) ||
	    json_add_str(o, "bdf", show_gpu_bdf(v->m, g, bdf)) ||
	    add_number_or_null(o, "numa", topo_numa(v->m, gpu->pci)) ||
	    json_add_or_null(o, "vendor", vendor_name(gpu->vendor)) ||
	    json_add_bool(o, "on_package", gpu->on_package) || show_json_add_c2c(o, gpu) ||
	    add_gpu_hcas(o, v, g) || add_choice(o, v, g) || add_nccl(o, v, g) ||
	    add_comparison(o, &v->differ->gpu[g]))
		return -1;
	return v->findings ? json_add_str(o, "ready",
					  finding_state_name(gdr_worst(v->findings, (uint32_t)g)))
			   : json_add_null(o, "ready");
}

/* ---- HCAs ---- */

static const char *kind_name(enum topo_hca_kind k)
{
	switch (k) {
	case TOPO_HCA_PF:
		return "pf";
	case TOPO_HCA_VF:
		return "vf";
	case TOPO_HCA_SF:
		return "sf";
	case TOPO_HCA_BOND:
		return "bond";
	case TOPO_HCA_SOFTWARE:
		return "software";
	case TOPO_HCA_SMI:
		return "smi";
	case TOPO_HCA_NVSWITCH:
		return "nvswitch";
	}
	return NULL;
}

static const char *role_name(enum topo_role r)
{
	switch (r) {
	case TOPO_COMPUTE:
		return "compute";
	case TOPO_STORAGE:
		return "storage";
	case TOPO_MANAGEMENT:
		return "management";
	case TOPO_ROLE_UNKNOWN:
		break;
	}
	return NULL;
}

static const char *layer_name(enum topo_layer l)
{
	switch (l) {
	case TOPO_ETHERNET:
		return "Ethernet";
	case TOPO_INFINIBAND:
		return "InfiniBand";
	case TOPO_LAYER_UNKNOWN:
		break;
	}
	return NULL;
}

static int show_json_add_ports(struct json *o, const struct topo_hca *h)
{
	struct json *list = json_add_array(o, "ports");

	if (!list)
		return -1;
	for (size_t i = 0; i < h->n_ports; i++) {
		const struct topo_port *p = &h->port[i];
		struct json *port = json_push_object(list);

		if (!port || json_add_int(port, "port", p->port) ||
		    add_tristate(port, "active", p->active) ||
		    json_add_or_null(port, "layer", layer_name(p->layer)) ||
		    add_number_or_null(port, "rate_mbps",
				       p->rate_mbps ? (int64_t)p->rate_mbps : -1) ||
		    json_add_or_null(port, "ifname", p->netdev))
			return -1;
	}
	return 0;
}

static int add_place(struct json *o, const struct topo_view *v, size_t h)
{
	const struct topo_hca *hca = &v->m->hca[h];
	uint32_t pf = hca->pci == TOPO_NONE ? TOPO_NONE : v->m->pci[hca->pci].physfn;
	char bdf[PCI_STR_LEN], pf_bdf[PCI_STR_LEN], second[PCI_STR_LEN], direct[PCI_STR_LEN];

	if (pf != TOPO_NONE)
		pci_format(v->m->pci[pf].addr, pf_bdf);
	if (hca->second != TOPO_NONE)
		pci_format(v->m->pci[hca->second].addr, second);
	if (hca->direct != TOPO_NONE)
		pci_format(v->m->pci[hca->direct].addr, direct);
	return json_add_or_null(o, "bdf", show_hca_bdf(v->m, h, bdf)) ||
			       json_add_or_null(o, "pf", pf == TOPO_NONE ? NULL : pf_bdf) ||
			       json_add_or_null(o, "second",
						hca->second == TOPO_NONE ? NULL : second) ||
			       json_add_or_null(o, "data_direct",
						hca->direct == TOPO_NONE ? NULL : direct) ||
			       (hca->direct_proved &&
				json_add_bool(o, "data_direct_proved", true)) ||
			       add_number_or_null(o, "numa", topo_numa(v->m, hca->pci))
		       ? -1
		       : 0;
}

static int show_json_add_hca(struct json *list, const struct topo_view *v, size_t h)
{
	const struct topo_hca *hca = &v->m->hca[h];
	struct json *o = json_push_object(list);

	return !o || json_add_str(o, "name", hca->name) || add_place(o, v, h) ||
			       json_add_or_null(o, "kind", kind_name(hca->kind)) ||
			       add_number_or_null(o, "card", show_json_index_of(hca->card)) ||
			       json_add_or_null(o, "role", role_name(hca->role)) ||
			       json_add_or_null(o, "rule", hca->rule) ||
			       add_number_or_null(o, "rail",
						  show_json_index_of(v->choice->rail[h])) ||
			       json_add_bool(o, "usable", topo_usable(hca)) ||
			       json_add_bool(o, "considered", show_has_hca(v, h)) ||
			       show_json_add_ports(o, hca)
		       ? -1
		       : 0;
}

/* ---- findings ---- */

static int add_finding(struct json *list, const struct topo_view *v, const struct finding *f)
{
	uint32_t gpu = f->of[GDR_OF_GPU], hca = f->of[GDR_OF_HCA];
	struct json *o = json_push_object(list);
	char bdf[PCI_STR_LEN];

	return !o || json_add_str(o, "check", f->id) ||
			       json_add_str(o, "state", finding_state_name(f->state)) ||
			       json_add_or_null(o, "gpu",
						gpu == TOPO_NONE ? NULL
								 : show_gpu_bdf(v->m, gpu, bdf)) ||
			       json_add_or_null(o, "hca",
						hca == TOPO_NONE ? NULL : v->m->hca[hca].name) ||
			       json_add_or_null(o, "path", f->path) ||
			       json_add_or_null(o, "value", f->value) ||
			       json_add_or_null(o, "consequence", f->reason) ||
			       json_add_or_null(o, "remedy", f->remedy)
		       ? -1
		       : 0;
}

static int show_json_add_findings(struct json *list, const struct topo_view *v)
{
	if (!list)
		return -1;
	for (size_t i = 0; v->findings && i < v->findings->all.n; i++)
		if (add_finding(list, v, &v->findings->all.item[i]))
			return -1;
	return 0;
}

struct json *show_findings_json(const struct topo_view *v)
{
	auto_json struct json *list = json_new_array();

	if (show_json_add_findings(list, v))
		return NULL;
	return TAKE_PTR(list);
}

/* ---- the whole ---- */

static const char *source_name(enum topo_source s)
{
	switch (s) {
	case TOPO_LIVE:
	case TOPO_CAPTURE: /* which gives the same answers, to the byte */
		return "sysfs";
	case TOPO_NCCL_XML:
		return "nccl-xml";
	case TOPO_RCCL_XML:
		return "rccl-xml";
	}
	return NULL;
}

static int add_source(struct json *o, const struct topo_view *v)
{
	struct json *source = json_add_object(o, "source"), *notes;
	const struct topo_machine *m = v->m;

	if (!source || json_add_or_null(source, "kind", source_name(m->source)) ||
	    add_tristate(source, "vm", m->vm) || add_tristate(source, "hyperv", m->hyperv) ||
	    json_add_bool(source, "full_config", m->full_config))
		return -1;
	notes = json_add_array(source, "notes");
	if (!notes)
		return -1;
	for (size_t i = 0; i < m->n_notes; i++)
		if (json_push_str(notes, m->note[i]))
			return -1;
	return 0;
}

/* For all GPUs in scope together. */
static int add_advice(struct json *o, const struct comparison *d)
{
	struct json *advice;

	if (!d->text)
		return json_add_null(o, "advice");
	advice = json_add_object(o, "advice");
	return !advice || json_add_str(advice, "text", d->text) ||
			       json_add_or_null(advice, "setting", d->setting)
		       ? -1
		       : 0;
}

struct json *show_json(const struct topo_view *v)
{
	auto_json struct json *o = json_new_object();
	struct json *gpus, *hcas;

	if (!o || json_add_int(o, "version", VERSION) || add_source(o, v))
		return NULL;
	gpus = json_add_array(o, "gpus");
	for (size_t g = 0; g < v->m->n_gpus; g++)
		if (!gpus || (show_has_gpu(v, g) && show_json_add_gpu(gpus, v, g)))
			return NULL;
	hcas = gpus ? json_add_array(o, "hcas") : NULL;
	for (size_t h = 0; h < v->m->n_hcas; h++)
		if (!hcas || show_json_add_hca(hcas, v, h))
			return NULL;
	if (!hcas || show_json_add_findings(json_add_array(o, "findings"), v) ||
	    add_advice(o, v->differ))
		return NULL;
	return TAKE_PTR(o);
}
