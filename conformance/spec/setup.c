/* SPDX-License-Identifier: Apache-2.0 */
/* setup.c: the call and the pod that a check starts from. */
#include <stdio.h>
#include <string.h>

#include "conformance/spec/box.h"
#include "conformance/spec/items.h"
#include "conformance/spec/json.h"
#include "conformance/spec/observe.h"

static const char *newest(const struct t *t)
{
	static const char *const known[] = { "1.1.0", "1.0.0", "0.4.0", "0.3.1",
					     "0.3.0", "0.2.0", "0.1.0" };

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
		if (supports(t, known[i]))
			return known[i];
	}
	return "1.0.0";
}

void use_version(struct t *t, const char *version)
{
	t->version = version;
	cJSON_DeleteItemFromObjectCaseSensitive(t->conf, "cniVersion");
	if (*version)
		cJSON_AddStringToObject(t->conf, "cniVersion", version);
}

/* Merge an object of the profile over the configuration. */
void profile_section(struct t *t, const char *key)
{
	const cJSON *one;

	cJSON_ArrayForEach(one, cJSON_GetObjectItemCaseSensitive(t->p->tree, key))
	{
		jset(t->conf, one->string, cJSON_Duplicate(one, true));
	}
}

void reset(struct t *t)
{
	t->cid = "cid-0";
	t->ns = "/run/netns/none";
	t->ifname = "net1";
	t->args = NULL;
	t->path =
		text(WORK "/bin%s%s", t->extra_path ? ":" : "", t->extra_path ? t->extra_path : "");
	t->raw = NULL;
	memset(t->env, 0, sizeof(t->env));
	t->conf = cJSON_CreateObject();
	use_version(t, newest(t));
	set(t, "name", "\"" NETWORK "\"");
	profile_section(t, "netconf");
	if (t->p->kind == INTERFACE)
		set(t, "ipam", "{\"type\":\"" FAKE "\"}");
}

void set(struct t *t, const char *path, const char *json)
{
	cJSON *value = jparse(json);

	if (!value) {
		errno = EINVAL;
		broken(json);
	}
	jset(t->conf, path, value);
}

void unset(struct t *t, const char *path)
{
	jdel(t->conf, path);
}

void set_prev(struct t *t)
{
	if (t->result && at_least(t->version, "0.3.0"))
		jset(t->conf, "prevResult", cJSON_Duplicate(t->result, true));
}

void bring_up(struct t *t)
{
	char *file = text(WORK "/pod");

	if (!write_file(file, text("link set %s up\naddr add 10.99.0.2/24 dev %s\n", t->ifname,
				   t->ifname)) ||
	    !ip(t->ns, text("-batch %s", file)))
		broken("bring up the pod's interface");
	if (*t->p->pod_prepare)
		run_shell(t->ns, t->p->pod_prepare);
}

/* A chained plugin finds an interface, and the result that told of it. */
static void furnish_chain(struct t *t)
{
	if (!ip(t->ns, text("link add %s type veth peer name peer0", t->ifname)) ||
	    !ip(t->ns, "link set peer0 up"))
		broken("make the pod's interface");
	bring_up(t);
	const cJSON *link = link_of(t->ns, t->ifname);
	cJSON *prev = jparse(
		text("{\"interfaces\":[{\"name\":\"%s\",\"mac\":\"%s\",\"sandbox\":\"%s\"}],"
		     "\"ips\":[{%s\"address\":\"10.99.0.2/24\",\"interface\":0}],\"dns\":{}}",
		     t->ifname, jstr(link, "address"), t->ns,
		     at_least(t->version, "1.0.0") ? "" : "\"version\":\"4\","));
	cJSON_AddStringToObject(prev, "cniVersion", t->version);
	jset(t->conf, "prevResult", prev);
}

void pod(struct t *t, const char *name)
{
	t->cid = text("cid-%s", name);
	t->ns = text("/run/netns/%s", name);
	if (access(t->ns, F_OK) == 0)
		return;
	netns_make(t->ns);
	if (t->p->kind == META && at_least(t->version, "0.3.0"))
		furnish_chain(t);
}

bool attach(struct t *t, const char *name)
{
	pod(t, name);
	return ok(t, "ADD");
}

void fake_rules(const char *rules)
{
	if (!write_file(WORK "/bin/" FAKE ".rules", rules))
		broken("rules of the fake IPAM");
}
