/* SPDX-License-Identifier: Apache-2.0 */
/* state_settings.c: the settings of an interface as a part of an entry's text. Pure. */
#include <string.h>

#include "lib/base/parse.h"
#include "sriov/vf/state.h"

#define HEX_MAX (2 * ETHTOOL_BYTES + 1)

static const char *const xdp_keys[LINK_XDP_MODES] = { "xdpGeneric", "xdpDriver", "xdpHardware" };

/* ---- bytes as digits ---- */

static const char *to_hex(const void *data, size_t len, char out[HEX_MAX])
{
	const uint8_t *p = data;
	char *end = out;

	*end = '\0';
	for (size_t i = 0; i < len; i++)
		end = hex_octet_put(end, p[i]);
	return out;
}

/* Returns the number of bytes, at most cap; -1: text is malformed. */
static int from_hex(const char *text, void *out, size_t cap)
{
	size_t len = strlen(text);
	uint8_t *p = out;

	if (len % 2 || len / 2 > cap)
		return -1;
	for (size_t i = 0; i < len; i += 2) {
		int octet = hex_octet(text + i);
		if (octet < 0)
			return -1;
		p[i / 2] = (uint8_t)octet;
	}
	return (int)(len / 2);
}

/* ---- printing ---- */

static const struct json_field link_fields[] = {
	{ "flags", J_UINT, J_AT(struct link_settings, flags), .flags = J_REQUIRED },
	{ "alias", J_CHARS, J_AT(struct link_settings, alias), .flags = J_REQUIRED },
	{ "broadcast", J_HW_ADDR, J_AT(struct link_settings, broadcast) },
	{ 0 },
};

static int state_settings_add_link(struct json *o, const struct link_settings *s)
{
	if (json_encode(o, link_fields, s))
		return -1;
	for (size_t i = 0; i < LINK_NUMBERS; i++) {
		if ((s->has & 1u << i) &&
		    json_add_int(o, link_number_name((enum link_number)i), s->number[i]))
			return -1;
	}
	for (size_t i = 0; i < LINK_XDP_MODES; i++) {
		if (s->xdp[i] && json_add_bool(o, xdp_keys[i], true))
			return -1;
	}
	return 0;
}

static int add_tool(struct json *o, const struct ethtool_state *s)
{
	const size_t len = s->blocks * sizeof(uint32_t);
	char hex[HEX_MAX];

	if (json_add_str(o, "wanted", to_hex(s->wanted, len, hex)) ||
	    json_add_str(o, "can", to_hex(s->can, len, hex)))
		return -1;
	for (size_t i = 0; i < ETHTOOL_PARTS; i++) {
		enum ethtool_part p = (enum ethtool_part)i;
		if (s->has[i] && json_add_str(o, ethtool_part_name(p),
					      to_hex(s->part[i], ethtool_part_size(p), hex)))
			return -1;
	}
	return 0;
}

int vf_state_add_settings(struct json *netdev, const struct vf_baseline *b)
{
	struct json *part;

	if (!b->has_settings)
		return 0;
	return !(part = json_add_object(netdev, "settings")) ||
			       state_settings_add_link(part, &b->link) ||
			       !(part = json_add_object(netdev, "ethtool")) ||
			       add_tool(part, &b->tool)
		       ? -1
		       : 0;
}

/* ---- decoding ---- */

static int state_settings_refuse_value(const char *key, struct err *e)
{
	return err_set(e, ERR_DECODE, 0, "netdev.%s: is malformed", key);
}

static int state_settings_read_link(const struct json *o, struct link_settings *s, struct err *e)
{
	if (json_decode(o, "netdev.settings", link_fields, s, e))
		return -1;
	for (size_t i = 0; i < LINK_NUMBERS; i++) {
		const char *key = link_number_name((enum link_number)i);
		const struct json *v = json_get(o, key);
		double n = v ? json_num(v) : 0;
		if (v && (json_type(v) != JSON_NUMBER || n < 0 || n > UINT32_MAX))
			return state_settings_refuse_value(key, e);
		s->has |= v ? 1u << i : 0;
		s->number[i] = (uint32_t)n;
	}
	for (size_t i = 0; i < LINK_XDP_MODES; i++)
		s->xdp[i] = json_true(json_get(o, xdp_keys[i]));
	return 0;
}

static int read_tool(const struct json *o, struct ethtool_state *s, struct err *e)
{
	const char *wanted = json_str(json_get(o, "wanted")), *can = json_str(json_get(o, "can"));
	int len = wanted ? from_hex(wanted, s->wanted, sizeof(s->wanted)) : -1;

	if (len < 0 || len % (int)sizeof(uint32_t) || !can ||
	    from_hex(can, s->can, sizeof(s->can)) != len)
		return state_settings_refuse_value("ethtool", e);
	s->blocks = (uint32_t)len / sizeof(uint32_t);
	for (size_t i = 0; i < ETHTOOL_PARTS; i++) {
		enum ethtool_part p = (enum ethtool_part)i;
		const struct json *v = json_get(o, ethtool_part_name(p));
		const char *text = json_str(v);
		if (v && (!text ||
			  from_hex(text, s->part[i], ETHTOOL_BYTES) != (int)ethtool_part_size(p)))
			return state_settings_refuse_value(ethtool_part_name(p), e);
		s->has[i] = v != NULL;
	}
	return 0;
}

int vf_state_read_settings(const struct json *netdev, struct vf_baseline *b, struct err *e)
{
	const struct json *link = json_get(netdev, "settings"), *tool = json_get(netdev, "ethtool");

	/* An earlier version wrote the file. */
	if (!link || !tool)
		return 0;
	if (json_type(link) != JSON_OBJECT || json_type(tool) != JSON_OBJECT)
		return state_settings_refuse_value("settings", e);
	if (state_settings_read_link(link, &b->link, e) || read_tool(tool, &b->tool, e))
		return -1;
	b->has_settings = true;
	return 0;
}
