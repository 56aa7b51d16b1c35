/* SPDX-License-Identifier: Apache-2.0 */
/* lldp.c: the TLVs of a frame: IEEE 802.1AB-2016, clause 8. */
#include "fabric/lldp.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define HEADER 14 /* destination, source, Ethertype */

enum tlv_type {
	TLV_END,
	TLV_CHASSIS,
	TLV_PORT,
	TLV_TTL,
	TLV_PORT_DESCRIPTION,
	TLV_SYSTEM_NAME,
};

struct tlv {
	unsigned int type;
	size_t len;
	const uint8_t *value;
};

/* The forms of an id, by its subtype. */
enum form { FORM_TEXT, FORM_MAC, FORM_ADDRESS };

struct subtype {
	const char *name;
	enum form form;
};

static const struct subtype chassis_subtypes[] = {
	[1] = { "chassis-component", FORM_TEXT },
	[2] = { "interface-alias", FORM_TEXT },
	[3] = { "port-component", FORM_TEXT },
	[4] = { "mac", FORM_MAC },
	[5] = { "address", FORM_ADDRESS },
	[6] = { "interface-name", FORM_TEXT },
	[7] = { "local", FORM_TEXT },
};

static const struct subtype port_subtypes[] = {
	[1] = { "interface-alias", FORM_TEXT },
	[2] = { "port-component", FORM_TEXT },
	[3] = { "mac", FORM_MAC },
	[4] = { "address", FORM_ADDRESS },
	[5] = { "interface-name", FORM_TEXT },
	[6] = { "circuit", FORM_TEXT },
	[7] = { "local", FORM_TEXT },
};

static bool is_printable(uint8_t c)
{
	return c >= 0x20 && c < 0x7f;
}

static int next_tlv(const uint8_t **at, const uint8_t *end, struct tlv *out, struct err *e)
{
	if (end - *at < 2)
		return err_set(e, ERR_DECODE, 0, "LLDP: a TLV has no header");
	out->type = (*at)[0] >> 1;
	out->len = (size_t)((*at)[0] & 1) << 8 | (*at)[1];
	out->value = *at + 2;
	if ((size_t)(end - out->value) < out->len)
		return err_set(e, ERR_DECODE, 0, "LLDP: TLV %u has %zu bytes, expected %zu",
			       out->type, (size_t)(end - out->value), out->len);
	*at = out->value + out->len;
	return 0;
}

/* The id without its subtype, behind what text has. */
static void print_id(const uint8_t *id, size_t len, enum form form, char text[LLDP_ID_LEN])
{
	size_t n = strlen(text), clean = 0;

	/* IANA address families: 1 is IPv4, 2 is IPv6. */
	if (form == FORM_ADDRESS && ((len == 5 && id[0] == 1) || (len == 17 && id[0] == 2))) {
		(void)inet_ntop(id[0] == 1 ? AF_INET : AF_INET6, id + 1, text + n,
				(socklen_t)(LLDP_ID_LEN - n));
		return;
	}
	if (form == FORM_MAC && len == 6) {
		(void)snprintf(text + n, LLDP_ID_LEN - n, "%02x:%02x:%02x:%02x:%02x:%02x", id[0],
			       id[1], id[2], id[3], id[4], id[5]);
		return;
	}
	while (form == FORM_TEXT && clean < len && is_printable(id[clean]))
		clean++;
	if (clean == len) {
		(void)snprintf(text + n, LLDP_ID_LEN - n, "%.*s", (int)len, (const char *)id);
		return;
	}
	n += (size_t)snprintf(text + n, LLDP_ID_LEN - n, "0x");
	for (size_t i = 0; i < len; i++)
		n += (size_t)snprintf(text + n, LLDP_ID_LEN - n, "%02x", id[i]);
}

/* "SUBTYPE ID"; *subtype is the number. */
static int read_id(const struct tlv *t, const struct subtype table[8], char text[LLDP_ID_LEN],
		   struct err *e)
{
	const char *what = t->type == TLV_CHASSIS ? "chassis" : "port";

	if (t->len < 2 || t->len > LLDP_VALUE_MAX + 1)
		return err_set(e, ERR_DECODE, 0, "LLDP: %s has %zu bytes, expected 2 to %d", what,
			       t->len, LLDP_VALUE_MAX + 1);
	if (t->value[0] < 1 || t->value[0] > 7)
		return err_set(e, ERR_DECODE, 0, "LLDP: subtype %u of %s is reserved", t->value[0],
			       what);
	const struct subtype *s = &table[t->value[0]];

	(void)snprintf(text, LLDP_ID_LEN, "%s ", s->name);
	print_id(t->value + 1, t->len - 1, s->form, text);
	return 0;
}

static int next_mandatory(const uint8_t **at, const uint8_t *end, unsigned int type,
			  struct tlv *out, struct err *e)
{
	static const char *const name[] = { "", "chassis", "port", "TTL" };

	if (next_tlv(at, end, out, e))
		return -1;
	return out->type == type ? 0
				 : err_set(e, ERR_DECODE, 0, "LLDP: TLV %u is not the %s",
					   out->type, name[type]);
}

static void read_name(const struct tlv *t, char out[LLDP_VALUE_MAX + 1])
{
	size_t len = t->len < LLDP_VALUE_MAX ? t->len : LLDP_VALUE_MAX;

	for (size_t i = 0; i < len; i++)
		out[i] = (char)(is_printable(t->value[i]) ? t->value[i] : (uint8_t)'?');
	out[len] = '\0';
}

/* The TLVs behind the first three. The first description and the first name count. */
static int read_names(const uint8_t *at, const uint8_t *end, struct lldp_frame *out,
		      char description[LLDP_VALUE_MAX + 1], struct err *e)
{
	while (at < end) {
		struct tlv t = { .type = TLV_END };

		if (next_tlv(&at, end, &t, e))
			return -1;
		if (t.type == TLV_END)
			return 0;
		if (t.type <= TLV_TTL)
			return err_set(e, ERR_DECODE, 0, "LLDP: TLV %u is there twice", t.type);
		if (t.type == TLV_PORT_DESCRIPTION && !*description)
			read_name(&t, description);
		if (t.type == TLV_SYSTEM_NAME && !*out->system_name)
			read_name(&t, out->system_name);
	}
	return 0;
}

int lldp_parse(const uint8_t *data, size_t size, struct lldp_frame *out, struct err *e)
{
	const uint8_t *end = data + size, *at = data + HEADER;
	char description[LLDP_VALUE_MAX + 1] = "";
	struct lldp_frame f = { .ttl = 0 };
	struct tlv chassis = { 0 }, port = { 0 }, ttl = { 0 };

	if (size < HEADER || data[12] != LLDP_ETHERTYPE >> 8 || data[13] != (LLDP_ETHERTYPE & 0xff))
		return err_set(e, ERR_DECODE, 0, "the frame is not LLDP");
	if (next_mandatory(&at, end, TLV_CHASSIS, &chassis, e) ||
	    read_id(&chassis, chassis_subtypes, f.chassis, e) ||
	    next_mandatory(&at, end, TLV_PORT, &port, e) ||
	    read_id(&port, port_subtypes, f.port, e) || next_mandatory(&at, end, TLV_TTL, &ttl, e))
		return -1;
	if (ttl.len < 2)
		return err_set(e, ERR_DECODE, 0, "LLDP: TTL has %zu bytes, expected 2", ttl.len);
	if (read_names(at, end, &f, description, e))
		return -1;
	memcpy(f.source, data + 6, sizeof(f.source));
	f.ttl = (uint16_t)(ttl.value[0] << 8 | ttl.value[1]);

	bool named = port.value[0] != 3 && port.value[0] != 7;

	(void)snprintf(f.port_name, sizeof(f.port_name), "%s",
		       named || !*description ? strchr(f.port, ' ') + 1 : description);
	*out = f;
	return 0;
}
