/* SPDX-License-Identifier: Apache-2.0 */
/* shape.c: results as CNI-093 to CNI-106 describe them, version by version. */
#include "conformance/spec/shape.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/spec/json.h"

bool is_address(const char *s, int family, bool with_prefix)
{
	int af = strchr(s, ':') ? AF_INET6 : AF_INET;
	char host[INET6_ADDRSTRLEN];
	unsigned char bytes[16];
	size_t len = strcspn(s, "/");
	char *end = NULL;

	if (len >= sizeof(host) || (family && (family == 6) != (af == AF_INET6)) ||
	    (s[len] == '/') != with_prefix)
		return false;
	memcpy(host, s, len);
	host[len] = '\0';
	if (inet_pton(af, host, bytes) != 1)
		return false;
	if (!with_prefix)
		return true;
	long bits = strtol(s + len + 1, &end, 10);
	return s[len + 1] && !*end && bits >= 0 && bits <= (af == AF_INET ? 32 : 128);
}

const char *address_in(const cJSON *result, int family)
{
	const cJSON *one;

	cJSON_ArrayForEach(one, jget(result, "ips"))
	{
		if (is_address(jstr(one, "address"), family, true))
			return jstr(one, "address");
	}
	return jstr(result, family == 6 ? "ip6>ip" : "ip4>ip");
}

static const char *route_problem(const cJSON *routes)
{
	const cJSON *one;

	if (routes && !cJSON_IsArray(routes))
		return "routes must be an array";
	cJSON_ArrayForEach(one, routes)
	{
		const char *dst = jstr(one, "dst"), *gw = jstr(one, "gw");
		if (!is_address(dst, 0, true))
			return text("routes[].dst \"%s\" is not a CIDR", dst);
		if (jget(one, "gw") && !is_address(gw, strchr(dst, ':') ? 6 : 4, false))
			return text("routes[].gw \"%s\" does not fit dst %s", gw, dst);
	}
	return NULL;
}

/* 0.1.0 and 0.2.0 */
static const char *old_problem(const cJSON *r)
{
	static const char *const key[] = { "ip4", "ip6" };
	int found = 0;

	if (jget(r, "ips") || jget(r, "interfaces") || jget(r, "routes"))
		return "ips, interfaces and routes do not exist before 0.3.0";
	for (int i = 0; i < 2; i++) {
		const cJSON *one = jget(r, key[i]);
		int family = i ? 6 : 4;
		if (!one)
			continue;
		found++;
		if (!is_address(jstr(one, "ip"), family, true))
			return text("%s.ip must be an address with a prefix length", key[i]);
		if (jget(one, "gateway") && !is_address(jstr(one, "gateway"), family, false))
			return text("%s.gateway must be an address", key[i]);
		const char *routes = route_problem(jget(one, "routes"));
		if (routes)
			return routes;
	}
	return found ? NULL : "one of ip4 and ip6 must be there";
}

static const char *interface_problem(const cJSON *r, const char *version)
{
	const cJSON *one;

	if (jget(r, "interfaces") && !cJSON_IsArray(jget(r, "interfaces")))
		return "interfaces must be an array";
	cJSON_ArrayForEach(one, jget(r, "interfaces"))
	{
		if (!*jstr(one, "name"))
			return "interfaces[].name is missing";
		if (at_least(version, "1.0.0"))
			continue;
		if (jget(one, "mtu") || jget(one, "socketPath") || jget(one, "pciID"))
			return "interfaces[] must not have mtu, socketPath or pciID before 1.0.0";
	}
	return NULL;
}

static const char *ip_problem(const cJSON *r, const cJSON *one, const char *version)
{
	const char *address = jstr(one, "address");
	const cJSON *index = jget(one, "interface");

	if (!is_address(address, 0, true))
		return text("ips[].address \"%s\" is not an address with a prefix length", address);
	int family = strchr(address, ':') ? 6 : 4;
	if (jget(one, "gateway") && !is_address(jstr(one, "gateway"), family, false))
		return "ips[].gateway is not an address of that family";
	if (at_least(version, "1.0.0") && jget(one, "version"))
		return "ips[].version does not exist from 1.0.0 on";
	if (!at_least(version, "1.0.0") &&
	    strcmp(jstr(one, "version"), family == 6 ? "6" : "4") != 0)
		return "ips[].version must be \"4\" or \"6\" up to 0.4.0";
	if (index && !(cJSON_IsNumber(index) && index->valuedouble < jlen(r, "interfaces")))
		return "ips[].interface must be an index into interfaces";
	return NULL;
}

static const char *ips_problem(const cJSON *r, const char *version)
{
	const cJSON *one;

	if (jget(r, "ip4") || jget(r, "ip6"))
		return "ip4 and ip6 do not exist from 0.3.0 on";
	cJSON_ArrayForEach(one, jget(r, "ips"))
	{
		const char *problem = ip_problem(r, one, version);
		if (problem)
			return problem;
	}
	return NULL;
}

static const char *ipam_problem(const cJSON *r)
{
	const cJSON *one;

	if (jget(r, "interfaces"))
		return "the result of an IPAM has no interfaces";
	cJSON_ArrayForEach(one, jget(r, "ips"))
	{
		if (jget(one, "interface"))
			return "the result of an IPAM has no ips[].interface";
	}
	return NULL;
}

const char *shape_problem(const cJSON *r, const char *version, enum kind kind)
{
	const char *problem;

	if (!cJSON_IsObject(r))
		return "the result must be an object";
	if (strcmp(jstr(r, "cniVersion"), *version ? version : "0.1.0") != 0)
		return text("cniVersion must be \"%s\", is \"%s\"", *version ? version : "0.1.0",
			    jstr(r, "cniVersion"));
	if (!at_least(version, "0.3.0"))
		return old_problem(r);
	if ((problem = interface_problem(r, version)) || (problem = ips_problem(r, version)) ||
	    (problem = route_problem(jget(r, "routes"))))
		return problem;
	if (kind == INTERFACE && !jlen(r, "interfaces"))
		return "interfaces must list what was created";
	return kind == IPAM ? ipam_problem(r) : NULL;
}
