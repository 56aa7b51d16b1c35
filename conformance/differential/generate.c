/* SPDX-License-Identifier: Apache-2.0 */
/*
 * generate.c: configurations for host-local: keys present, absent, empty, null, of a wrong type, in
 * another case; ranges at the edges of their subnets.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/differential/diff.h"

#define COUNT(a)   (sizeof(a) / sizeof(*(a)))
#define PICK(r, a) ((a)[below(r, COUNT(a))])

struct random random_of(uint64_t seed, unsigned number)
{
	struct random r = { seed * 0x9e3779b97f4a7c15u + number * 0xbf58476d1ce4e5b9u + 1 };

	for (int i = 0; i < 4; i++)
		(void)below(&r, 2);
	return r;
}

/* xorshift64*, of which the high bits are good. */
unsigned below(struct random *r, unsigned n)
{
	r->state ^= r->state >> 12;
	r->state ^= r->state << 25;
	r->state ^= r->state >> 27;
	return (unsigned)((r->state * 0x2545f4914f6cdd1du) >> 33) % n;
}

bool chance(struct random *r, unsigned percent)
{
	return below(r, 100) < percent;
}

/* ---- keys ---- */

/* Now and then in another case, with the two letters that Go folds beyond ASCII. */
static void spell(struct random *r, const char *key, unsigned percent, char out[128])
{
	size_t n = 0;
	bool change = chance(r, percent);

	for (; *key && n < 120; key++) {
		if (change && *key == 's' && chance(r, 5)) {
			out[n++] = '\xc5';
			out[n++] = '\xbf';
		} else if (change && *key >= 'a' && *key <= 'z' && chance(r, 40)) {
			out[n++] = (char)(*key - ('a' - 'A'));
		} else {
			out[n++] = *key;
		}
	}
	out[n] = '\0';
}

static cJSON *wrong_type(struct random *r)
{
	switch (below(r, 8)) {
	case 0:
		return cJSON_CreateNumber(5);
	case 1:
		return cJSON_CreateBool(true);
	case 2:
		return cJSON_CreateArray();
	case 3:
		return cJSON_CreateObject();
	case 4:
		return cJSON_CreateString("banana");
	case 5:
		return cJSON_CreateNumber(-1.5);
	case 6:
		return cJSON_CreateString("");
	default:
		return cJSON_CreateNull();
	}
}

/* Both take value over. */
static cJSON *or_wrong_type(struct random *r, cJSON *value)
{
	if (!chance(r, 3))
		return value;
	cJSON_Delete(value);
	return wrong_type(r);
}

static void put(struct random *r, cJSON *obj, const char *key, cJSON *value)
{
	bool twice = chance(r, 1);
	char name[128];

	/* Go decodes both values of a duplicate key, so the first one has the right type. */
	if (!twice)
		value = or_wrong_type(r, value);
	spell(r, key, 4, name);
	cJSON_AddItemToObject(obj, name, value);
	if (!twice)
		return;
	spell(r, key, 40, name);
	cJSON_AddItemToObject(obj, name,
			      chance(r, 50) ? wrong_type(r) : cJSON_Duplicate(value, true));
}

static void put_text(struct random *r, cJSON *obj, const char *key, const char *text)
{
	put(r, obj, key, cJSON_CreateString(text));
}

/* ---- ranges ---- */

struct net {
	const char *subnet, *addresses[12]; /* at its edges, inside and outside */
};

static const struct net nets[] = {
	{ "10.1.0.0/24",
	  { "10.1.0.0", "10.1.0.1", "10.1.0.2", "10.1.0.9", "10.1.0.100", "10.1.0.253",
	    "10.1.0.254", "10.1.0.255", "10.1.1.0", "10.0.255.255", "::ffff:10.1.0.7",
	    "010.1.0.8" } },
	{ "10.2.0.0/30",
	  { "10.2.0.0", "10.2.0.1", "10.2.0.2", "10.2.0.3", "10.2.0.4", "10.1.255.255", "10.2.0.1",
	    "10.2.0.2", "::ffff:10.2.0.2", "10.2.0.2 ", "10.2.0", "10.2.0.2/30" } },
	{ "10.3.0.0/16",
	  { "10.3.0.0", "10.3.0.1", "10.3.0.254", "10.3.0.255", "10.3.1.0", "10.3.128.0",
	    "10.3.255.254", "10.3.255.255", "10.4.0.0", "fd00::1", "0.0.0.0", "255.255.255.255" } },
	{ "172.16.8.0/29",
	  { "172.16.8.0", "172.16.8.1", "172.16.8.2", "172.16.8.3", "172.16.8.6", "172.16.8.7",
	    "172.16.8.8", "172.16.7.255", "172.16.8.4", "172.16.8.5", "172.16.8.5",
	    "172.16.8.03" } },
	{ "fd00:1::/64",
	  { "fd00:1::", "fd00:1::1", "fd00:1::2", "fd00:1::ff", "fd00:1::ffff:ffff:ffff:ffff",
	    "fd00:1:0:1::", "fd00:0:ffff:ffff:ffff:ffff:ffff:ffff", "fd00:1:0:0:0:0:0:5",
	    "10.1.0.1", "FD00:1::A", "fd00:1::1.2.3.4", "::" } },
	{ "fd00:2::/126",
	  { "fd00:2::", "fd00:2::1", "fd00:2::2", "fd00:2::3", "fd00:2::4", "fd00:1::2",
	    "fd00:2::2", "fd00:2::1%lo", "fd00:2::3", "fd00:2::0002", "fd00:2::", "1" } },
	{ "10.5.0.128/25",
	  { "10.5.0.128", "10.5.0.129", "10.5.0.130", "10.5.0.200", "10.5.0.254", "10.5.0.255",
	    "10.5.0.127", "10.5.1.0", "10.5.0.131", "10.5.0.132", "10.5.0.133", "10.5.0.134" } },
};

static const char *const odd_subnets[] = {
	"10.1.0.0/31",  "10.1.0.4/32",  "fd00:3::/127", "fd00:3::4/128", "10.1.0.5/24",
	"fd00:3::5/64", "10.1.0.0/024", "010.1.0.0/24", "10.1.0.0/33",   "::ffff:10.1.0.0/120",
	"10.1.0.0",     "10.1.0.0/",    " 10.1.0.0/24", "0.0.0.0/8",     "255.255.255.0/24",
	"224.0.0.0/24", "127.0.0.0/8",  "10.1.0.0/-1",  "fe80::/64",     "10.1.0.0/255.255.255.0",
	"FD00:4::/64",  "::/64",        "10.0.0.0/8",   "10.1.0.0/24 ",  "fd00:5:0:0:0:0:0:0/64",
	"128.0.0.0/1",  "fd00::/8",
};

static void fill_range(struct random *r, cJSON *obj)
{
	static const char *const keys[] = { "rangeStart", "rangeEnd", "gateway" };
	const struct net *net = &PICK(r, nets);

	put_text(r, obj, "subnet", chance(r, 12) ? PICK(r, odd_subnets) : net->subnet);
	if (chance(r, 1))
		cJSON_AddNullToObject(obj,
				      "subnet"); /* which is not the same for Go as no subnet */
	for (size_t i = 0; i < COUNT(keys); i++) {
		if (chance(r, 35))
			put_text(r, obj, keys[i],
				 chance(r, 10) ? ""
					       : net->addresses[below(r, chance(r, 90) ? 6 : 12)]);
	}
}

static cJSON *make_range(struct random *r)
{
	cJSON *obj = cJSON_CreateObject();

	if (!chance(r, 2))
		fill_range(r, obj);
	return or_wrong_type(r, obj);
}

static cJSON *make_set(struct random *r)
{
	cJSON *set = cJSON_CreateArray();
	unsigned n = chance(r, 75) ? 1 : below(r, 4);

	for (unsigned i = 0; i < n; i++)
		cJSON_AddItemToArray(set, make_range(r));
	return or_wrong_type(r, set);
}

static cJSON *make_sets(struct random *r)
{
	cJSON *sets = cJSON_CreateArray();
	unsigned n = chance(r, 60) ? 1 : below(r, 4);

	for (unsigned i = 0; i < n; i++)
		cJSON_AddItemToArray(sets, make_set(r));
	return sets;
}

/* ---- the rest ---- */

static cJSON *make_routes(struct random *r)
{
	static const char *const dst[] = { "0.0.0.0/0",
					   "::/0",
					   "10.9.0.0/16",
					   "10.9.0.5/16",
					   "fd00:9::/32",
					   "banana",
					   "",
					   "10.9.0.0",
					   "10.9.0.1/32",
					   "fd00:9::5/128",
					   "010.9.0.0/16",
					   "10.9.0.0/016",
					   "FD00:9::/32",
					   "::ffff:10.9.0.0/112" };
	static const char *const gw[] = { "10.1.0.1",  "fd00:1::1", "",   "banana",
					  "10.9.0.1",  "0.0.0.0",   "::", "::ffff:10.1.0.1",
					  "10.1.0.01", "FD00::1" };
	cJSON *list = cJSON_CreateArray();

	for (unsigned n = below(r, 4); n > 0; n--) {
		cJSON *route = cJSON_CreateObject();

		if (!chance(r, 2))
			put_text(r, route, "dst", chance(r, 75) ? dst[below(r, 5)] : PICK(r, dst));
		if (chance(r, 40))
			put_text(r, route, "gw", chance(r, 75) ? gw[below(r, 3)] : PICK(r, gw));
		cJSON_AddItemToArray(list, or_wrong_type(r, route));
		if (chance(r, 2))
			cJSON_AddItemToArray(list, cJSON_CreateNull());
	}
	return list;
}

static cJSON *make_ips(struct random *r)
{
	cJSON *list = cJSON_CreateArray();

	for (unsigned n = below(r, 3); n > 0; n--) {
		const struct net *net = &PICK(r, nets);
		char text[64];

		(void)snprintf(text, sizeof(text), "%s%s", net->addresses[below(r, 12)],
			       chance(r, 40) ? strchr(net->subnet, '/') : "");
		cJSON_AddItemToArray(list, chance(r, 4) ? wrong_type(r) : cJSON_CreateString(text));
	}
	return list;
}

static cJSON *make_ipam(struct random *r)
{
	static const char *const resolv[] = { "/run/work/resolv.conf",
					      "/run/work/empty.conf",
					      "/run/work/odd.conf",
					      "/run/work/none.conf",
					      "",
					      "/run/work",
					      "resolv.conf" };
	cJSON *ipam = cJSON_CreateObject();

	put_text(r, ipam, "type", "host-local");
	if (chance(r, 65))
		fill_range(r, ipam);
	if (chance(r, 45))
		put(r, ipam, "ranges", make_sets(r));
	if (chance(r, 40))
		put(r, ipam, "routes", make_routes(r));
	if (chance(r, 25))
		put_text(r, ipam, "resolvConf", PICK(r, resolv));
	if (chance(r, 10))
		put_text(r, ipam, "dataDir", chance(r, 50) ? "" : "/var/lib/cni/data");
	if (chance(r, 4))
		put_text(r, ipam, "name", "x");
	if (chance(r, 6))
		put_text(r, ipam, "unknown", "x");
	return ipam;
}

static void put_requests(struct random *r, cJSON *conf)
{
	if (chance(r, 20)) {
		cJSON *runtime = cJSON_CreateObject();

		if (chance(r, 50))
			put(r, runtime, "ipRanges", make_sets(r));
		if (chance(r, 50))
			put(r, runtime, "ips", make_ips(r));
		put(r, conf, "runtimeConfig", runtime);
	}
	if (chance(r, 12)) {
		cJSON *args = cJSON_CreateObject(), *cni = cJSON_CreateObject();

		put(r, cni, "ips", make_ips(r));
		put(r, args, "cni", cni);
		put(r, conf, "args", args);
	}
}

static void make_args(struct random *r, char *out, size_t size)
{
	static const char *const others[] = {
		"IP=", "IP=banana", "IgnoreUnknown=1;X=y", "IgnoreUnknown=true",
		"X=y", "IP",        "ip=10.1.0.9",         "IP=10.1.0.9;IP=10.1.0.8"
	};
	const struct net *net = &PICK(r, nets);

	*out = '\0';
	if (!chance(r, 10))
		return;
	if (chance(r, 30))
		(void)snprintf(out, size, "%s", PICK(r, others));
	else
		(void)snprintf(out, size, "%sIP=%s%s", chance(r, 50) ? "IgnoreUnknown=1;" : "",
			       net->addresses[below(r, 12)],
			       chance(r, 50) ? strchr(net->subnet, '/') : "");
}

void generate(struct random *r, unsigned number, struct generated *out)
{
	static const char *const versions[] = { "1.0.0", "0.4.0", "0.3.1", "0.3.0",
						"0.2.0", "0.1.0", "" };
	cJSON *conf = cJSON_CreateObject();
	char name[32], key[128];

	(void)snprintf(name, sizeof(name), "n%u", number);
	spell(r, "name", 4, key);
	/* always there, or cases would meet */
	cJSON_AddStringToObject(conf, key, name); /* NOLINT(readability-suspicious-call-argument) */
	if (!chance(r, 3))
		put_text(r, conf, "cniVersion", chance(r, 60) ? "1.0.0" : PICK(r, versions));
	if (!chance(r, 2))
		put(r, conf, "ipam", make_ipam(r));
	put_text(r, conf, "type", "macvlan");
	put_requests(r, conf);
	make_args(r, out->args, sizeof(out->args));
	out->conf = cJSON_PrintUnformatted(conf);
	cJSON_Delete(conf);
}
