/* SPDX-License-Identifier: Apache-2.0 */
/* dra.c: the objects of each rail. */
#include <stdio.h>

#include "topo/output/dra_priv.h"

#define RESOURCE_API "resource.k8s.io/v1"
#define SRIOV_DRIVER "sriovnetwork.k8snetworkplumbingwg.io"
#define SRIOV_API    SRIOV_DRIVER "/v1alpha1"
#define RAIL_LABEL   "railhead.io/rail"
#define PCIE_ROOT    "resource.kubernetes.io/pcieRoot"

/* An expression of a DeviceClass has at most 10 KiB; an address with quotes and comma has up to 22.
 */
#define ADDRESSES_MAX 400

#define NAME_LEN 32

/* The names of a rail's objects: "dranet-rail0". The network of a rail is "rail0". */
static char *object_name(enum dra_driver driver, uint32_t rail, char out[NAME_LEN])
{
	(void)snprintf(out, NAME_LEN, "%s-rail%u", driver == DRA_SRIOV ? "sriov" : "dranet", rail);
	return out;
}

static char *rail_name(uint32_t rail, char out[NAME_LEN])
{
	(void)snprintf(out, NAME_LEN, "rail%u", rail);
	return out;
}

/* ---- parts ---- */

/* An object with its metadata; *meta and *spec are in it. */
struct object {
	struct json *meta, *spec;
};

static int dra_add_object(struct json *items, const char *api, const char *kind, const char *name,
			  struct object *out)
{
	struct json *o = json_push_object(items);

	*out = (struct object){ NULL, NULL };
	if (!o || json_add_str(o, "apiVersion", api) || json_add_str(o, "kind", kind))
		return -1;
	out->meta = json_add_object(o, "metadata");
	out->spec = json_add_object(o, "spec");
	return out->meta && out->spec ? json_add_str(out->meta, "name", name) : -1;
}

static int label_rail(struct json *meta, uint32_t rail)
{
	struct json *labels = json_add_object(meta, "labels");
	char number[12];

	(void)snprintf(number, sizeof(number), "%u", rail);
	return labels ? json_add_str(labels, RAIL_LABEL, number) : -1;
}

static int dra_add_selector(struct json *of, const char *expression)
{
	struct json *list = json_add_array(of, "selectors");
	struct json *item = list ? json_push_object(list) : NULL;
	struct json *cel = item ? json_add_object(item, "cel") : NULL;

	return cel && expression ? json_add_str(cel, "expression", expression) : -1;
}

static void dra_add_addresses(struct text *t, const struct topo_machine *m, const uint32_t *pci,
			      size_t n)
{
	char bdf[PCI_STR_LEN];

	text_add(t, "[");
	for (size_t i = 0; i < n; i++)
		text_addf(t, "%s'%s'", i ? ", " : "", pci_format(m->pci[pci[i]].addr, bdf));
	text_add(t, "]");
}

/* ---- DeviceClass ---- */

/* An attribute that a device lacks is an error of the expression, and the scheduler would refuse
 * the node: has() comes first. */
static void select_dranet(struct text *t, const struct topo_machine *m, const struct dra_rail *r)
{
#define ATTRIBUTE "device.attributes['dra.net']."
	text_add(t, "device.driver == 'dra.net' && has(" ATTRIBUTE "rdma) && " ATTRIBUTE
		    "rdma && has(" ATTRIBUTE "pciAddress) && " ATTRIBUTE "pciAddress in ");
#undef ATTRIBUTE
	if (r->n_vf)
		dra_add_addresses(t, m, r->vf, r->n_vf);
	else
		dra_add_addresses(t, m, r->pf, r->n_pf);
}

static void select_sriov(struct text *t, const struct dra_rail *r)
{
	text_addf(t,
		  "device.driver == '" SRIOV_DRIVER
		  "' && has(device.attributes['railhead.io'].rail) && "
		  "device.attributes['railhead.io'].rail == %u",
		  r->number);
}

/* How dra-driver-sriov configures the VF: by the network of the rail's name. */
static int configure_sriov(struct json *spec, const struct dra_rail *r)
{
	struct json *list = json_add_array(spec, "config");
	struct json *item = list ? json_push_object(list) : NULL;
	struct json *opaque = item ? json_add_object(item, "opaque") : NULL;
	struct json *p = opaque ? json_add_object(opaque, "parameters") : NULL;
	char name[NAME_LEN];

	return !p || json_add_str(opaque, "driver", SRIOV_DRIVER) ||
			       json_add_str(p, "apiVersion", SRIOV_API) ||
			       json_add_str(p, "kind", "VfConfig") ||
			       json_add_str(p, "netAttachDefName", rail_name(r->number, name))
		       ? -1
		       : 0;
}

static int add_class(struct json *items, const struct dra_input *in, enum dra_driver driver,
		     const struct dra_rail *r)
{
	auto_text struct text t = { 0 };
	auto_free char *expression = NULL;
	char name[NAME_LEN];
	struct object o;

	if (driver == DRA_SRIOV)
		select_sriov(&t, r);
	else
		select_dranet(&t, in->m, r);
	expression = text_take(&t);
	return dra_add_object(items, RESOURCE_API, "DeviceClass",
			      object_name(driver, r->number, name), &o) ||
			       label_rail(o.meta, r->number) ||
			       dra_add_selector(o.spec, expression) ||
			       (driver == DRA_SRIOV && configure_sriov(o.spec, r))
		       ? -1
		       : 0;
}

/* ---- ResourceClaimTemplate ---- */

/* The DeviceClass of the vendor's driver; NULL: no such driver is known here. */
static const char *gpu_class(const struct topo_machine *m, const struct dra_rail *r)
{
	enum topo_vendor vendor = r->n_gpus ? m->gpu[r->gpu[0]].vendor : TOPO_OTHER;

	switch (vendor) {
	case TOPO_NVIDIA:
		return "gpu.nvidia.com";
	case TOPO_AMD:
		return "gpu.amd.com";
	case TOPO_GAUDI:
	case TOPO_ASCEND:
	case TOPO_OTHER:
		break;
	}
	return NULL;
}

static struct json *add_request(struct json *requests, const char *name, const char *class)
{
	struct json *o = json_push_object(requests);
	struct json *exactly = NULL;

	if (o && !json_add_str(o, "name", name))
		exactly = json_add_object(o, "exactly");
	return exactly && !json_add_str(exactly, "deviceClassName", class) ? exactly : NULL;
}

#define BUS_ID "device.attributes['resource.kubernetes.io'].pciBusID"

static int name_gpus(struct json *request, const struct topo_machine *m, const struct dra_rail *r)
{
	auto_text struct text t = { 0 };
	auto_free char *expression = NULL;
	char bdf[PCI_STR_LEN];

	text_add(&t, "has(" BUS_ID ") && " BUS_ID " in [");
	for (size_t i = 0; i < r->n_gpus; i++)
		text_addf(&t, "%s'%s'", i ? ", " : "",
			  pci_format(m->pci[m->gpu[r->gpu[i]].pci].addr, bdf));
	text_add(&t, "]");
	expression = text_take(&t);
	return dra_add_selector(request, expression);
}

static int match_roots(struct json *devices)
{
	struct json *list = json_add_array(devices, "constraints");
	struct json *c = list ? json_push_object(list) : NULL;
	struct json *of = c ? json_add_array(c, "requests") : NULL;

	return !of || json_push_str(of, "gpu") || json_push_str(of, "nic") ||
			       json_add_str(c, "matchAttribute", PCIE_ROOT)
		       ? -1
		       : 0;
}

static int dra_annotate(struct json *meta, const struct dra_input *in, const struct dra_rail *r)
{
	struct json *notes = json_add_object(meta, "annotations");
	auto_text struct text t = { 0 };
	auto_free char *note = NULL;

	if (r->n_gpus && !gpu_class(in->m, r))
		text_add(&t, "The driver of these GPUs is not known here, so the claim has none: "
			     "add a request.");
	else
		dra_rail_note(in, r, &t);
	note = text_take(&t);
	return notes && note ? json_add_str(notes, "railhead.io/note", note) : -1;
}

static int add_template(struct json *items, const struct dra_input *in, enum dra_driver driver,
			const struct dra_rail *r)
{
	const char *class = gpu_class(in->m, r);
	struct json *spec, *devices, *requests, *gpu;
	char name[NAME_LEN];
	struct object o;

	object_name(driver, r->number, name);
	if (dra_add_object(items, RESOURCE_API, "ResourceClaimTemplate", name, &o) ||
	    label_rail(o.meta, r->number) || dra_annotate(o.meta, in, r))
		return -1;
	spec = json_add_object(o.spec, "spec");
	devices = spec ? json_add_object(spec, "devices") : NULL;
	requests = devices ? json_add_array(devices, "requests") : NULL;
	if (!requests)
		return -1;
	if (class) {
		gpu = add_request(requests, "gpu", class);
		if (!gpu || (!r->match_root && name_gpus(gpu, in->m, r)))
			return -1;
	}
	if (!add_request(requests, "nic", name))
		return -1;
	return class && r->match_root ? match_roots(devices) : 0;
}

/* ---- what dra-driver-sriov needs besides ---- */

/* The VFs of the rail get railhead.io/rail, and the name by which Multus finds them. */
static int add_attributes(struct json *items, const struct dra_rail *r)
{
	struct json *all, *rail, *resource;
	char name[NAME_LEN];
	struct object o;

	rail_name(r->number, name);
	if (dra_add_object(items, SRIOV_API, "DeviceAttributes", name, &o) ||
	    label_rail(o.meta, r->number))
		return -1;
	all = json_add_object(o.spec, "attributes");
	rail = all ? json_add_object(all, RAIL_LABEL) : NULL;
	resource = all ? json_add_object(all, "k8s.cni.cncf.io/resourceName") : NULL;
	return !rail || !resource || json_add_int(rail, "int", r->number) ||
			       json_add_str(resource, "string", name)
		       ? -1
		       : 0;
}

static int filter_pfs(struct json *filters, const struct topo_machine *m, const struct dra_rail *r)
{
	struct json *f = json_push_object(filters);
	struct json *list = f ? json_add_array(f, "pfPciAddresses") : NULL;
	char bdf[PCI_STR_LEN];

	for (size_t i = 0; list && i < r->n_pf; i++)
		if (json_push_str(list, pci_format(m->pci[r->pf[i]].addr, bdf)))
			return -1;
	return list ? 0 : -1;
}

/* VFs whose PF the machine does not show, as in a virtual machine. */
static int filter_alone(struct json *filters, const struct topo_machine *m,
			const struct dra_rail *r)
{
	struct json *f = json_push_object(filters);
	struct json *list = f ? json_add_array(f, "pciAddresses") : NULL;
	char bdf[PCI_STR_LEN];

	for (size_t i = 0; list && i < r->n_vf; i++)
		if (m->pci[r->vf[i]].physfn == TOPO_NONE &&
		    json_push_str(list, pci_format(m->pci[r->vf[i]].addr, bdf)))
			return -1;
	return list ? 0 : -1;
}

static int add_config(struct json *configs, const struct dra_input *in, const struct dra_rail *r)
{
	struct json *c = json_push_object(configs);
	struct json *selector = c ? json_add_object(c, "deviceAttributesSelector") : NULL;
	struct json *labels = selector ? json_add_object(selector, "matchLabels") : NULL;
	struct json *filters = c ? json_add_array(c, "resourceFilters") : NULL;
	char number[12];

	(void)snprintf(number, sizeof(number), "%u", r->number);
	if (!labels || !filters || json_add_str(labels, RAIL_LABEL, number))
		return -1;
	if (r->n_pf && filter_pfs(filters, in->m, r))
		return -1;
	return r->n_alone ? filter_alone(filters, in->m, r) : 0;
}

/* The policy is for nodes whose rails have the same addresses. */
static int select_nodes(struct json *spec, const char *nodes)
{
	struct json *selector = json_add_object(spec, "nodeSelector");
	struct json *terms = selector ? json_add_array(selector, "nodeSelectorTerms") : NULL;
	struct json *term = terms ? json_push_object(terms) : NULL;
	struct json *all = term ? json_add_array(term, "matchExpressions") : NULL;
	struct json *one = all ? json_push_object(all) : NULL;
	struct json *values;

	if (!one || json_add_str(one, "key", "railhead.io/rail-addresses") ||
	    json_add_str(one, "operator", "In"))
		return -1;
	values = json_add_array(one, "values");
	return values ? json_push_str(values, nodes) : -1;
}

/* *configs: where each rail adds its own. */
static int add_policy(struct json *items, const char *nodes, struct json **configs)
{
	char name[2 * NAME_LEN];
	struct object o;

	(void)snprintf(name, sizeof(name), "rails%s%s", nodes ? "-" : "", nodes ? nodes : "");
	if (dra_add_object(items, SRIOV_API, "SriovResourcePolicy", name, &o) ||
	    (nodes && select_nodes(o.spec, nodes)))
		return -1;
	*configs = json_add_array(o.spec, "configs");
	return *configs ? 0 : -1;
}

/* ---- all rails ---- */

static int dra_check_rail(const struct dra_rail *r, enum dra_driver driver, struct err *e)
{
	size_t n = r->n_vf ? r->n_vf : r->n_pf;

	if (driver != DRA_DRANET || n <= ADDRESSES_MAX)
		return 0;
	err_set(e, ERR_EXHAUSTED, 0, "rail %u has %zu VFs, and an expression has place for %d",
		r->number, n, ADDRESSES_MAX);
	return err_hint(e, "make fewer VFs, or use dra-driver-sriov: --dra sriov");
}

static int dra_add_rail(struct json *items, struct json *configs, const struct dra_input *in,
			enum dra_driver driver, const struct dra_rail *r)
{
	if (configs && (add_config(configs, in, r) || add_attributes(items, r)))
		return -1;
	return add_class(items, in, driver, r) || add_template(items, in, driver, r) ? -1 : 0;
}

int dra_objects(const struct dra_input *in, enum dra_driver driver, struct json **out,
		struct err *e)
{
	auto_json struct json *list = json_new_object();
	struct json *items = NULL, *configs = NULL;
	size_t n = 0;

	if (list && !json_add_str(list, "apiVersion", "v1") && !json_add_str(list, "kind", "List"))
		items = json_add_array(list, "items");
	if (!items || (driver == DRA_SRIOV && add_policy(items, in->nodes, &configs)))
		return err_nomem(e);
	for (uint32_t i = 0; i < in->choice->n_rails; i++) {
		auto_dra_rail struct dra_rail r = { 0 };

		if (dra_rail_fill(in, i, &r))
			return err_nomem(e);
		if (!r.n_pf && !r.n_vf)
			continue;
		if (dra_check_rail(&r, driver, e))
			return -1;
		if (dra_add_rail(items, configs, in, driver, &r))
			return err_nomem(e);
		n++;
	}
	if (!n) {
		err_set(e, ERR_NOTFOUND, 0, "there is no rail with a PCI function");
		return err_hint(e, "\"railctl topo\" shows GPUs and HCAs");
	}
	*out = TAKE_PTR(list);
	return 0;
}
