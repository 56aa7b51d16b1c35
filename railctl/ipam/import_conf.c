/* SPDX-License-Identifier: Apache-2.0 */
/* import_conf.c: the configuration of the network for `railctl ipam import`, from a file or
 * options. */
#include <string.h>

#include "lib/sys/fs.h"
#include "railctl/ipam/import.h"

/* ---- --config ---- */

static int set_str(struct json *o, const char *key, const char *value, struct err *e)
{
	if (!value || json_get(o, key))
		return 0;
	json_del(o, key);
	return json_add_str(o, key, value) ? err_nomem(e) : 0;
}

/* The plugin of a list that has an IPAM. It gets the name and the version of the list. */
static int take_plugin(const struct json *list, struct json **out, struct err *e)
{
	json_each (plugin, json_get(list, "plugins")) {
		if (json_type(json_get(plugin, "ipam")) != JSON_OBJECT)
			continue;
		*out = json_dup(plugin);
		if (!*out)
			return err_nomem(e);
		return set_str(*out, "name", json_str(json_get(list, "name")), e) ||
		       set_str(*out, "cniVersion", json_str(json_get(list, "cniVersion")), e);
	}
	return err_set(e, ERR_CONFIG, 0, "plugins: none of them has an ipam section");
}

/* The configuration in a NetworkAttachmentDefinition. Multus gives it the name of the object. */
static int take_definition(const struct json *object, struct json **out, struct err *e)
{
	const char *text = json_str(json_get(json_get(object, "spec"), "config"));

	if (!text)
		return err_set(e, ERR_CONFIG, 0, "the %.64s has no spec.config",
			       json_text(object, "kind"));
	if (json_parse(text, strlen(text), "spec.config", out, e))
		return -1;
	return set_str(*out, "name", json_str(json_get(json_get(object, "metadata"), "name")), e);
}

/* *tree becomes the configuration of one plugin. */
static int unwrap_plugin(struct json **tree, struct err *e)
{
	struct json *inner = NULL;
	int rc = 0;

	if (json_get(*tree, "kind") && !json_get(*tree, "ipam")) {
		rc = take_definition(*tree, &inner, e);
		if (inner) {
			json_free(*tree);
			*tree = TAKE_PTR(inner);
		}
	}
	if (rc || !json_get(*tree, "plugins"))
		return rc;
	rc = take_plugin(*tree, &inner, e);
	if (inner) {
		json_free(*tree);
		*tree = inner;
	}
	return rc;
}

static int import_conf_read_config(const char *path, struct json **out, struct err *e)
{
	const struct cmd_input in = { path, "--config ", IMPORT_FILE_MAX };
	auto_json struct json *tree = NULL;

	if (cmd_read_json(&in, "network configuration", &tree, e))
		return -1;
	if (unwrap_plugin(&tree, e))
		return err_wrap(e, "--config %.200s", path);
	if (json_type(tree) != JSON_OBJECT)
		return err_set(e, ERR_CONFIG, 0,
			       "--config %.200s: it is not a network configuration", path);
	*out = TAKE_PTR(tree);
	return 0;
}

/* ---- --pool ---- */

static int make_config(const struct cmd_run *r, struct json **out, struct err *e)
{
	auto_json struct json *o = json_new_object();
	struct json *ipam = o ? json_add_object(o, "ipam") : NULL;
	struct json *pools = ipam ? json_add_array(ipam, "pools") : NULL;
	const char *name;
	size_t i = 0;

	if (!pools || json_add_str(ipam, "type", "railhead-ipam"))
		return err_nomem(e);
	while ((name = opt_next(&r->opts, "pool", &i))) {
		if (json_push_str(pools, name))
			return err_nomem(e);
	}
	*out = TAKE_PTR(o);
	return 0;
}

/* ---- both ---- */

static int check_options(struct cmd_run *r, struct err *e)
{
	const bool pool = opt_is_set(&r->opts, "pool"), config = opt_is_set(&r->opts, "config");

	if (pool == config)
		return cmd_usage(r, e,
				 "say where the network's addresses come from: --config FILE, or "
				 "--network NAME with --pool NAME");
	if (pool && !opt_is_set(&r->opts, "network"))
		return cmd_usage(r, e, "--pool needs --network NAME: whose pods they are");
	return 0;
}

/* A DEL finds its leases by the name of the network. */
static int name_network(const struct cmd_run *r, struct json *tree, struct err *e)
{
	const char *given = opt_get(&r->opts, "network"), *name = json_str(json_get(tree, "name"));

	if (given && name && strcmp(given, name) != 0)
		return err_set(e, ERR_CONFIG, 0,
			       "--network %.100s: the configuration is of network %.100s", given,
			       name);
	if (!given && !name) {
		err_set(e, ERR_CONFIG, 0, "the configuration has no name");
		return err_hint(e, "give it by --network NAME");
	}
	return set_str(tree, "name", given, e) || set_str(tree, "cniVersion", "1.0.0", e) ? -1 : 0;
}

/* The plugin uses the dataDir of its configuration, so the import must use it too. */
static int choose_store(struct cmd_run *r, const char *dir, struct err *e)
{
	struct ctl *ctl = r->own;

	if (dir && ctl->data_dir && strcmp(dir, ctl->data_dir) != 0)
		return err_set(e, ERR_CONFIG, 0,
			       "--data-dir %.200s: the network's own ipam.dataDir is %.200s",
			       ctl->data_dir, dir);
	if (!dir)
		return 0;
	ctl->data_dir = dir;
	return ipam_dir_check(&r->ctx, dir, e);
}

int import_conf_load(struct cmd_run *r, struct import_conf *out, struct err *e)
{
	auto_json struct json *tree = NULL;
	const char *path = opt_get(&r->opts, "config");

	if (check_options(r, e) ||
	    (path ? import_conf_read_config(path, &tree, e) : make_config(r, &tree, e)))
		return -1;
	if (name_network(r, tree, e))
		return path ? err_wrap(e, "--config %.200s", path) : -1;
	char *text = json_print(tree, false);
	if (!text)
		return err_nomem(e);
	if (cni_conf_parse(text, strlen(text), CNI_ADD, &out->envelope, e) ||
	    ipam_conf_decode(&out->envelope, &out->ipam, e))
		return path ? err_wrap(e, "--config %.200s", path) : -1;
	return choose_store(r, out->ipam.data_dir, e);
}

void import_conf_clear(struct import_conf *c)
{
	ipam_conf_clear(&c->ipam);
	cni_conf_clear(&c->envelope);
}
