/* SPDX-License-Identifier: Apache-2.0 */
/* version.c: 1.2, versions. */
#include "conformance/spec/items.h"

#include <string.h>

static bool is_version_answer(struct t *t)
{
	const cJSON *one;

	if (!expect(t, t->rc == 0 && *jstr(t->doc, "cniVersion"),
		    "VERSION must exit 0 and print cniVersion"))
		return false;
	expect(t, jlen(t->doc, "supportedVersions") > 0, "supportedVersions must be an array");
	cJSON_ArrayForEach(one, jget(t->doc, "supportedVersions"))
	{
		expect(t, cJSON_IsString(one), "supportedVersions must hold strings");
	}
	return true;
}

static void cni_023(struct t *t)
{
	run(t, "VERSION");
	is_version_answer(t);
}

static void cni_024(struct t *t)
{
	static const char *const inputs[] = { "", "garbage", "{\"cniVersion\":\"0.0.1\"}", "[]" };

	for (size_t i = 0; i < COUNT(inputs); i++) {
		t->raw = inputs[i];
		run(t, "VERSION");
		is_version_answer(t);
	}
	t->how.in = INPUT_CLOSED;
	run(t, "VERSION");
	is_version_answer(t);
	if (t->verdict != PASS)
		return; /* the next one costs time where it fails, too */
	t->how.in = INPUT_HELD;
	run(t, "VERSION");
	expect(t, t->rc == 0, "VERSION must not wait for the end of stdin");
}

static void cni_025(struct t *t)
{
	t->cid = NULL;
	t->ns = t->ifname = t->path = "dummy";
	t->raw = "{\"cniVersion\":\"1.1.0\"}";
	run(t, "VERSION");
	is_version_answer(t);
	t->ns = t->ifname = t->path = NULL;
	run(t, "VERSION");
	is_version_answer(t);
}

static void cni_026(struct t *t)
{
	static const char *const none[] = { NULL, "\"\"" };

	for (size_t i = 0; i < COUNT(none); i++) {
		reset(t);
		unset(t, "cniVersion");
		if (none[i])
			set(t, "cniVersion", none[i]);
		pod(t, text("p%zu", i));
		if (!supports(t, "0.1.0")) {
			refused(t, "ADD", "1");
			continue;
		}
		if (!ok(t, "ADD"))
			return;
		const char *problem = shape_problem(t->doc, "0.1.0", t->p->kind);
		expect(t, !problem, "no version means 0.1.0: %s", problem);
	}
}

static void cni_027(struct t *t)
{
	static const char *const wrong[] = { "1.0", "9.9.9", "1.0.0 ", "v1.0.0", "0.4", "1.0.00" };
	static const char *const cmds[] = { "ADD", "DEL", "CHECK", "GC", "STATUS" };
	size_t n = supports(t, "1.1.0") ? 5 : supports(t, "0.4.0") ? 3 : 2;

	pod(t, "a");
	for (size_t i = 0; i < COUNT(wrong); i++) {
		/* The other commands compare versions first: a text that is not a version may be
		 * error 6 there. */
		for (size_t v = 0; v < (i < 2 ? n : 2); v++) {
			use_version(t, wrong[i]);
			refused(t, cmds[v], "1");
		}
	}
}

static void same_version(struct t *t, const char *version)
{
	if (ok(t, "ADD"))
		expect(t, strcmp(jstr(t->doc, "cniVersion"), version) == 0,
		       "the result's cniVersion must be %s as in the configuration", version);
}

static void cni_028(struct t *t)
{
	each_version(t, "0.1.0", same_version);
}

static void too_old(struct t *t, const char *version)
{
	if (!at_least(version, "0.4.0"))
		refused(t, "CHECK", "1");
	if (!at_least(version, "1.1.0") && supports(t, "1.1.0")) {
		refused(t, "GC", "1");
		refused(t, "STATUS", "1");
	}
}

static void cni_029(struct t *t)
{
	each_version(t, "0.1.0", too_old);
}

static void cni_030(struct t *t)
{
	expect(t, !supports(t, "0.1.0") && !supports(t, "0.2.0"),
	       "a plugin that needs prevResult must not offer versions without it");
	run(t, "VERSION");
	const cJSON *one;
	cJSON_ArrayForEach(one, jget(t->doc, "supportedVersions"))
	{
		expect(t, at_least(one->valuestring, "0.3.0"),
		       "a plugin that needs prevResult must not offer %s", one->valuestring);
	}
}

#define RUNTIME "a duty of the runtime: a plugin cannot be seen to do it"

const struct item items_version[] = {
	{ 23,
	  MUST,
	  ANY,
	  0,
	  "VERSION prints cniVersion and supportedVersions",
	  cni_023,
	  NULL,
	  { "VERSION: del=supportedVersions", "VERSION: exit=1" } },
	{ 24,
	  DES,
	  ANY,
	  0,
	  "VERSION does not depend on stdin and does not wait for its end",
	  cni_024,
	  NULL,
	  { "VERSION?in=garbage: read error=6" } },
	{ 25,
	  LIB,
	  ANY,
	  0,
	  "VERSION ignores the other variables",
	  cni_025,
	  NULL,
	  { "VERSION?env=CNI_NETNS=dummy: error=4" } },
	{ 26,
	  MUST,
	  INTERFACE | IPAM,
	  NEED_ADD,
	  "a configuration without cniVersion has version 0.1.0",
	  cni_026,
	  NULL,
	  { "ADD: conf=cniVersion=\"0.3.1\"" } },
	{ 27,
	  LIB,
	  ANY,
	  0,
	  "an unknown version is error 1; versions are compared exactly",
	  cni_027,
	  NULL,
	  { "ADD?in=\"1.0\": conf=cniVersion=\"1.0.0\"", "DEL?failed: exit=0 out=" } },
	{ 28,
	  MUST,
	  ANY,
	  NEED_ADD,
	  "the result has the version of the configuration",
	  cni_028,
	  NULL,
	  { "ADD?in=\"0.3.1\": set=cniVersion=\"0.4.0\"" } },
	{ 29,
	  LIB,
	  ANY,
	  NEED_CHECK,
	  "a command that the version does not have is error 1",
	  cni_029,
	  NULL,
	  { "CHECK?in=\"0.3.1\": skip", "GC?in=\"1.0.0\": skip" } },
	{ 30,
	  DES,
	  META,
	  0,
	  "a plugin that needs prevResult offers no version without it",
	  cni_030,
	  NULL,
	  { "VERSION: "
	    "out={\"cniVersion\":\"1.1.0\",\"supportedVersions\":[\"0.1.0\",\"1.0.0\"]}" } },
	{ 31, MUST, ANY, 0, "the runtime chooses from cniVersions", NULL, RUNTIME, { NULL } },
};
const size_t n_items_version = COUNT(items_version);
