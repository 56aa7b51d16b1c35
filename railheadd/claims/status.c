/* SPDX-License-Identifier: Apache-2.0 */
/*
 * status.c: a device that is one rail has networkData with its interface. A set has several
 * interfaces, for which networkData has no place: they are in its data, and networkData has the
 * addresses of all of them.
 */
#include "railheadd/claims/status.h"

#include <stdio.h>
#include <string.h>

#define IPS_MAX 16 /* the API server allows no more */

struct status_device {
	const struct claim_device *of;
	const struct json *result;
	const char *pattern; /* of its interfaces' names */
	size_t in_pod;       /* interfaces of the result that are in the pod */
};

/* "rail{n}" of rail 3 is "rail3". */
static bool status_is_named(const char *pattern, unsigned rail, const char *name)
{
	const char *at = strstr(pattern, "{n}");
	char want[64];

	(void)snprintf(want, sizeof(want), "%.*s%u%s", at ? (int)(at - pattern) : 0, pattern, rail,
		       at ? at + 3 : "");
	return at && strcmp(want, name) == 0;
}

static bool status_has(const struct status_device *d, const struct json *interface)
{
	const uint64_t rails = d->of->part.rails;

	if (!*json_text(interface, "sandbox"))
		return false;
	if (rails == UINT64_MAX || d->in_pod == 1)
		return true;
	for (uint64_t left = rails; left; left &= left - 1) {
		if (status_is_named(d->pattern, (unsigned)__builtin_ctzll(left),
				    json_text(interface, "name")))
			return true;
	}
	return false;
}

static int status_add_ips(struct json *list, const struct json *result, size_t interface)
{
	json_each (ip, json_get(result, "ips")) {
		const struct json *index = json_get(ip, "interface");

		if (index && (size_t)json_num(index) == interface && json_len(list) < IPS_MAX &&
		    json_push_str(list, json_text(ip, "address")))
			return -1;
	}
	return 0;
}

static int status_add_interface(struct json *list, const struct status_device *d,
				const struct json *interface, size_t i)
{
	struct json *o = json_push_object(list), *ips;

	return !o || json_add_str(o, "interfaceName", json_text(interface, "name")) ||
			       json_add_str(o, "hardwareAddress", json_text(interface, "mac")) ||
			       !(ips = json_add_array(o, "ips")) ||
			       status_add_ips(ips, d->result, i)
		       ? -1
		       : 0;
}

/* The interfaces of the device, and all addresses. */
static int status_read(const struct status_device *d, struct json *interfaces, struct json *ips)
{
	size_t i = 0;

	json_each (interface, json_get(d->result, "interfaces")) {
		if (status_has(d, interface) &&
		    (status_add_interface(interfaces, d, interface, i) ||
		     status_add_ips(ips, d->result, i)))
			return -1;
		i++;
	}
	return 0;
}

static int status_add_device(struct json *list, const struct status_device *d, const char *node)
{
	auto_json struct json *interfaces = json_new_array(), *ips = json_new_array();
	struct json *o = json_push_object(list), *data;

	if (!o || !interfaces || !ips || status_read(d, interfaces, ips) ||
	    json_add_str(o, "driver", CLAIM_DRIVER) || json_add_str(o, "pool", node) ||
	    json_add_str(o, "device", d->of->device) ||
	    (*d->of->share && json_add_str(o, "shareID", d->of->share)))
		return -1;
	if (json_len(interfaces) == 1)
		return json_put(o, "networkData", json_dup(json_first(interfaces)));
	return !(data = json_add_object(o, "networkData")) ||
			       json_put(data, "ips", TAKE_PTR(ips)) ||
			       !(data = json_add_object(o, "data")) ||
			       json_put(data, "interfaces", TAKE_PTR(interfaces))
		       ? -1
		       : 0;
}

static size_t status_in_pod(const struct json *result)
{
	size_t n = 0;

	json_each (interface, json_get(result, "interfaces"))
		n += *json_text(interface, "sandbox") != '\0';
	return n;
}

static const struct json *status_at(const struct json *list, size_t i)
{
	const struct json *item = json_first(list);

	while (item && i-- > 0)
		item = json_next(item);
	return item;
}

static int status_add_devices(struct json *list, const struct claim *c, const char *node,
			      const struct json *results)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct json *result = status_at(results, c->device[i].network);
		const struct json *network = status_at(c->prepared.networks, c->device[i].network);
		const struct status_device d = { &c->device[i], result,
						 json_text(network, "ifname"),
						 status_in_pod(result) };

		if (status_add_device(list, &d, node))
			return -1;
	}
	return 0;
}

struct json *claim_status(const struct claim *c, const char *node, const struct json *results)
{
	const struct prepared_id *id = &c->prepared.claim;
	auto_json struct json *o = json_new_object();
	struct json *meta, *status, *list;

	if (!o || json_add_str(o, "apiVersion", "resource.k8s.io/v1") ||
	    json_add_str(o, "kind", "ResourceClaim") || !(meta = json_add_object(o, "metadata")) ||
	    json_add_str(meta, "namespace", id->ns) || json_add_str(meta, "name", id->name) ||
	    json_add_str(meta, "uid", id->uid) || !(status = json_add_object(o, "status")) ||
	    !(list = json_add_array(status, "devices")) ||
	    status_add_devices(list, c, node, results))
		return NULL;
	return TAKE_PTR(o);
}
