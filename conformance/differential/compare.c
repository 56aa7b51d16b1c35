/* SPDX-License-Identifier: Apache-2.0 */
/* compare.c: what differs between two answers, and the reasons why some may. */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/differential/diff.h"

/* ---- results ---- */

static const cJSON *get(const cJSON *obj, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(obj, key);
}

static void add(char **text, const char *more)
{
	char *all = NULL;

	if (asprintf(&all, "%s%s", *text ? *text : "", more) < 0)
		exit(2);
	free(*text);
	*text = all;
}

/* An address with or without a length, in one spelling. */
static void add_address(char **text, const cJSON *n)
{
	char host[128] = "", back[64] = "";
	unsigned char bytes[16];

	if (!cJSON_IsString(n)) {
		add(text, "-");
		return;
	}
	(void)snprintf(host, sizeof(host), "%s", n->valuestring);
	char *slash = strchr(host, '/');
	if (slash)
		*slash = '\0';
	int family = strchr(host, ':') ? AF_INET6 : AF_INET;
	if (inet_pton(family, host, bytes) == 1)
		(void)inet_ntop(family, bytes, back, sizeof(back));
	add(text, *back ? back : n->valuestring);
	if (slash && *back) {
		add(text, "/");
		add(text, slash + 1);
	}
}

/* One of three: "addresses", "routes", "dns". Results of 0.1.0 and 0.2.0 have them in ip4 and ip6.
 */
static char *part(const cJSON *tree, const char *what)
{
	static const char *const old[] = { "ip4", "ip6" };
	const cJSON *it = NULL;
	char *text = NULL;

	add(&text, "");
	if (strcmp(what, "dns") == 0) {
		char *dns = cJSON_PrintUnformatted(get(tree, "dns"));

		if (dns && strcmp(dns, "{}") != 0)
			add(&text, dns);
		free(dns);
		return text;
	}
	bool routes = strcmp(what, "routes") == 0;
	cJSON_ArrayForEach(it, get(tree, routes ? "routes" : "ips"))
	{
		add_address(&text, get(it, routes ? "dst" : "address"));
		add(&text, " via ");
		add_address(&text, get(it, routes ? "gw" : "gateway"));
		add(&text, "; ");
	}
	for (int i = 0; i < 2; i++) {
		const cJSON *family = get(tree, old[i]);

		if (!routes && family) {
			add_address(&text, get(family, "ip"));
			add(&text, " via ");
			add_address(&text, get(family, "gateway"));
			add(&text, "; ");
		}
		const cJSON *list = routes ? get(family, "routes") : NULL;
		cJSON_ArrayForEach(it, list)
		{
			add_address(&text, get(it, "dst"));
			add(&text, " via ");
			add_address(&text, get(it, "gw"));
			add(&text, "; ");
		}
	}
	return text;
}

char *differ(const struct answer *ours, const struct answer *theirs)
{
	static const char *const parts[] = { "addresses", "routes", "dns" };
	char *text = NULL;

	if (!ours->ok && !theirs->ok)
		return NULL;
	if (ours->ok != theirs->ok) {
		if (asprintf(&text, "refused %s: %s", ours->ok ? "there" : "here",
			     ours->ok ? theirs->msg : ours->msg) < 0)
			exit(2);
		return text;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++) {
		char *a = part(ours->tree, parts[i]), *b = part(theirs->tree, parts[i]);

		if (strcmp(a, b) != 0 &&
		    asprintf(&text, "%s: here %s, there %s", parts[i], a, b) < 0)
			exit(2);
		free(a);
		free(b);
		if (text)
			return text;
	}
	return NULL;
}

/* ---- reasons ---- */

/* An address with its prefix length is the network's own, or that of the broadcast. */
static bool is_an_end(const cJSON *address)
{
	char text[128] = "";
	unsigned char a[16];
	unsigned ones = 0;

	(void)snprintf(text, sizeof(text), "%s",
		       cJSON_IsString(address) ? address->valuestring : "");
	char *slash = strchr(text, '/');
	if (!slash)
		return false;
	*slash = '\0';
	unsigned bits = strchr(text, ':') ? 128 : 32, len = (unsigned)strtoul(slash + 1, NULL, 10);
	if (inet_pton(bits == 32 ? AF_INET : AF_INET6, text, a) != 1)
		return false;
	for (unsigned i = len; i < bits; i++)
		ones += a[i / 8] >> (7 - i % 8) & 1;
	return ones == 0 || (bits == 32 && ones == bits - len);
}

static bool gives_an_end(const struct answer *theirs)
{
	const cJSON *it = NULL;

	cJSON_ArrayForEach(it, get(theirs->tree, "ips"))
	{
		if (is_an_end(get(it, "address")))
			return true;
	}
	return is_an_end(get(get(theirs->tree, "ip4"), "ip")) ||
	       is_an_end(get(get(theirs->tree, "ip6"), "ip"));
}

/* run.sh gives these to an interface. */
static bool gives_of_node(const struct answer *theirs)
{
	static const char *const own[] = { "10.3.0.254/", "172.16.8.3/", "10.5.0.131/",
					   "fd00:1::ff/" };
	char *text = part(theirs->tree, "addresses");
	bool found = false;

	for (size_t i = 0; i < sizeof(own) / sizeof(*own); i++)
		found = found || strstr(text, own[i]);
	free(text);
	return found;
}

/*
 * A difference may be where it begins with `begin`, has `has` in it, and meets the condition. Every
 * line must be met in a run, or it goes: README and railhead-ipam(8) promise no more than this.
 */
static const struct {
	const char *begin, *has;
	bool (*condition)(const struct answer *theirs);
	const char *text;
} reasons[] = {
	{ "addresses: ", "", gives_an_end,
	  "the ends of a subnet are not given, also where rangeStart or rangeEnd name them" },
	{ "refused here: no address is left", "", gives_an_end,
	  "the same, and no other address is left" },
	{ "addresses: ", "", gives_of_node, "an address of the node itself is not given" },
	{ "refused here: no address is left", "", gives_of_node,
	  "the same, and it is the last one" },
	{ "refused here: ", "is in use by the node itself", gives_of_node,
	  "an address of the node itself that is requested" },
	{ "refused here: ", "the node itself has more than 1024 addresses", NULL,
	  "a network that is the node's own, as 127.0.0.0/8" },
	{ "refused here: ", "no address is left after excludes", NULL,
	  "a range of which only ends or the gateway are left, also beside other ranges" },
	{ "refused here: ", "is before rangeStart", NULL,
	  "a rangeStart at the broadcast address, also beside other ranges" },
	{ "addresses: ", "there <nil> via", NULL,
	  "a defect there: an answer that is not an address" },
	{ "refused here: ", "is not of the family of dst", NULL,
	  "a route and its gateway of two families: the interface plugin would fail" },
	{ "refused here: ", "gateway: ", NULL, "a gateway of another family than its subnet" },
	{ "refused here: ", ".dst: is required", NULL, "a route without dst" },
	{ "refused here: ", " is not an absolute path", NULL,
	  "a relative path, which depends on the runtime's folder" },
	{ "refused here: type: must be a string", "", NULL,
	  "the envelope's type is not read there, and must be a string here" },
	{ "refused here: ", "this key is given twice, in different case", NULL,
	  "a key in two cases" },
	{ "refused here: ", "/016\" is not an address with a prefix length", NULL,
	  "a prefix length with leading zeros in a route" },
	{ "refused here: ", ".subnet: \"10.1.0.0/024\" is not a network", NULL,
	  "a prefix length with leading zeros in a subnet" },
	{ "refused there: ARGS: invalid pair", "", NULL,
	  "parts of CNI_ARGS that are not pairs are passed over" },
	{ "refused there: ARGS: unknown args", "", NULL,
	  "unknown keys of CNI_ARGS are passed over, also without IgnoreUnknown" },
	{ "refused there: ", "no IP addresses available in range set: ?", NULL,
	  "a defect there: addresses whose first byte is zero" },
	{ "refused here: ", "must be an object, got null", NULL, "null in a list of routes" },
	{ "refused there: ", "overlaps with", NULL,
	  "ranges that share an end or a gateway, and no address to give" },
	{ "refused there: invalid CIDR address:  ", "", NULL,
	  "a subnet that is null counts as absent" },
	{ "dns: ", "\"search\":[\"c.local\",\"d.local\"]}, there", NULL,
	  "of several search lines the last one counts, as resolv.conf(5) says" },
	{ NULL, NULL, NULL, NULL },
};

int reason_for(const char *difference, const struct answer *theirs)
{
	for (int i = 0; reasons[i].begin; i++) {
		if (strncmp(difference, reasons[i].begin, strlen(reasons[i].begin)) == 0 &&
		    strstr(difference, reasons[i].has) &&
		    (!reasons[i].condition || reasons[i].condition(theirs)))
			return i;
	}
	return -1;
}

const char *reason_text(int number)
{
	return reasons[number].text;
}
