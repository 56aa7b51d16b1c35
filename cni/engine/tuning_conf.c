/* SPDX-License-Identifier: Apache-2.0 */
/* tuning_conf.c: reads the keys of an interface's settings. Pure. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "cni/engine/tuning.h"

#define SYSCTL   "sysctl"
#define PREFIX   "macPrefix"
#define NAME_LEN 64 /* of a variable */

struct tuning_text {
	const struct json *sysctl;
	uint32_t txqlen;
	const char *mac_prefix;
	const struct json *gso, *gro, *rings;
};

struct sizes_text {
	uint32_t all, v4;
};

/* GSO_MAX_SIZE and GRO_MAX_SIZE of the kernel: no device and no system can have more. */
#define SEGMENTS_MAX (8 * 65535)

static const struct json_field sizes_fields[] = {
	{ "maxSize", J_U32, J_AT(struct sizes_text, all), .min = 1, .max = SEGMENTS_MAX },
	{ "ipv4MaxSize", J_U32, J_AT(struct sizes_text, v4), .min = 1, .max = SEGMENTS_MAX },
	{ 0 },
};

static const struct json_field rings_fields[] = {
	{ "rx", J_U32, J_AT(struct tuning_conf, rx_ring), .min = 1, .max = UINT32_MAX },
	{ "tx", J_U32, J_AT(struct tuning_conf, tx_ring), .min = 1, .max = UINT32_MAX },
	{ 0 },
};

static const struct json_field fields[] = {
	{ SYSCTL, J_OBJECT, J_AT(struct tuning_text, sysctl) },
	{ "txQueueLen", J_U32, J_AT(struct tuning_text, txqlen), .max = INT32_MAX },
	{ PREFIX, J_STRING, J_AT(struct tuning_text, mac_prefix), .flags = J_EMPTY_OK },
	{ "gso", J_OBJECT, J_AT(struct tuning_text, gso) },
	{ "gro", J_OBJECT, J_AT(struct tuning_text, gro) },
	{ "rings", J_OBJECT, J_AT(struct tuning_text, rings) },
	{ 0 },
};

/* ---- sysctl ---- */

/* Where the kernel has variables of one interface (Documentation/networking/ip-sysctl.rst and
 * mpls-sysctl.rst). IFNAME is replaced, and NAME is behind it. */
static const struct {
	const char *key, *path;
} places[] = {
	{ "net.ipv4.conf.IFNAME.", "sys/net/ipv4/conf" },
	{ "net.ipv4.neigh.IFNAME.", "sys/net/ipv4/neigh" },
	{ "net.ipv6.conf.IFNAME.", "sys/net/ipv6/conf" },
	{ "net.ipv6.neigh.IFNAME.", "sys/net/ipv6/neigh" },
	{ "net.mpls.conf.IFNAME.", "sys/net/mpls/conf" },
};

/* No dot and no slash: it stays one file of that folder. */
static bool is_variable(const char *name)
{
	size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_");

	return len && len < NAME_LEN && !name[len];
}

int tuning_path(const char *key, const char *ifname, char out[TUNING_PATH_LEN])
{
	if (ifname_problem(ifname))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
		size_t len = strlen(places[i].key);

		if (strncmp(key, places[i].key, len) != 0 || !is_variable(key + len))
			continue;
		(void)snprintf(out, TUNING_PATH_LEN, "%s/%s/%s", places[i].path, ifname, key + len);
		return 0;
	}
	return -1;
}

static int refuse_key(const char *key, struct err *e)
{
	err_set(e, ERR_CONFIG, 0, SYSCTL ": \"%.64s\" is not a variable of the pod's interface",
		key);
	return err_hint(
		e, "allowed are net.ipv4.conf.IFNAME.*, net.ipv4.neigh.IFNAME.*, "
		   "net.ipv6.conf.IFNAME.*, net.ipv6.neigh.IFNAME.* and net.mpls.conf.IFNAME.*; "
		   "write IFNAME as it stands here");
}

/* One line, as the kernel's parsers of numbers and addresses take it. */
static bool is_value(const char *text)
{
	size_t len = strlen(text);

	if (!len || len >= TUNING_VALUE_LEN || text[0] == ' ' || text[len - 1] == ' ')
		return false;
	for (size_t i = 0; i < len; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

static int read_sysctls(const struct json *all, struct tuning_conf *out, struct err *e)
{
	json_each (it, all) {
		/* If a key is there twice, the last one counts, as everywhere. */
		const char *key = json_key(it), *value = json_str(json_get(all, key));
		char path[TUNING_PATH_LEN], shown[JSON_SHOW_LEN];

		if (tuning_path(key, "net1", path))
			return refuse_key(key, e);
		if (!value)
			return err_set(e, ERR_DECODE, 0,
				       SYSCTL ".%s: must be a string such as \"1\", got %s", key,
				       json_show(it, shown));
		if (!is_value(value))
			return err_set(e, ERR_CONFIG, 0,
				       SYSCTL ".%s: %s is not 1 to %d printable characters", key,
				       json_show(it, shown), TUNING_VALUE_LEN - 1);
		if (out->n_sysctls == TUNING_SYSCTLS_MAX)
			return err_set(e, ERR_CONFIG, 0, SYSCTL ": more than %d variables",
				       TUNING_SYSCTLS_MAX);
		out->sysctl[out->n_sysctls++] = (struct tuning_sysctl){ key, value };
	}
	return 0;
}

/* ---- macPrefix ---- */

static int read_mac_prefix(const char *text, struct tuning_conf *out, struct err *e)
{
	if (!text || !*text)
		return 0;

	bool right = strlen(text) == 5 && (text[2] == ':' || text[2] == '-');
	int first = right ? hex_octet(text) : -1, second = right ? hex_octet(text + 3) : -1;

	if (first < 0 || second < 0)
		return err_set(e, ERR_CONFIG, 0,
			       PREFIX ": \"%.64s\" is not two bytes such as \"0a:1b\"", text);
	if (first & 1)
		return err_set(e, ERR_CONFIG, 0,
			       PREFIX ": \"%s\" makes no unicast address: the first byte is odd",
			       text);
	out->has_mac_prefix = true;
	out->mac_prefix[0] = (uint8_t)first;
	out->mac_prefix[1] = (uint8_t)second;
	return 0;
}

static const struct ip *tuning_conf_first_of(const struct cni_result *r, int interface,
					     enum ip_family f)
{
	for (size_t i = 0; i < r->n_ips; i++) {
		const struct cni_ip *x = &r->ips[i];

		if (x->address.addr.family == f &&
		    (interface < 0 || x->interface < 0 || x->interface == interface))
			return &x->address.addr;
	}
	return NULL;
}

int tuning_mac(const struct tuning_conf *c, const struct cni_result *r, int interface,
	       struct hw_addr *out, struct err *e)
{
	const struct ip *addr = tuning_conf_first_of(r, interface, IP_V4);
	uint8_t mac[MAC_LEN], bytes[16];

	if (!addr)
		addr = tuning_conf_first_of(r, interface, IP_V6);
	if (!addr)
		return err_set(e, ERR_CONFIG, 0,
			       PREFIX ": there is no address to make the MAC from");
	size_t len = ip_to_bytes(*addr, bytes), own = MAC_LEN - TUNING_MAC_PREFIX_LEN;
	memcpy(mac, c->mac_prefix, TUNING_MAC_PREFIX_LEN);
	memcpy(mac + TUNING_MAC_PREFIX_LEN, bytes + len - own, own);
	*out = hw_addr_of_mac(mac);
	return 0;
}

/* ---- all of them ---- */

static void ask_number(struct tuning_conf *c, enum link_number n, uint32_t value)
{
	/* Spiderpool writes 0 for "leave it". */
	if (!value)
		return;
	c->has |= 1u << n;
	c->number[n] = value;
}

/* The sizes of all packets and of those of IPv4 alone. */
static int read_sizes(const struct json *n, const char *key, const enum link_number which[2],
		      struct tuning_conf *c, struct err *e)
{
	struct sizes_text t = { .all = 0 };

	if (json_decode(n, key, sizes_fields, &t, e))
		return -1;
	ask_number(c, which[0], t.all);
	ask_number(c, which[1], t.v4);
	return 0;
}

int tuning_read_conf(const struct json *config, struct tuning_conf *out, struct err *e)
{
	struct tuning_text t = { .sysctl = NULL };
	struct tuning_conf c = { .n_sysctls = 0 };

	static const enum link_number gso[] = { LINK_GSO_SIZE, LINK_GSO_V4_SIZE },
				      gro[] = { LINK_GRO_SIZE, LINK_GRO_V4_SIZE };

	if (json_decode(config, "", fields, &t, e) || read_sysctls(t.sysctl, &c, e) ||
	    read_mac_prefix(t.mac_prefix, &c, e) || read_sizes(t.gso, "gso", gso, &c, e) ||
	    read_sizes(t.gro, "gro", gro, &c, e) ||
	    json_decode(t.rings, "rings", rings_fields, &c, e))
		return -1;
	ask_number(&c, LINK_TXQLEN, t.txqlen);
	*out = c;
	return 0;
}

bool tuning_is_given(const struct tuning_conf *c)
{
	return c->n_sysctls || c->has || c->rx_ring || c->tx_ring;
}

int tuning_refuse_v6(const struct tuning_conf *c, struct err *e)
{
	static const char key[] = "net.ipv6.conf.IFNAME.disable_ipv6";

	for (size_t i = 0; i < c->n_sysctls; i++) {
		const struct tuning_sysctl *s = &c->sysctl[i];

		if (strcmp(s->key, key) == 0 && strcmp(s->value, "0") != 0)
			return err_set(e, ERR_CONFIG, 0,
				       SYSCTL
				       ".%s: \"%s\", but the IPAM assigned an address of IPv6",
				       key, s->value);
	}
	return 0;
}
