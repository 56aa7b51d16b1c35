/* SPDX-License-Identifier: Apache-2.0 */
/* netconf_check.c: finds the configurations of a text, and asks the decoders of each plugin. */
#include <stdio.h>
#include <string.h>

#include "ipam/conf/conf.h"
#include "lib/json/case.h"
#include "lib/json/yaml.h"
#include "plugins/ether/rails.h"
#include "plugins/types.h"
#include "railctl/attachments/netconf.h"

#define FINDINGS_MAX 100 /* of one configuration */

/* The longest name that is type, or ends it behind a prefix such as "rh-". NULL: not of railhead.
 */
static const struct attach_type *find_type(const char *type)
{
	const struct attach_type *found = NULL;
	size_t len = strlen(type);

	for (const struct attach_type *const *t = plugin_types; *t; t++) {
		size_t n = strlen((*t)->name);

		if (n <= len && strcmp(type + len - n, (*t)->name) == 0 &&
		    (n == len || type[len - n - 1] == '-') && (!found || n > strlen(found->name)))
			found = *t;
	}
	return found;
}

/* ---- findings ---- */

/* One configuration. */
struct check {
	struct json *conf; /* keys with an error are removed */
	struct findings *findings;
	const char *network, *plugin;
	const struct attach_type *type; /* NULL: not of railhead */
	bool ipam;                      /* it is railhead-ipam */
};

static struct finding *netconf_check_add(const struct check *c, enum finding_state state)
{
	struct finding *f = findings_add(c->findings, "key", state);

	finding_set_subject(f, "network %s, type %s", *c->network ? c->network : "?", c->plugin);
	return f;
}

/* The keys that a program read, and who may warn of the others. */
struct warner {
	const struct check *check;
	const char *section; /* cni_conf_warns_of() */
};

static int check_warn_of_key(const struct json_key *k, void *arg)
{
	const struct warner *w = arg;

	if (k->finding == JSON_KEY_UNREAD && cni_conf_warns_of(k->path, w->section))
		finding_set_value(netconf_check_add(w->check, FINDING_WARN),
				  "%s: there is no such key; it is ignored", k->path);
	else if (k->finding == JSON_KEY_CASE)
		finding_set_value(netconf_check_add(w->check, FINDING_WARN),
				  "%s: it is in another case; write it so", k->path);
	return 0;
}

/* Log files are not opened here. */
static void note_log_keys(const struct cni_conf *conf)
{
	(void)json_get(conf->tree, "logLevel");
	(void)json_get(conf->tree, "logFile");
}

static int ask_interface(const struct check *c, struct cni_call *call, struct err *e)
{
	note_log_keys(&call->conf);
	if (attach_check_conf(c->type, call, e) == 0)
		return 0;
	/* The runtime gives something later. */
	return e->code == ERR_AGAIN || e->code == ERR_ENV
		       ? cni_conf_check_keys(&call->conf, true, e)
		       : -1;
}

static int ask_ipam(const struct check *c, struct cni_call *call, struct err *e)
{
	auto_ipam_conf struct ipam_conf ipam = { .n_pools = 0 };

	if (ipam_conf_decode(&call->conf, &ipam, e))
		return -1;
	/* Another project's plugin does not read the keys that only railhead has. */
	return c->type ? 0 : cni_conf_check_keys(&call->conf, true, e);
}

/* rails asks the IPAM with a number in place of this. */
static void replace_marks(char *text)
{
	for (char *mark; (mark = strstr(text, "{n}"));) {
		*mark = '0';
		memmove(mark + 1, mark + 3, strlen(mark + 3) + 1);
	}
}

/* What ADD of one program would say: 0, or -1 with e set. After 0, its warnings are added. */
static int netconf_check_ask(const struct check *c, bool ipam, struct err *e)
{
	struct cni_call call = { .ctx.log.fd = -1,
				 .env = {
					 .cmd = CNI_ADD,
					 .container = "check",
					 .netns = "/run/netns/check",
					 .ifname = "net1",
					 .path = "",
					 .args = "K8S_POD_NAMESPACE=default;K8S_POD_NAME=check" } };
	struct warner w = { c, ipam ? "ipam." : NULL };
	char *text = json_print(c->conf, false);

	if (!text)
		return err_nomem(e);
	if (ipam && c->type == &rails_type)
		replace_marks(text);
	int rc = cni_conf_parse(text, strlen(text), CNI_ADD, &call.conf, e);
	if (rc == 0)
		rc = ipam ? ask_ipam(c, &call, e) : ask_interface(c, &call, e);
	if (rc == 0 && json_each_key(call.conf.tree, check_warn_of_key, &w))
		rc = err_nomem(e);
	cni_conf_clear(&call.conf);
	return rc;
}

/* Remove the key at "ipam.ranges[0][0].subnet" from conf. False: it is not there. */
static bool remove_key(struct json *n, char *path)
{
	for (char *next; n && *path; path = next) {
		size_t len = strcspn(path, ".[");
		const char end = path[len];

		next = path + len + (end != '\0');
		path[len] = '\0';
		if (end == '\0') {
			const bool there = json_get(n, path);

			json_del(n, path);
			return there;
		}
		if (len)
			n = json_get_mut(n, path);
		if (end == '[') {
			n = json_at_mut(n, strtoul(next, &next, 10));
			next += *next == ']';
			next += *next == '.';
		}
	}
	return false;
}

/* Report an error, remove its key, and ask again: one wrong key does not hide the next. */
static int ask_until_good(const struct check *c, bool ipam, struct err *e)
{
	char removed[256] = "";

	for (size_t i = 0; i < FINDINGS_MAX; i++) {
		struct err why = { 0 };
		char path[256];

		if (netconf_check_ask(c, ipam, &why) == 0)
			return 0;
		(void)snprintf(path, sizeof(path), "%.*s", (int)strcspn(why.msg, ":"), why.msg);
		if (strcmp(path, removed) == 0)
			return 0;
		if (why.code == ERR_NOMEM)
			return err_nomem(e);

		struct finding *f = netconf_check_add(c, FINDING_FAIL);

		finding_set_value(f, "%s", why.msg);
		if (*why.detail)
			finding_set_remedy(f, "%s", why.detail);
		(void)snprintf(removed, sizeof(removed), "%s", path);
		if (!remove_key(c->conf, path))
			return 0;
	}
	return 0;
}

/* ---- where the configurations are ---- */

static int set_default(struct json *o, const char *key, const struct json *value)
{
	return json_get(o, key) || !value ? 0 : json_add_copy(o, key, value);
}

/* A plugin behind the first one gets a result. */
static int add_prev_result(struct json *conf)
{
	struct json *prev =
		json_get(conf, "prevResult") ? NULL : json_add_object(conf, "prevResult");
	struct json *list = prev ? json_add_array(prev, "interfaces") : NULL;
	struct json *one = list ? json_push_object(list) : NULL;

	if (json_get(conf, "prevResult") && !prev)
		return 0;
	return !one || json_add_str(one, "name", "net1") ||
			       json_add_str(one, "sandbox", "/run/netns/check") ||
			       !json_add_array(prev, "ips")
		       ? -1
		       : 0;
}

static int check_one(const struct json *conf, const struct json *list, bool first,
		     struct findings *findings, struct err *e)
{
	auto_json struct json *copy = json_dup(conf);
	const char *type = json_text(conf, "type");

	if (!copy || set_default(copy, "name", json_get(list, "name")) ||
	    set_default(copy, "cniVersion", json_get(list, "cniVersion")) ||
	    (!first && add_prev_result(copy)))
		return err_nomem(e);
	(void)json_fold_case(copy);
	struct check c = {
		copy,
		findings,
		json_text(list ? list : conf, "name"),
		type,
		find_type(type),
		strcmp(json_text(json_get(copy, "ipam"), "type"), "railhead-ipam") == 0
	};
	if (!*type)
		finding_set_value(netconf_check_add(&c, FINDING_FAIL),
				  "type: missing; it names the program");
	return (c.type && ask_until_good(&c, false, e)) || (c.ipam && ask_until_good(&c, true, e))
		       ? -1
		       : 0;
}

static int netconf_check_tree(const struct json *tree, struct findings *findings, struct err *e)
{
	const struct json *plugins = json_get(tree, "plugins");
	bool first = true;

	if (!plugins && !json_get(tree, "type"))
		return err_set(
			e, ERR_CONFIG, 0,
			"the text is neither a network configuration, which has a type, nor a "
			"list with plugins, nor a NetworkAttachmentDefinition");
	if (!plugins)
		return check_one(tree, NULL, true, findings, e);
	json_each (it, plugins) {
		if (check_one(it, tree, first, findings, e))
			return -1;
		first = false;
	}
	return 0;
}

/* Multus gives the configuration the name of the object. */
static int check_definition(const struct json *object, struct findings *findings, struct err *e)
{
	const struct json *name = json_get(json_get(object, "metadata"), "name");
	const char *text = json_text(json_get(object, "spec"), "config");
	auto_json struct json *tree = NULL;

	if (json_parse(text, strlen(text), "spec.config", &tree, e))
		return err_wrap(e, "%.64s", json_str(name) ? json_str(name) : "");
	return set_default(tree, "name", name) ? err_nomem(e)
					       : netconf_check_tree(tree, findings, e);
}

/* Objects of other kinds are in the files of pods. */
static int check_documents(const struct json *docs, struct findings *findings, struct err *e)
{
	bool any = false;

	json_each (it, docs) {
		const char *kind = json_text(it, "kind");
		const bool object = *kind && json_get(it, "apiVersion");

		if (object && strcmp(kind, "NetworkAttachmentDefinition") != 0)
			continue;
		any = true;
		if (object ? check_definition(it, findings, e)
			   : netconf_check_tree(it, findings, e))
			return -1;
	}
	return any ? 0 : err_set(e, ERR_CONFIG, 0, "there is no NetworkAttachmentDefinition");
}

int netconf_check(const char *text, size_t len, struct findings *out, struct err *e)
{
	auto_json struct json *docs = NULL;
	const size_t space = strspn(text, " \t\r\n");

	if (text[space] == '{') {
		struct json *one = NULL;

		if (json_parse(text, len, "the text", &one, e))
			return -1;
		docs = json_new_array();
		if (!docs || json_push(docs, one))
			return err_nomem(e);
	} else if (yaml_json_read(text, len, &docs, e)) {
		return -1;
	}
	return check_documents(docs, out, e) || findings_check(out, e) ? -1 : 0;
}
