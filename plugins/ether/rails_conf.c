/* SPDX-License-Identifier: Apache-2.0 */
/* rails_conf.c: the keys of the plugin rails, and what each rail and the IPAM read in their place.
 */
#include <stdio.h>
#include <string.h>

#include "plugins/ether/links.h"
#include "plugins/ether/rails_priv.h"
#include "lib/json/case.h"
#include "plugins/ether/ipoib.h"
#include "plugins/sriov/attach.h"
#include "plugins/sriov/ib_attach.h"

#define NUMBER_MARK "{n}"

/* ---- keys ---- */

const struct attach_type *const rails_kinds[RAILS_KINDS] = {
	[RAILS_MACVLAN] = &link_macvlan, [RAILS_IPVLAN] = &link_ipvlan,
	[RAILS_SRIOV] = &sriov_type,     [RAILS_IB_SRIOV] = &ib_sriov_type,
	[RAILS_IPOIB] = &ipoib_type,
};

static const struct json_enum kinds[] = {
	{ "macvlan", RAILS_MACVLAN },   { "ipvlan", RAILS_IPVLAN }, { "sriov", RAILS_SRIOV },
	{ "ib-sriov", RAILS_IB_SRIOV }, { "ipoib", RAILS_IPOIB },   { NULL, 0 },
};

const struct attach_type *rails_kind_of(const struct json *config)
{
	const char *kind = json_text(config, "kind");

	for (size_t i = 0; i < RAILS_KINDS; i++)
		if (strcmp(kind, rails_kinds[i]->name) == 0)
			return rails_kinds[i];
	return NULL;
}

bool rails_moves(const struct json *config)
{
	const struct attach_type *type = rails_kind_of(config);

	return type && type->role == ATTACH_MOVES;
}

static const struct json_enum rdma_modes[] = {
	{ "exclusive", RAILS_RDMA_EXCLUSIVE },
	{ "shared", RAILS_RDMA_SHARED },
	{ NULL, 0 },
};

#define FIELD(k, m) .key = k, .offset = offsetof(struct rails_conf, m)

const struct json_field rails_fields[] = {
	{ "kind", J_ENUM, J_AT(struct rails_conf, kind), .flags = J_REQUIRED, .names = kinds },
	{ RAILS_KEY, J_ANY, J_AT(struct rails_conf, rails) },
	{ FIELD("rdma", rdma), .kind = J_ENUM, .names = rdma_modes },
	{ FIELD("deviceIDs", device_ids), .kind = J_ANY },
	{ FIELD("resource", resource), .kind = J_OBJECT },
	{ FIELD("resourceName", resource_name), .kind = J_STRING, .flags = J_EMPTY_OK },
	{ FIELD("deviceID", device_id), .kind = J_STRING, .flags = J_EMPTY_OK },
	{ FIELD("pciBusID", pci_bus_id), .kind = J_STRING, .flags = J_EMPTY_OK },
	{ "ifname", J_STRING, J_AT(struct rails_conf, ifname), .flags = J_EMPTY_OK },
	{ "min", J_U32, J_AT(struct rails_conf, min), .min = 1, .max = RAIL_LIST_MAX },
	{ 0 },
};

static int rails_conf_check_numbers(const struct json *list, struct err *e)
{
	uint64_t seen = 0;
	char shown[JSON_SHOW_LEN];

	if (!json_len(list) || json_len(list) > RAIL_LIST_MAX)
		return err_set(e, ERR_CONFIG, 0, RAILS_KEY ": must name 1 to %d rails",
			       RAIL_LIST_MAX);
	json_each (item, list) {
		double n = json_num(item);

		if (json_type(item) != JSON_NUMBER || n < 0 || n > RAIL_NUMBER_MAX ||
		    n != (uint32_t)n)
			return err_set(e, ERR_CONFIG, 0,
				       RAILS_KEY ": %s is not the number of a rail, 0 to %d",
				       json_show(item, shown), RAIL_NUMBER_MAX);
		if (seen >> (uint32_t)n & 1)
			return err_set(e, ERR_CONFIG, 0, RAILS_KEY ": %u is given twice",
				       (uint32_t)n);
		seen |= UINT64_C(1) << (uint32_t)n;
	}
	return 0;
}

static int ether_check_rails(const struct json *n, struct err *e)
{
	const char *text = json_str(n);
	char shown[JSON_SHOW_LEN];

	if (!n || (text && (!strcmp(text, "all") || !strcmp(text, "gpu"))))
		return 0;
	if (json_type(n) == JSON_ARRAY)
		return rails_conf_check_numbers(n, e);
	return err_set(e, text ? ERR_FIELD : ERR_DECODE, 0,
		       RAILS_KEY ": must be \"all\", \"gpu\" or a list of numbers, got %s",
		       json_show(n, shown));
}

/* The parts read the keys of their kind. */
static void note_keys(const struct json *tree, const struct attach_type *kind)
{
	for (const struct json_field *f = kind->fields; f->key; f++)
		(void)json_get(tree, f->key);
}

/* Empty optional strings count as absent. */
static bool rails_conf_is_there(const struct json *n)
{
	return n && !(json_str(n) && !*json_str(n));
}

#define OF(kind) (1u << (kind))
#define OF_VFS   (OF(RAILS_SRIOV) | OF(RAILS_IB_SRIOV))

/* Keys that only some kinds have. */
static int refuse_of_others(const struct json *tree, int kind, struct err *e)
{
	static const struct {
		const char *key;
		unsigned kinds;
		const char *shown;
	} of[] = {
		{ "vlan", OF(RAILS_SRIOV), "\"sriov\"" },
		{ "pkey", OF(RAILS_IB_SRIOV) | OF(RAILS_IPOIB), "\"ib-sriov\" and \"ipoib\"" },
		{ "deviceID", OF_VFS, "\"sriov\" and \"ib-sriov\"" },
		{ "deviceIDs", OF_VFS, "\"sriov\" and \"ib-sriov\"" },
		{ "pciBusID", OF_VFS, "\"sriov\" and \"ib-sriov\"" },
		{ "resource", OF_VFS, "\"sriov\" and \"ib-sriov\"" },
		{ "resourceName", OF_VFS, "\"sriov\" and \"ib-sriov\"" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(of); i++) {
		if (of[i].kinds & OF(kind) || !rails_conf_is_there(json_get(tree, of[i].key)))
			continue;
		err_set(e, ERR_CONFIG, 0, "%s: not with rails of kind \"%s\", only with %s",
			of[i].key, rails_kinds[kind]->name, of[i].shown);
		return strcmp(of[i].key, "deviceID") == 0
			       ? err_hint(e, "Multus writes it for a network with the annotation "
					     "k8s.v1.cni.cncf.io/resourceName")
			       : -1;
	}
	return 0;
}

/* Keys of ib-sriov that give one VF its GUID, and another word for "rdma". */
static int refuse_of_ib_sriov(const struct cni_conf *conf, struct err *e)
{
	if (json_get(conf->tree, "rdmaIsolation"))
		return err_set(e, ERR_CONFIG, 0,
			       "rdmaIsolation: not with rails: write \"rdma\": \"exclusive\"");
	if (!json_get(conf->tree, "ibKubernetesEnabled") &&
	    !json_get(conf->runtime, "infinibandGUID") && !json_get(conf->args_cni, "guid"))
		return 0;
	err_set(e, ERR_CONFIG, 0, "%s: not with rails: it is for one VF",
		json_get(conf->tree, "ibKubernetesEnabled") ? "ibKubernetesEnabled"
		: json_get(conf->runtime, "infinibandGUID") ? "runtimeConfig.infinibandGUID"
							    : "args.cni.guid");
	return err_hint(e, "\"guidFrom\": \"pod\" makes a GUID for each rail");
}

static int refuse_keys(const struct attach *a, int kind, struct err *e)
{
	const struct cni_conf *conf = &a->call->conf;

	if (refuse_of_others(conf->tree, kind, e) ||
	    (kind == RAILS_IB_SRIOV && refuse_of_ib_sriov(conf, e)))
		return -1;
	return json_get(conf->tree, "near") ? err_set(e, ERR_CONFIG, 0,
						      "near: not with rails: \"rails\": \"gpu\" "
						      "are those nearest to the "
						      "pod's GPUs")
					    : 0;
}

/* {"vlan": 120, "of": "rail"}: of each rail's own interface. */
#define OF_RAIL "rail"

static int check_demand(const struct json *config, struct err *e)
{
	const struct json *master = json_get(config, "master");

	const struct attach_type *kind = rails_kind_of(config);

	if (kind == &sriov_type)
		return err_set(e, ERR_CONFIG, 0,
			       "master: not with rails of kind \"sriov\": a VF has no master; "
			       "\"vlan\" is its VLAN");
	if (kind == &ib_sriov_type || kind == &ipoib_type)
		return err_set(e, ERR_CONFIG, 0,
			       "master: not with rails of kind \"%s\": InfiniBand has no VLANs; "
			       "\"pkey\" is its partition",
			       kind->name);
	if (json_get(master, "vlan") && !json_get(master, "name") &&
	    strcmp(json_text(master, "of"), OF_RAIL) == 0)
		return 0;
	return err_set(
		e, ERR_CONFIG, 0,
		"master: rails makes a VLAN on the interface of each rail, and nothing else: "
		"{\"vlan\": 120, \"of\": \"" OF_RAIL "\"}, without a name");
}

/* Keys of one interface, which several cannot have alike. */
static int refuse_single(struct attach *a, struct err *e)
{
	uint8_t mac[MAC_LEN];
	int rc;

	if (a->conf.master.on_demand && check_demand(a->call->conf.tree, e))
		return -1;
	if (a->conf.master.n && !a->conf.master.on_demand)
		return err_set(e, ERR_CONFIG, 0,
			       "master: \"%.64s\": not with rails, which are on the interfaces of "
			       "the node's rails",
			       a->conf.master.candidate[0].text);
	if (a->conf.in_container)
		return err_set(e, ERR_CONFIG, 0,
			       "linkInContainer: not with rails, which are on interfaces of the "
			       "host");
	rc = attach_choose_mac(a, json_text(a->call->conf.tree, "mac"), mac, e);
	if (rc <= 0)
		return rc;
	err_set(e, ERR_CONFIG, 0, "mac: a MAC address cannot be chosen for several interfaces");
	return err_hint(e, "\"macPrefix\" makes one of each address");
}

static int rails_conf_check_rdma(const struct rails_conf *c, struct err *e)
{
	if (c->rdma != RAILS_RDMA_EXCLUSIVE || OF_VFS & OF(c->kind))
		return 0;
	err_set(e, ERR_CONFIG, 0,
		"rdma: \"exclusive\": interfaces of kind \"%s\" share the RDMA device of their "
		"rail, which cannot move into one pod",
		rails_kinds[c->kind]->name);
	return err_hint(e, "write \"shared\", or use kind \"sriov\" or \"ib-sriov\"");
}

static int rails_conf_check_devices(const struct attach *a, struct rails_conf *c, struct err *e)
{
	struct rails_devices ignored;

	if (!(OF_VFS & OF(c->kind)))
		return 0;
	if (c->resource_name && c->resource)
		return err_set(e, ERR_CONFIG, 0,
			       "resourceName: \"%.128s\" and resource exclude each other: the "
			       "kubelet chooses the VFs, or the plugin",
			       c->resource_name);
	return rails_devices_read(a, c, &ignored, e);
}

/* Without a type there is no IPAM, so the pools would be ignored. */
static int check_ipam(const struct cni_conf *c, struct err *e)
{
	const struct json *one = json_get(c->ipam, "pool"), *many = json_get(c->ipam, "pools");

	if (!*c->ipam_type && (one || many))
		return err_set(e, ERR_CONFIG, 0,
			       "ipam.type: missing beside ipam.%s: write \"railhead-ipam\"",
			       one ? "pool" : "pools");
	if (!*c->ipam_type)
		return 0;
	if (strcmp(c->ipam_type, "railhead-ipam") != 0)
		return err_set(e, ERR_CONFIG, 0,
			       "ipam.type: \"%.64s\" gives one interface its addresses: rails "
			       "needs railhead-ipam",
			       c->ipam_type);
	if (!one && (!many || (json_type(many) == JSON_ARRAY && !json_len(many))))
		return err_set(e, ERR_CONFIG, 0,
			       "ipam.pool: missing; the addresses of rails come from named pools, "
			       "such as \"rail" NUMBER_MARK "\"");
	return 0;
}

int rails_validate(struct attach *a, struct err *e)
{
	struct rails_conf *c = (void *)a->state;
	const struct cni_conf *conf = &a->call->conf;

	note_keys(conf->tree, rails_kinds[c->kind]);
	if (cni_conf_check_keys(conf, false, e) || ether_check_rails(c->rails, e) ||
	    refuse_keys(a, c->kind, e) || refuse_single(a, e) || rails_conf_check_rdma(c, e) ||
	    rails_conf_check_devices(a, c, e) || check_ipam(conf, e))
		return -1;
	if (c->ifname && !strstr(c->ifname, NUMBER_MARK))
		return err_set(e, ERR_CONFIG, 0,
			       "ifname: \"%.64s\" has no " NUMBER_MARK
			       ", the number of the rail: all would have one name",
			       c->ifname);
	if (conf->version < CNI_030)
		return err_set(e, ERR_CONFIG, 0,
			       "cniVersion %s cannot describe several interfaces: write 0.3.1 or "
			       "later",
			       cni_version_name(conf->version));
	return 0;
}

/* ---- names ---- */

int rails_expand(const char *text, uint32_t number, char *out, size_t size)
{
	size_t used = 0;

	while (*text) {
		bool mark = strncmp(text, NUMBER_MARK, strlen(NUMBER_MARK)) == 0;
		int n = mark ? snprintf(out + used, size - used, "%u", number)
			     : snprintf(out + used, size - used, "%c", *text);

		if (n < 0 || (size_t)n >= size - used)
			return -1;
		used += (size_t)n;
		text += mark ? strlen(NUMBER_MARK) : 1;
	}
	out[used] = '\0';
	return 0;
}

int rails_name(const struct rails_names *names, size_t i, uint32_t number, char out[IFNAME_LEN],
	       struct err *e)
{
	const char *template = names->template;
	char text[64];
	int rc = template ? rails_expand(template, number, text, sizeof(text)) : 0;
	const char *problem;

	if (!template)
		(void)snprintf(text, sizeof(text), i ? "%.32sr%u" : "%.32s", names->ifname, number);
	problem = rc ? "it is too long" : ifname_problem(text);
	if (problem)
		return err_set(
			e, ERR_CONFIG, 0, "%s: the interface of rail %u would be \"%.32s\": %s",
			template ? "ifname" : "CNI_IFNAME", number, rc ? template : text, problem);
	(void)snprintf(out, IFNAME_LEN, "%.*s", IFNAME_LEN - 1, text);
	return 0;
}

/* ---- the IPAM ---- */

static int push_pool(struct json *list, const struct json *name, uint32_t number, struct err *e)
{
	char text[128], shown[JSON_SHOW_LEN];

	if (!json_str(name))
		return err_set(e, ERR_DECODE, 0, "ipam.%s, got %s",
			       json_key(name) ? "pool: must be a string"
					      : "pools: must have strings",
			       json_show(name, shown));
	if (rails_expand(json_str(name), number, text, sizeof(text)))
		return err_set(e, ERR_CONFIG, 0, "ipam.pool: \"%.64s\" is too long",
			       json_str(name));
	return json_push_str(list, text) ? err_nomem(e) : 0;
}

static int push_group(struct json *groups, const struct json *ipam, uint32_t number, struct err *e)
{
	const struct json *one = json_get(ipam, "pool"), *many = json_get(ipam, "pools");
	struct json *group = json_new_array();

	if (!group || json_push(groups, group))
		return err_nomem(e);
	if (many && !json_str(many) && json_type(many) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "ipam.pools: must be names or a pattern, got %s",
			       json_type_name(many));
	if ((one && push_pool(group, one, number, e)) ||
	    (json_str(many) && push_pool(group, many, number, e)))
		return -1;
	json_each (item, many)
		if (push_pool(group, item, number, e))
			return -1;
	return 0;
}

int rails_ipam(const struct json *config, const struct rails_made *made, char **text, size_t *len,
	       struct err *e)
{
	auto_json struct json *tree = json_dup(config), *groups = json_new_array();
	struct json *ipam;

	if (!tree || !groups)
		return err_nomem(e);
	json_fold_case(tree);
	ipam = json_get_mut(tree, "ipam");
	for (size_t i = 0; i < made->n; i++)
		if (push_group(groups, ipam, made->rail[i].number, e))
			return -1;
	json_del(ipam, "pool");
	if (json_put(ipam, "pools", TAKE_PTR(groups)))
		return err_nomem(e);
	*text = json_print(tree, false);
	if (!*text)
		return err_nomem(e);
	*len = strlen(*text);
	return 0;
}

/* ---- a rail ---- */

/* With "table" in "routing", each rail has the next one. */
static int number_table(struct json *tree, size_t i)
{
	struct json *routing = json_get_mut(tree, "routing");
	const struct json *table = json_get(routing, "table");

	double first = json_num(table);

	if (json_type(routing) != JSON_OBJECT || json_type(table) != JSON_NUMBER)
		return 0;
	json_del(routing, "table");
	return json_add_num(routing, "table", first + (double)i);
}

/* The PF of the rail, or those of the configuration with the rail's number in their names. */
static struct json *resource_of(const struct json *config, const struct rails_made *made, size_t i)
{
	const struct json *given = json_get(config, "resource");
	auto_json struct json *o = given ? json_dup(given) : json_new_object();
	auto_json struct json *pfs = json_new_array();
	char text[64];

	if (!o || !pfs || (!given && json_push_str(pfs, made->rail[i].master)))
		return NULL;
	/* The VF's type refuses a value that is not a list. */
	if (given && json_type(json_get(given, "pf")) != JSON_ARRAY)
		return TAKE_PTR(o);
	json_each (pf, json_get(given, "pf")) {
		const char *name = json_str(pf);

		/* It refuses a name that is none, too. */
		if (!name || rails_expand(name, made->rail[i].number, text, sizeof(text)))
			return TAKE_PTR(o);
		if (json_push_str(pfs, text))
			return NULL;
	}
	return json_put(o, "pf", TAKE_PTR(pfs)) ? NULL : TAKE_PTR(o);
}

static int rails_conf_add_vf(struct json *tree, const struct rails_made *made, size_t i)
{
	static const char *const ours[] = { "deviceID", "deviceIDs", "pciBusID", "resourceName" };
	struct json *resource;

	for (size_t k = 0; k < ARRAY_SIZE(ours); k++)
		json_del(tree, ours[k]);
	if (*made->rail[i].device) {
		json_del(tree, "resource");
		return json_add_str(tree, "deviceID", made->rail[i].device);
	}
	resource = resource_of(tree, made, i);
	return json_put(tree, "resource", resource);
}

static int set_master(struct json *tree, const char *ifname)
{
	struct json *master = json_get_mut(tree, "master");

	if (json_type(master) == JSON_OBJECT) {
		json_del(master, "of");
		return json_add_str(master, "of", ifname);
	}
	json_del(tree, "master");
	return json_add_str(tree, "master", ifname);
}

/* The engine asks for what is shared; the VF's type moves, and ib-sriov has another word for it. */
static int rails_conf_set_rdma(struct json *tree)
{
	const bool moves = strcmp(json_text(tree, "rdma"), "exclusive") == 0;

	if (moves && rails_kind_of(tree) == &sriov_type)
		return 0;
	json_del(tree, "rdma");
	return moves ? json_add_bool(tree, "rdmaIsolation", true) : 0;
}

struct json *rails_part(const struct json *config, const struct rails_made *made, size_t i)
{
	auto_json struct json *tree = json_dup(config);

	if (!tree)
		return NULL;
	json_fold_case(tree);
	json_del(tree, "prevResult");
	if (rails_conf_set_rdma(tree) || number_table(tree, i))
		return NULL;
	if (rails_moves(tree) ? rails_conf_add_vf(tree, made, i)
			      : set_master(tree, made->rail[i].master))
		return NULL;
	return TAKE_PTR(tree);
}

/* ---- what was made ---- */

struct json *rails_note(const struct rails_made *made)
{
	auto_json struct json *o = json_new_object();
	struct json *list = o ? json_add_array(o, "made") : NULL;
	struct json *missing = list && made->n_missing ? json_add_array(o, "missing") : NULL;

	if (!list || (made->n_missing && !missing))
		return NULL;
	for (size_t i = 0; i < made->n; i++) {
		struct json *x = json_push_object(list);

		if (!x || json_add_int(x, "rail", made->rail[i].number) ||
		    json_add_str(x, "interface", made->rail[i].ifname) ||
		    json_add_str(x, "master", made->rail[i].master) ||
		    json_add_known(x, "device", made->rail[i].device))
			return NULL;
	}
	for (size_t i = 0; i < made->n_missing; i++)
		if (json_push_int(missing, made->missing[i]))
			return NULL;
	return TAKE_PTR(o);
}

struct made_text {
	uint32_t number;
	const char *ifname, *master, *device;
};

static const struct json_field made_fields[] = {
	{ "rail", J_U32, J_AT(struct made_text, number), .max = RAIL_NUMBER_MAX },
	{ "interface", J_STRING, J_AT(struct made_text, ifname), .flags = J_REQUIRED },
	{ "master", J_STRING, J_AT(struct made_text, master), .flags = J_REQUIRED },
	{ "device", J_STRING, J_AT(struct made_text, device) },
	{ 0 },
};

int rails_read_note(const struct json *note, struct rails_made *out, struct err *e)
{
	const struct json *list = json_get(note, "made");

	*out = (struct rails_made){ .from = "the record of ADD" };
	json_each (item, list) {
		struct made_text t = { .number = 0 };
		struct err why;

		if (out->n == RAIL_LIST_MAX || json_decode(item, "", made_fields, &t, &why))
			return err_set(e, ERR_STATE, 0, "the record of the attachment is damaged");
		out->rail[out->n].number = t.number;
		(void)snprintf(out->rail[out->n].ifname, IFNAME_LEN, "%s", t.ifname);
		(void)snprintf(out->rail[out->n].master, IFNAME_LEN, "%s", t.master);
		(void)snprintf(out->rail[out->n].device, PCI_STR_LEN, "%s",
			       t.device ? t.device : "");
		out->n++;
	}
	return out->n ? 0 : err_set(e, ERR_STATE, 0, "the record of the attachment names no rail");
}
