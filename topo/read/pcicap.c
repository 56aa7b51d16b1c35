/* SPDX-License-Identifier: Apache-2.0 */
/* Walks the capability lists of a configuration space, and decodes PCI Express, ACS and ATS. */
#include "topo/read/pcicap.h"

#include <stdio.h>

#define HEADER_LEN   0x40
#define STATUS       0x06
#define STATUS_LIST  0x10
#define LIST_POINTER 0x34
#define EXT_FIRST    0x100

#define ID_EXPRESS 0x10
#define EXT_ACS    0x000d
#define EXT_ATS    0x000f

static uint16_t read_u16(struct pci_config c, size_t at)
{
	return (uint16_t)(c.byte[at] | c.byte[at + 1] << 8);
}

static uint32_t read_u32(struct pci_config c, size_t at)
{
	return (uint32_t)read_u16(c, at) | (uint32_t)read_u16(c, at + 2) << 16;
}

static bool pcicap_is_inside(struct pci_config c, size_t at, size_t n)
{
	return c.len >= n && at <= c.len - n;
}

/* An entry has at least 4 bytes, so that a list with more entries than fit must be a loop. */
enum pcicap_found pcicap_find(struct pci_config c, uint8_t id, size_t *out)
{
	/* A removed or powered-down function returns ones. */
	if (c.len < HEADER_LEN || read_u16(c, 0) == 0xffff)
		return PCICAP_UNKNOWN;
	if (!(read_u16(c, STATUS) & STATUS_LIST))
		return PCICAP_ABSENT;

	size_t at = c.byte[LIST_POINTER] & 0xfcU;

	for (int n = 0; n < (EXT_FIRST - HEADER_LEN) / 4 && at >= HEADER_LEN; n++) {
		if (!pcicap_is_inside(c, at, 2))
			return PCICAP_UNKNOWN;
		if (c.byte[at] == id) {
			*out = at;
			return PCICAP_FOUND;
		}
		at = c.byte[at + 1] & 0xfcU;
	}
	return PCICAP_ABSENT;
}

/* Only PCI Express has extended capabilities; an empty list begins with zero. */
enum pcicap_found pcicap_find_ext(struct pci_config c, uint16_t id, size_t *out)
{
	size_t at;
	enum pcicap_found express = pcicap_find(c, ID_EXPRESS, &at);

	if (express != PCICAP_FOUND)
		return express;
	at = EXT_FIRST;
	for (int n = 0; n < (PCI_CONFIG_MAX - EXT_FIRST) / 8 && at >= EXT_FIRST; n++) {
		if (!pcicap_is_inside(c, at, 4) || read_u32(c, at) == UINT32_MAX)
			return PCICAP_UNKNOWN;
		if (read_u16(c, at) == id && read_u32(c, at) != 0) {
			*out = at;
			return PCICAP_FOUND;
		}
		at = read_u32(c, at) >> 20 & 0xffcU;
	}
	return PCICAP_ABSENT;
}

/* 128 bytes and up; 6 and 7 are reserved. */
static uint16_t payload_bytes(uint32_t code)
{
	return (uint16_t)(code <= 5 ? 128U << code : 0);
}

enum pcicap_found pcicap_express(struct pci_config c, struct pcicap_express *out)
{
	size_t at;
	enum pcicap_found found = pcicap_find(c, ID_EXPRESS, &at);

	if (found != PCICAP_FOUND)
		return found;
	if (!pcicap_is_inside(c, at, 0x10))
		return PCICAP_UNKNOWN;

	uint16_t control = read_u16(c, at + 0x08);

	*out = (struct pcicap_express){
		.type = read_u16(c, at + 0x02) >> 4 & 15,
		.mps_able = payload_bytes(read_u32(c, at + 0x04) & 7U),
		.mps = payload_bytes(control >> 5 & 7U),
		.mrrs = payload_bytes(control >> 12 & 7U),
		.relaxed = control >> 4 & 1,
		.port = c.byte[at + 0x0f],
	};
	return PCICAP_FOUND;
}

enum pcicap_found pcicap_acs(struct pci_config c, struct pcicap_acs *out)
{
	size_t at;
	enum pcicap_found found = pcicap_find_ext(c, EXT_ACS, &at);

	if (found != PCICAP_FOUND)
		return found;
	if (!pcicap_is_inside(c, at, 8))
		return PCICAP_UNKNOWN;
	*out = (struct pcicap_acs){ .able = read_u16(c, at + 4), .on = read_u16(c, at + 6) };
	return PCICAP_FOUND;
}

char *pcicap_acs_names(uint16_t bits, char out[PCICAP_ACS_LEN])
{
	static const char *const names[] = { "SV", "TB", "RR", "CR", "UF", "EC", "DT" };
	size_t len = 0;

	(void)snprintf(out, PCICAP_ACS_LEN, "none");
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (bits >> i & 1)
			len += (size_t)snprintf(out + len, PCICAP_ACS_LEN - len, "%s%s",
						len ? " " : "", names[i]);
	return out;
}

enum pcicap_found pcicap_ats(struct pci_config c, bool *on)
{
	size_t at;
	enum pcicap_found found = pcicap_find_ext(c, EXT_ATS, &at);

	if (found != PCICAP_FOUND)
		return found;
	if (!pcicap_is_inside(c, at, 8))
		return PCICAP_UNKNOWN;
	*on = read_u16(c, at + 6) >> 15;
	return PCICAP_FOUND;
}
