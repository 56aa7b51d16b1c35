/* SPDX-License-Identifier: Apache-2.0 */
/* profile.c: read the profile of a plugin and refuse one with unknown keys. */
#include "conformance/spec/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/spec/json.h"
#include "conformance/spec/observe.h"

/* "$MASTER" in any string becomes the name of the master. */
static char *with_master(const char *s)
{
	char *out = text("%s", "");
	const char *at;

	while ((at = strstr(s, "$MASTER"))) {
		out = text("%s%.*s%s", out, (int)(at - s), s, MASTER);
		s = at + strlen("$MASTER");
	}
	return text("%s%s", out, s);
}

static bool read_kind(const char *word, enum kind *kind)
{
	if (strcmp(word, "interface") == 0)
		*kind = INTERFACE;
	else if (strcmp(word, "ipam") == 0)
		*kind = IPAM;
	else if (strcmp(word, "meta") == 0)
		*kind = META;
	else
		return false;
	return true;
}

static bool key_known(const char *key)
{
	static const char *const keys[] = {
		"name",        "kind", "linkKind",   "netconf",     "smallPool",     "twoAddresses",
		"dualPool",    "dad",  "honoursMac", "stateDirs",   "notApplicable", "deviations",
		"hostNetwork", "wire", "prepare",    "requestable", "request",       "podPrepare"
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strcmp(keys[i], key) == 0)
			return true;
	}
	return false;
}

static const char *problem(struct profile *p)
{
	const cJSON *one;

	if (!cJSON_IsObject(p->tree))
		return "is not a JSON object";
	cJSON_ArrayForEach(one, p->tree)
	{
		if (!key_known(one->string))
			return text("has the unknown key \"%s\"", one->string);
	}
	if (!read_kind(jstr(p->tree, "kind"), &p->kind))
		return "kind: must be interface, ipam or meta";
	if (!cJSON_IsObject(jget(p->tree, "netconf")) || !*jstr(p->tree, "netconf>type"))
		return "netconf: must be an object with a type";
	if (p->kind == INTERFACE && !*jstr(p->tree, "linkKind") &&
	    !cJSON_IsTrue(jget(p->tree, "hostNetwork")))
		return "linkKind: an interface plugin makes links of some kind";
	return NULL;
}

struct profile *profile_load(const char *path)
{
	struct profile *p = calloc(1, sizeof(*p));
	char *content = with_master(file_text(path));

	if (!p)
		return NULL;
	p->tree = jparse(content);
	const char *why = problem(p);
	if (why) {
		fprintf(stderr, "cni-conformance: profile %s %s\n", path, why);
		return NULL;
	}
	p->name = *jstr(p->tree, "name") ? jstr(p->tree, "name") : jstr(p->tree, "netconf>type");
	p->link_kind = jstr(p->tree, "linkKind");
	p->mac = cJSON_IsTrue(jget(p->tree, "honoursMac"));
	p->master = *jstr(p->tree, "netconf>master") != '\0';
	p->host_network = cJSON_IsTrue(jget(p->tree, "hostNetwork"));
	p->wire = *jstr(p->tree, "wire") ? jstr(p->tree, "wire") : WIRE;
	p->prepare = jstr(p->tree, "prepare");
	p->pod_prepare = jstr(p->tree, "podPrepare");
	return p;
}

const char *profile_excuse(const struct profile *p, const char *section, int id)
{
	const char *why = jstr(jget(p->tree, section), text("CNI-%03d", id));

	return *why ? why : NULL;
}
