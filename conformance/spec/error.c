/* SPDX-License-Identifier: Apache-2.0 */
/* error.c: 1.3, the error object and its codes. */
#include "conformance/spec/items.h"

#include <math.h>
#include <string.h>

static void shape(struct t *t, const char *way)
{
	expect(t, *jstr(t->doc, "cniVersion"), "%s: the error must have cniVersion", way);
	expect(t, cJSON_IsNumber(jget(t->doc, "code")), "%s: code must be a number", way);
	expect(t, cJSON_IsString(jget(t->doc, "msg")), "%s: msg must be a string", way);
	expect(t, !jget(t->doc, "details") || cJSON_IsString(jget(t->doc, "details")),
	       "%s: details must be a string", way);
}

static void cni_032(struct t *t)
{
	each_refusal(t, shape);
}

static bool is_reserved(double code)
{
	return code == 9 || code == 10 || (code >= 12 && code <= 49) || (code >= 52 && code <= 99);
}

static void not_reserved(struct t *t, const char *way)
{
	double code = jnum(t->doc, "code");

	expect(t, !is_reserved(code), "%s: code %.0f is reserved", way, code);
}

static void cni_033(struct t *t)
{
	each_refusal(t, not_reserved);
	pod(t, "a");
	t->ifname = NULL;
	if (refused(t, "ADD", "4"))
		names(t, "CNI_IFNAME");
	reset(t);
	use_version(t, "9.9.9");
	refused(t, "ADD", "1");
}

static const struct {
	const char *way, *codes;
} typed[] = {
	{ "empty stdin", "6" },         { "malformed JSON", "6" },
	{ "no network name", "7" },     { "bad network name", "7" },
	{ "unknown version", "1" },     { "CNI_CONTAINERID missing", "4" },
	{ "bad CNI_CONTAINERID", "4" }, { "CNI_NETNS missing", "4" },
	{ "bad CNI_IFNAME", "4" },      { "the master does not exist", "7" },
};

static void right_class(struct t *t, const char *way)
{
	expect(t, jnum(t->doc, "code") != 999, "%s: code 999 says nothing", way);
	for (size_t i = 0; i < COUNT(typed); i++) {
		if (strcmp(typed[i].way, way) == 0)
			is_error(t, typed[i].codes);
	}
}

static void cni_034(struct t *t)
{
	each_refusal(t, right_class);
}

static void short_message(struct t *t, const char *way)
{
	const char *msg = jstr(t->doc, "msg");

	expect(t, *msg && strlen(msg) <= 300, "%s: msg must be short: 1 to 300 bytes", way);
	expect(t, !strchr(msg, '\n'), "%s: msg must be one line", way);
}

static void cni_035(struct t *t)
{
	each_refusal(t, short_message);
}

static void positive(struct t *t, const char *way)
{
	double code = jnum(t->doc, "code");

	expect(t, code > 0 && code <= 4294967295.0 && floor(code) == code,
	       "%s: code must be a positive whole number", way);
}

static void cni_036(struct t *t)
{
	each_refusal(t, positive);
}

const struct item items_error[] = {
	{ 32,
	  SHOULD,
	  ANY,
	  0,
	  "the error object has cniVersion, code, msg and optionally details",
	  cni_032,
	  NULL,
	  { "ADD?failed: del=cniVersion", "ADD?failed: set=msg=5" } },
	{ 33,
	  MUST,
	  ANY,
	  0,
	  "error codes are those of the table; none is a reserved code",
	  cni_033,
	  NULL,
	  { "ADD?failed: set=code=42", "ADD?noenv=CNI_IFNAME: error=4" } },
	{ 34,
	  DES,
	  ANY,
	  0,
	  "error 4 is for the environment, 6 and 7 for the configuration; 999 is never used",
	  cni_034,
	  NULL,
	  { "ADD?failed: set=code=999", "ADD?failed: set=code=7" } },
	{ 35,
	  LIB,
	  ANY,
	  0,
	  "msg is short",
	  cni_035,
	  NULL,
	  { "ADD?failed: set=msg=\"\"", "ADD?failed: set=msg=\"a\\nb\"" } },
	{ 36,
	  DES,
	  ANY,
	  0,
	  "code is a positive whole number",
	  cni_036,
	  NULL,
	  { "ADD?failed: set=code=-1", "ADD?failed: set=code=\"7\"" } },
};
const size_t n_items_error = COUNT(items_error);
