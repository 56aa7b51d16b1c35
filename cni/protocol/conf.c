/* SPDX-License-Identifier: Apache-2.0 */
/* conf.c: decodes a network configuration: the keys that all plugins share. */
#include "cni/protocol/conf.h"

#include <ctype.h>
#include <string.h>

#include "lib/json/case.h"

static const struct json_field envelope[] = {
	{ "type", J_STRING, J_AT(struct cni_conf, type) },
	{ "ipam", J_OBJECT, J_AT(struct cni_conf, ipam) },
	{ "prevResult", J_OBJECT, J_AT(struct cni_conf, prev_result) },
	{ "runtimeConfig", J_OBJECT, J_AT(struct cni_conf, runtime) },
	{ "dns", J_OBJECT, J_AT(struct cni_conf, dns) },
	{ 0 },
};

/* Keys that only plugins of railhead have. A program that does not read them would ignore a wish.
 */
static const char *const own_keys[] = {
	"tier",     "routing",    "host",       "probe",       "macPrefix",
	"near",     "nearOnly",   "dad",        "ipamTimeout", "gso",
	"gro",      "rings",      "sysctl",     "txQueueLen",  "resource",
	"guidFrom", "guidDomain", "renumbered", "rdmaTimeout",
};

/* Keys that runtimes and Multus write into any configuration, or that a list of plugins may have.
 */
static const char *const standard_keys[] = {
	"cniVersion", "name",     "type",         "args",        "capabilities",
	"dns",        "ipMasq",   "ipam",         "prevResult",  "runtimeConfig",
	"deviceID",   "pciBusID", "resourceName", "cniVersions",
};

/* The first word of the path. */
static bool conf_is_listed(const char *path, const char *const *list, size_t n)
{
	const size_t len = strcspn(path, ".");

	for (size_t i = 0; i < n; i++)
		if (strlen(list[i]) == len && strncmp(path, list[i], len) == 0)
			return true;
	return false;
}

static bool is_standard(const char *path)
{
	return conf_is_listed(path, standard_keys, ARRAY_SIZE(standard_keys)) ||
	       strncmp(path, "cni.dev/", 8) == 0;
}

bool cni_conf_warns_of(const char *path, const char *section)
{
	const char *dot = strrchr(path, '.'), *word = dot ? dot + 1 : path;

	if (!isalpha((unsigned char)*word) ||
	    (section && strncmp(path, section, strlen(section)) != 0))
		return false;
	return section || !is_standard(path) || strncmp(path, "capabilities.", 13) == 0 ||
	       strncmp(path, "args.", 5) == 0;
}

struct key_check {
	const struct cni_conf *conf;
	bool alone;
	struct err *e;
};

static int conf_refuse_key(const struct json_key *k, void *arg)
{
	const struct key_check *c = arg;
	const bool top = !strchr(k->path, '.');
	char shown[JSON_SHOW_LEN];

	if (k->finding == JSON_KEY_NOMEM)
		return err_nomem(c->e);
	if (strncmp(k->path, "prevResult.", 11) == 0)
		return 0;
	if (k->finding == JSON_KEY_CLASH) {
		err_set(c->e, ERR_CONFIG, 0, "%.200s: this key is given twice, in different case",
			k->path);
		return err_hint(c->e, "keys match without regard to case; keep one of them");
	}
	if (k->finding == JSON_KEY_SLIP && !(top && is_standard(k->path)))
		return err_set(c->e, ERR_FIELD, 0,
			       "%.64s: there is no such key (value: %s); did you mean \"%s\"?",
			       k->path, json_show(k->value, shown), k->meant);
	if (k->finding != JSON_KEY_UNREAD || !c->alone || !top ||
	    !conf_is_listed(k->path, own_keys, ARRAY_SIZE(own_keys)))
		return 0;
	return err_set(c->e, ERR_FIELD, 0,
		       "%s: the plugin \"%.64s\" does not have this key (value: %s)", k->path,
		       c->conf->type, json_show(k->value, shown));
}

int cni_conf_check_keys(const struct cni_conf *c, bool alone, struct err *e)
{
	struct key_check check = { c, alone, e };

	return json_each_key(c->tree, conf_refuse_key, &check);
}

int cni_conf_blame_key(const struct cni_conf *c, struct err *e)
{
	struct err better = { 0 };

	if (cni_conf_check_keys(c, false, &better))
		*e = better;
	return -1;
}

static bool has_separator(const char *type)
{
	return strchr(type, '/') || strcmp(type, ".") == 0 || strcmp(type, "..") == 0;
}

static int read_version(struct cni_conf *c, enum cni_command cmd, struct err *e)
{
	const struct json *n = json_get(c->tree, "cniVersion");

	if (n && json_type(n) != JSON_STRING)
		return err_set(e, ERR_DECODE, 0, "cniVersion: must be a string, got %s",
			       json_type_name(n));
	if (cni_version_parse(json_str(n), &c->version, e))
		return -1;
	if (cmd == CNI_CHECK && c->version < CNI_040)
		return err_set(e, ERR_VERSION, 0, "config version does not allow CHECK");
	if ((cmd == CNI_GC || cmd == CNI_STATUS) && c->version < CNI_110)
		return err_set(e, ERR_VERSION, 0, "config version does not allow %s",
			       cni_command_name(cmd));
	return 0;
}

static int read_name(struct cni_conf *c, enum cni_command cmd, struct err *e)
{
	const struct json *n = json_get(c->tree, "name");

	if (n && json_type(n) != JSON_STRING)
		return err_set(e, ERR_DECODE, 0, "name: must be a string, got %s",
			       json_type_name(n));
	c->name = json_str(n);
	if (!c->name || !*c->name)
		return err_set(e, ERR_CONFIG, 0, "missing network name");
	if (!id_valid(c->name)) {
		err_set(e, ERR_CONFIG, 0, "invalid characters found in network name");
		return err_hint(e, "name is \"%.256s\"", c->name);
	}
	if (strlen(c->name) > CNI_ID_MAX && cmd != CNI_DEL)
		return err_set(e, ERR_CONFIG, 0, "name has %zu bytes, at most %d can be served",
			       strlen(c->name), CNI_ID_MAX);
	return 0;
}

static int read_ipam_type(struct cni_conf *c, struct err *e)
{
	const struct json *n = json_get(c->ipam, "type");

	if (n && json_type(n) != JSON_STRING)
		return err_set(e, ERR_DECODE, 0, "ipam.type: must be a string, got %s",
			       json_type_name(n));
	c->ipam_type = n ? json_str(n) : "";
	if (has_separator(c->ipam_type))
		return err_set(
			e, ERR_CONFIG, 0,
			"ipam.type: \"%.64s\" is a path; give the name of a program in CNI_PATH",
			c->ipam_type);
	return 0;
}

/* People ask for these in capabilities and args.cni. Different programs read them. */
static void note_requests(const struct json *obj)
{
	static const char *const keys[] = {
		"ips",
		"ipRanges",
		"mac",
		"deviceID",
		"deviceIDs",
		"infinibandGUID",
		"CNIDeviceInfoFile",
		"portMappings",
		"bandwidth",
		"dns",
		"aliases",
		"guid",
		"gpus",
		"debug",
		"mellanox.infiniband.app",
		"io.kubernetes.cri.pod-annotations",
	};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		(void)json_get(obj, keys[i]);
}

static int read_args(struct cni_conf *c, struct err *e)
{
	const struct json *args = json_get(c->tree, "args");

	if (args && json_type(args) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "args: must be an object, got %s",
			       json_type_name(args));
	const struct json *cni = json_get(args, "cni");
	if (cni && json_type(cni) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "args.cni: must be an object, got %s",
			       json_type_name(cni));
	c->args_cni = cni;
	note_requests(cni);
	note_requests(json_get(c->tree, "capabilities"));
	return 0;
}

static int read_valid(struct cni_conf *c, struct err *e)
{
	const char *key = "cni.dev/valid-attachments";
	const struct json *n = json_get(c->tree, key);
	size_t i = 0;

	if (!n) {
		key = "cni.dev/attachments";
		n = json_get(c->tree, key);
	}
	if (n && json_type(n) != JSON_ARRAY)
		return err_set(e, ERR_DECODE, 0, "%s: must be an array, got %s", key,
			       json_type_name(n));
	json_each (item, n) {
		if (!json_str(json_get(item, "containerID")) || !json_str(json_get(item, "ifname")))
			return err_set(e, ERR_DECODE, 0,
				       "%s[%zu]: must be an object with strings containerID and "
				       "ifname",
				       key, i);
		i++;
	}
	c->valid = n;
	return 0;
}

/* The rest of the envelope. A deletion reads key by key and takes what it can get. */
static int read_envelope(struct cni_conf *c, enum cni_command cmd, struct err *e)
{
	if (cmd == CNI_DEL) {
		struct err ignored;
		for (const struct json_field *f = envelope; f->key; f++) {
			const struct json_field one[] = { *f, { 0 } };
			if (json_decode(c->tree, "", one, c, &ignored))
				continue;
		}
		if (read_ipam_type(c, &ignored))
			c->ipam_type = "";
		(void)!read_args(c, &ignored);
		return 0;
	}
	if (json_decode(c->tree, "", envelope, c, e) || read_ipam_type(c, e) || read_args(c, e))
		return -1;
	if (has_separator(c->type))
		return err_set(e, ERR_CONFIG, 0, "type: \"%.64s\" must not be a path", c->type);
	if (cmd == CNI_GC)
		return read_valid(c, e);
	return cni_conf_check_keys(c, false, e);
}

int cni_conf_parse(char *text, size_t len, enum cni_command cmd, struct cni_conf *out,
		   struct err *e)
{
	*out = (struct cni_conf){
		.text = text, .len = len, .version = CNI_CURRENT, .type = "", .ipam_type = ""
	};
	if (json_parse(text, len, "network configuration", &out->tree, e))
		return -1;
	size_t most = json_fold_case(out->tree);
	if (most > CNI_CONF_KEYS_MAX && cmd != CNI_DEL && cmd != CNI_GC)
		return err_set(e, ERR_CONFIG, 0,
			       "network configuration: an object has %zu keys, more than %d", most,
			       CNI_CONF_KEYS_MAX);
	if (json_type(out->tree) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "network configuration must be an object, got %s",
			       json_type_name(out->tree));
	if (read_version(out, cmd, e) || read_name(out, cmd, e))
		return -1;
	return read_envelope(out, cmd, e);
}

void cni_conf_clear(struct cni_conf *c)
{
	json_free(c->tree);
	free(c->text);
	*c = (struct cni_conf){ 0 };
}

bool cni_conf_is_valid(const struct cni_conf *c, const char *container, const char *ifname)
{
	json_each (item, c->valid) {
		if (strcmp(json_str(json_get(item, "containerID")), container) == 0 &&
		    strcmp(json_str(json_get(item, "ifname")), ifname) == 0)
			return true;
	}
	return false;
}

const char *cni_conf_guid_pool(const struct json *ipam)
{
	const char *name = json_str(json_get(ipam, CNI_CONF_GUID_POOL));

	return name && *name ? name : NULL;
}

bool cni_conf_made(const struct cni_conf *c, const char *ifname)
{
	json_each (x, json_get(c->prev_result, "interfaces")) {
		if (*json_text(x, "sandbox") && strcmp(json_text(x, "name"), ifname) == 0)
			return true;
	}
	return false;
}
