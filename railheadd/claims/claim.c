/* SPDX-License-Identifier: Apache-2.0 */
/*
 * claim.c: the forms are those of k8s.io/api, resource/v1/types.go (Kubernetes 1.36). The
 * allocation has a copy of the parameters of class and claim, with a word that tells them apart.
 */
#include "railheadd/claims/claim.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"
#include "railheadd/devices/rail_network.h"
#include "topo/read/rail_list.h"

_Static_assert(RAIL_NUMBER_MAX < 64, "rails are bits of 64");

/* ---- devices ---- */

/* "-2" behind a name is one of several devices that are alike. */
static bool claim_is_copy(const char *text)
{
	uint64_t ignored;

	return !*text || (*text == '-' && parse_u64(text + 1, 0, UINT32_MAX, &ignored) == 0);
}

/* Behind a prefix; *text becomes the rest. The name of each device is unique: "rail03" is not
 * "rail3". */
static bool claim_read_number(const char **text, const char *prefix, uint64_t max, uint64_t *out)
{
	const char *at = *text + strlen(prefix);
	char digits[8] = "";

	if (strncmp(*text, prefix, strlen(prefix)) != 0)
		return false;
	const size_t n = strspn(at, "0123456789");
	if (n == 0 || n >= sizeof(digits) || (n > 1 && *at == '0'))
		return false;
	memcpy(digits, at, n);
	*text = at + n;
	return parse_u64(digits, 0, max, out) == 0;
}

/* "-a-2" is a copy of the set of group a, and "-a-vf2" is VF 2 of each of its rails. */
static struct claim_part claim_group(const char *text, const struct agent_conf_groups *groups)
{
	struct claim_part part = { 0, -1 };
	uint64_t vf;

	for (size_t i = 0; i < groups->n && *text == '-'; i++) {
		const size_t len = strlen(groups->of[i].name);
		const char *rest = text + 1 + len;

		if (strncmp(text + 1, groups->of[i].name, len) != 0 || *rest != '-')
			continue;
		if (!claim_is_copy(rest)) {
			if (!claim_read_number(&rest, CLAIM_VF, UINT16_MAX, &vf) || *rest)
				break;
			part.vf = (int)vf;
		}
		part.rails = groups->of[i].rails;
		break;
	}
	return part;
}

struct claim_part claim_part(const char *device, const struct agent_conf_groups *groups)
{
	const struct claim_part none = { 0, -1 };
	uint64_t rail, vf;

	if (strncmp(device, CLAIM_SET, sizeof(CLAIM_SET) - 1) == 0) {
		device += sizeof(CLAIM_SET) - 1;
		return claim_is_copy(device) ? (struct claim_part){ UINT64_MAX, -1 }
					     : claim_group(device, groups);
	}
	if (claim_read_number(&device, CLAIM_VF_SET, UINT16_MAX, &vf))
		return *device ? none : (struct claim_part){ UINT64_MAX, (int)vf };
	if (!claim_read_number(&device, CLAIM_CARD, RAIL_NUMBER_MAX, &rail))
		return none;
	if (claim_is_copy(device))
		return (struct claim_part){ UINT64_C(1) << rail, -1 };
	return claim_read_number(&device, CLAIM_VF, UINT16_MAX, &vf) && !*device
		       ? (struct claim_part){ UINT64_C(1) << rail, (int)vf }
		       : none;
}

char *claim_rails_text(uint64_t rails, char out[CLAIM_RAILS_LEN])
{
	unsigned first = rails ? (unsigned)__builtin_ctzll(rails) : 0;

	if (rails == UINT64_MAX)
		(void)snprintf(out, CLAIM_RAILS_LEN, "all rails");
	else
		(void)snprintf(out, CLAIM_RAILS_LEN, "rail %u", first);
	return out;
}

/* ---- RailConfig ---- */

struct rail_config {
	const char *version, *kind;
	const struct json *network, *may_override, *namespaces, *variable_names, *runtime_classes;
	unsigned variables;
	int memlock;
};

static const struct json_field rail_config_keys[] = {
	{ "apiVersion", J_STRING, J_AT(struct rail_config, version), .flags = J_REQUIRED },
	{ "kind", J_STRING, J_AT(struct rail_config, kind), .flags = J_REQUIRED },
	{ "network", J_OBJECT, J_AT(struct rail_config, network) },
	{ "mayOverride", J_ARRAY, J_AT(struct rail_config, may_override) },
	{ "allowedNamespaces", J_ARRAY, J_AT(struct rail_config, namespaces) },
	{ "variables", J_ARRAY, J_AT(struct rail_config, variable_names) },
	{ "runtimeClasses", J_ARRAY, J_AT(struct rail_config, runtime_classes) },
	{ "memlock", J_ENUM, J_AT(struct rail_config, memlock), .names = rail_network_memlock },
	{ 0 },
};

static bool claim_has_text(const struct json *list, const char *text)
{
	json_each (item, list) {
		if (strcmp(json_str(item), text) == 0)
			return true;
	}
	return false;
}

static int claim_read_config(const struct json *parameters, struct rail_config *out, struct err *e)
{
	struct rail_config c = { .version = "", .kind = "" };

	if (json_decode_known(parameters, "RailConfig", rail_config_keys, &c, e))
		return -1;
	if (strcmp(c.version, CLAIM_VERSION) != 0 || strcmp(c.kind, "RailConfig") != 0)
		return err_set(e, ERR_CONFIG, 0,
			       "%s %s: parameters for " CLAIM_DRIVER
			       " are a RailConfig of " CLAIM_VERSION,
			       c.version, c.kind);
	if (rail_network_texts(c.may_override, "mayOverride", e) ||
	    rail_network_texts(c.namespaces, "allowedNamespaces", e) ||
	    rail_network_texts(c.variable_names, "variables", e) ||
	    rail_network_texts(c.runtime_classes, "runtimeClasses", e) ||
	    rail_network_variables(c.variable_names, &c.variables, e) ||
	    rail_network_keys(c.network, e))
		return -1;
	*out = c;
	return 0;
}

/* ---- the parameters of a request ---- */

/* Of an entry of the allocation's list. */
struct claim_entry {
	const char *source, *driver;
	const struct json *requests, *opaque, *parameters;
};

static const struct json_field claim_entry_keys[] = {
	{ "source", J_STRING, J_AT(struct claim_entry, source), .flags = J_REQUIRED },
	{ "requests", J_ARRAY, J_AT(struct claim_entry, requests) },
	{ "opaque", J_OBJECT, J_AT(struct claim_entry, opaque) },
	{ 0 },
};
static const struct json_field claim_opaque_keys[] = {
	{ "driver", J_STRING, J_AT(struct claim_entry, driver), .flags = J_REQUIRED },
	{ "parameters", J_OBJECT, J_AT(struct claim_entry, parameters), .flags = J_REQUIRED },
	{ 0 },
};

/* No list is every request. "a" in it is also each alternative of it, "a/b". */
static bool claim_applies(const struct claim_entry *x, const char *request)
{
	size_t main = strcspn(request, "/");

	json_each (item, x->requests) {
		const char *name = json_str(item);

		if (name && (strcmp(name, request) == 0 ||
			     (strlen(name) == main && strncmp(name, request, main) == 0)))
			return true;
	}
	return json_len(x->requests) == 0;
}

/* A request and its parameters. */
struct claim_merge {
	const struct json *config; /* the list */
	const char *request, *ns;
	bool of_vfs;          /* the device */
	struct json *network; /* owned; NULL: no class has given one yet */
	const struct json *may_override, *runtime_classes;
	unsigned variables;
	bool memlock;
};

static int claim_take_class(struct claim_merge *m, const struct rail_config *c, struct err *e)
{
	if (m->network)
		return err_set(e, ERR_CONFIG, 0, "its device class has two objects RailConfig");
	if (!c->network)
		return err_set(e, ERR_CONFIG, 0,
			       "the RailConfig of its device class has no key "
			       "network");
	if (c->namespaces && !claim_has_text(c->namespaces, m->ns))
		return err_set(e, ERR_FORBIDDEN, 0,
			       "its device class does not allow the namespace %s", m->ns);
	m->network = json_dup(c->network);
	m->may_override = c->may_override;
	m->runtime_classes = c->runtime_classes;
	m->variables = c->variables;
	m->memlock = c->memlock;
	return m->network ? rail_network_kind(m->network, m->of_vfs, e) : err_nomem(e);
}

static int claim_take_claim(struct claim_merge *m, const struct rail_config *c, struct err *e)
{
	const char *of_class = c->may_override      ? "mayOverride"
			       : c->namespaces      ? "allowedNamespaces"
			       : c->variable_names  ? "variables"
			       : c->runtime_classes ? "runtimeClasses"
			       : c->memlock         ? "memlock"
						    : NULL;

	if (of_class)
		return err_set(e, ERR_CONFIG, 0, "%s: is a key of a device class", of_class);
	json_each (key, c->network) {
		if (!claim_has_text(m->may_override, json_key(key))) {
			err_set(e, ERR_FORBIDDEN, 0,
				"network.%s: its device class does not allow a claim to set this",
				json_key(key));
			return err_hint(e, "mayOverride of the class has the allowed keys");
		}
		if (json_put(m->network, json_key(key), json_dup(key)))
			return err_nomem(e);
	}
	return rail_network_kind(m->network, m->of_vfs, e);
}

/* Those of the class come first, wherever they are in the list. */
static int claim_merge_source(struct claim_merge *m, const char *source, struct err *e)
{
	bool is_class = strcmp(source, "FromClass") == 0;

	json_each (item, m->config) {
		struct claim_entry x = { .driver = "" };
		struct rail_config c;

		if (json_decode(item, "config", claim_entry_keys, &x, e) ||
		    (x.opaque && json_decode(x.opaque, "config.opaque", claim_opaque_keys, &x, e)))
			return -1;
		if (strcmp(x.source, source) != 0 || strcmp(x.driver, CLAIM_DRIVER) != 0 ||
		    !claim_applies(&x, m->request))
			continue;
		if (claim_read_config(x.parameters, &c, e) ||
		    (is_class ? claim_take_class : claim_take_claim)(m, &c, e))
			return -1;
	}
	if (m->network)
		return 0;
	err_set(e, ERR_FORBIDDEN, 0, "its device class has no RailConfig for " CLAIM_DRIVER);
	return err_hint(e, "only an administrator can say how pods use rails: write it into "
			   "spec.config of the DeviceClass");
}

/* ---- networks ---- */

/* A network without its rails, and the rails. */
struct claim_network {
	struct json *tree; /* owned */
	uint64_t rails;
};
struct claim_networks {
	struct claim_network of[CLAIM_DEVICES_MAX];
	size_t n;
};

static void claim_networks_clear(struct claim_networks *all)
{
	for (size_t i = 0; i < all->n; i++)
		json_free(all->of[i].tree);
}

static int claim_add_device(struct claim_networks *all, struct claim_device *d,
			    struct claim_merge *m, struct err *e)
{
	size_t i = 0;

	if (claim_merge_source(m, "FromClass", e) || claim_merge_source(m, "FromClaim", e))
		return -1;
	while (i < all->n && !json_same(all->of[i].tree, m->network))
		i++;
	if (i == all->n) {
		all->of[i].tree = TAKE_PTR(m->network);
		all->n++;
	}
	all->of[i].rails |= d->part.rails;
	d->runtime_classes = m->runtime_classes;
	d->network = i;
	return 0;
}

static int claim_make_networks(const struct json *config, struct claim *c, struct err *e)
{
	auto_clean(claim_networks_clear) struct claim_networks all = { .n = 0 };
	auto_json struct json *list = json_new_array();

	if (!list)
		return err_nomem(e);
	for (size_t i = 0; i < c->n; i++) {
		struct claim_merge m = { .config = config,
					 .request = c->device[i].request,
					 .ns = c->prepared.claim.ns,
					 .of_vfs = c->device[i].part.vf >= 0 };
		int rc = claim_add_device(&all, &c->device[i], &m, e);

		c->prepared.variables |= m.variables;
		c->prepared.memlock |= m.memlock;
		json_free(m.network);
		if (rc)
			return err_wrap(e, "request %s", c->device[i].request);
	}
	for (size_t i = 0; i < all.n; i++) {
		if (rail_network_print(list, all.of[i].tree, all.of[i].rails))
			return err_nomem(e);
	}
	c->prepared.networks = TAKE_PTR(list);
	return 0;
}

/* ---- the claim ---- */

struct claim_fields {
	const struct json *meta, *status, *allocation, *devices, *results, *config, *reserved;
	const char *name, *ns, *uid;
};

static const struct json_field claim_keys[] = {
	{ "metadata", J_OBJECT, J_AT(struct claim_fields, meta), .flags = J_REQUIRED },
	{ "status", J_OBJECT, J_AT(struct claim_fields, status) },
	{ 0 },
};
static const struct json_field claim_meta_keys[] = {
	{ "name", J_STRING, J_AT(struct claim_fields, name), .flags = J_REQUIRED },
	{ "namespace", J_STRING, J_AT(struct claim_fields, ns), .flags = J_REQUIRED },
	{ "uid", J_STRING, J_AT(struct claim_fields, uid), .flags = J_REQUIRED },
	{ 0 },
};
static const struct json_field claim_status_keys[] = {
	{ "allocation", J_OBJECT, J_AT(struct claim_fields, allocation) },
	{ "reservedFor", J_ARRAY, J_AT(struct claim_fields, reserved) },
	{ 0 },
};
static const struct json_field claim_allocation_keys[] = {
	{ "devices", J_OBJECT, J_AT(struct claim_fields, devices) },
	{ 0 },
};
static const struct json_field claim_devices_keys[] = {
	{ "results", J_ARRAY, J_AT(struct claim_fields, results) },
	{ "config", J_ARRAY, J_AT(struct claim_fields, config) },
	{ 0 },
};

static int claim_read_fields(const struct json *tree, struct claim_fields *f, struct err *e)
{
	if (json_decode(tree, "ResourceClaim", claim_keys, f, e) ||
	    json_decode(f->meta, "metadata", claim_meta_keys, f, e) ||
	    json_decode(f->status, "status", claim_status_keys, f, e) ||
	    json_decode(f->allocation, "status.allocation", claim_allocation_keys, f, e))
		return -1;
	return json_decode(f->devices, "status.allocation.devices", claim_devices_keys, f, e);
}

static int claim_put_id(struct prepared_id *to, const char *const texts[3], struct err *e)
{
	const struct {
		char *to;
		size_t size;
	} at[] = { { to->uid, sizeof(to->uid) },
		   { to->ns, sizeof(to->ns) },
		   { to->name, sizeof(to->name) } };

	for (size_t i = 0; i < ARRAY_SIZE(at); i++) {
		if (!id_valid(texts[i]) || strlen(texts[i]) >= at[i].size)
			return err_set(e, ERR_DECODE, 0, "\"%.80s\" is not a name of Kubernetes",
				       texts[i]);
		(void)snprintf(at[i].to, at[i].size, "%s", texts[i]);
	}
	return 0;
}

struct claim_user {
	const char *group, *resource, *name, *uid;
};
static const struct json_field claim_user_keys[] = {
	{ "apiGroup", J_STRING, J_AT(struct claim_user, group) },
	{ "resource", J_STRING, J_AT(struct claim_user, resource), .flags = J_REQUIRED },
	{ "name", J_STRING, J_AT(struct claim_user, name), .flags = J_REQUIRED },
	{ "uid", J_STRING, J_AT(struct claim_user, uid), .flags = J_REQUIRED },
	{ 0 },
};

/* Rails have one sandbox: the claim is one pod's. */
static int claim_read_pod(const struct claim_fields *f, struct prepared_id *out, struct err *e)
{
	struct claim_user u = { .group = "" };

	if (json_len(f->reserved) == 0)
		return err_set(e, ERR_STATE, 0, "it is not reserved for a pod");
	if (json_len(f->reserved) > 1) {
		err_set(e, ERR_FORBIDDEN, 0, "it is reserved for %zu pods, and rails are one pod's",
			json_len(f->reserved));
		return err_hint(e, "use a ResourceClaimTemplate: each pod gets a claim of its own");
	}
	if (json_decode(json_first(f->reserved), "status.reservedFor", claim_user_keys, &u, e))
		return -1;
	if (*u.group || strcmp(u.resource, "pods") != 0)
		return err_set(e, ERR_FORBIDDEN, 0,
			       "it is reserved for %.80s %.200s, which is not a pod", u.resource,
			       u.name);
	const char *const texts[] = { u.uid, f->ns, u.name };

	return claim_put_id(out, texts, e);
}

struct claim_result {
	const char *request, *driver, *pool, *device, *share;
	bool admin;
};
static const struct json_field claim_result_keys[] = {
	{ "request", J_STRING, J_AT(struct claim_result, request), .flags = J_REQUIRED },
	{ "driver", J_STRING, J_AT(struct claim_result, driver), .flags = J_REQUIRED },
	{ "pool", J_STRING, J_AT(struct claim_result, pool), .flags = J_REQUIRED },
	{ "device", J_STRING, J_AT(struct claim_result, device), .flags = J_REQUIRED },
	{ "shareID", J_STRING, J_AT(struct claim_result, share) },
	{ "adminAccess", J_BOOL, J_AT(struct claim_result, admin) },
	{ 0 },
};

static int claim_check_result(const struct claim_result *r, const struct claim_asked *asked,
			      uint64_t had, struct err *e)
{
	uint64_t rails = claim_part(r->device, asked->groups).rails;
	char text[CLAIM_RAILS_LEN];

	if (strcmp(r->pool, asked->node) != 0)
		return err_set(e, ERR_STATE, 0, "it is of the pool %.80s, and this is node %s",
			       r->pool, asked->node);
	if (!rails)
		return err_set(e, ERR_STATE, 0, "the driver has no such device");
	if (r->admin)
		return err_set(e, ERR_FORBIDDEN, 0, "adminAccess: rails have none");
	if (had & rails)
		return err_set(e, ERR_FORBIDDEN, 0, "the claim has %s twice",
			       claim_rails_text(had & rails, text));
	return 0;
}

static int claim_read_devices(const struct claim_fields *f, const struct claim_asked *asked,
			      struct claim *out, struct err *e)
{
	uint64_t had = 0;

	json_each (item, f->results) {
		struct claim_result r = { .share = "" };

		if (json_decode(item, "status.allocation.devices.results", claim_result_keys, &r,
				e))
			return -1;
		if (strcmp(r.driver, CLAIM_DRIVER) != 0)
			continue;
		if (out->n == CLAIM_DEVICES_MAX)
			return err_set(e, ERR_DECODE, 0, "it has more than %d devices",
				       CLAIM_DEVICES_MAX);
		if (claim_check_result(&r, asked, had, e))
			return err_wrap(e, "request %.80s, device %.80s", r.request, r.device);
		out->device[out->n] =
			(struct claim_device){ .request = r.request,
					       .device = r.device,
					       .share = r.share,
					       .part = claim_part(r.device, asked->groups) };
		had |= out->device[out->n++].part.rails;
	}
	return out->n ? 0
		      : err_set(e, ERR_STATE, 0,
				"no device of " CLAIM_DRIVER " is allocated to it");
}

static int claim_fill(const struct json *tree, const struct claim_asked *asked, struct claim *out,
		      struct err *e)
{
	struct claim_fields f = { .name = "" };

	if (claim_read_fields(tree, &f, e))
		return -1;
	const char *const texts[] = { f.uid, f.ns, f.name };

	if (strcmp(f.uid, asked->uid) != 0)
		return err_set(e, ERR_STATE, 0,
			       "another claim has this name by now, with the UID %.80s", f.uid);
	if (claim_put_id(&out->prepared.claim, texts, e) ||
	    claim_read_pod(&f, &out->prepared.pod, e) || claim_read_devices(&f, asked, out, e))
		return -1;
	return claim_make_networks(f.config, out, e);
}

int claim_decode(const struct json *tree, const struct claim_asked *asked, struct claim *out,
		 struct err *e)
{
	struct claim c = { .n = 0 };

	if (claim_fill(tree, asked, &c, e)) {
		prepared_clear(&c.prepared);
		return err_wrap(e, "claim %.80s/%.200s", asked->ns, asked->name);
	}
	*out = c;
	return 0;
}
