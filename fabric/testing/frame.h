/* SPDX-License-Identifier: Apache-2.0 */
/* frame.h: frames of LLDP for tests. */
#ifndef RAILHEAD_FABRIC_TESTING_FRAME_H
#define RAILHEAD_FABRIC_TESTING_FRAME_H

#include <string.h>

#include "fabric/lldp.h"

struct frame {
	uint8_t at[1600];
	size_t n;
};

/* frame_tlv - add a TLV of len bytes. frame_id - a chassis (1) or a port (2): subtype and text. */
static inline void frame_tlv(struct frame *f, unsigned int type, const void *value, size_t len)
{
	f->at[f->n++] = (uint8_t)(type << 1 | len >> 8);
	f->at[f->n++] = (uint8_t)len;
	memcpy(f->at + f->n, value, len);
	f->n += len;
}
static inline void frame_id(struct frame *f, unsigned int type, uint8_t subtype, const char *id)
{
	uint8_t value[LLDP_VALUE_MAX + 2] = { subtype };
	size_t len = strlen(id);

	memcpy(value + 1, id, len);
	frame_tlv(f, type, value, len + 1);
}
static inline void frame_ttl(struct frame *f, uint16_t ttl)
{
	frame_tlv(f, 3, (const uint8_t[]){ (uint8_t)(ttl >> 8), (uint8_t)ttl }, 2);
}

/* frame_begin - the header, and the chassis of MAC 02:00:00:00:00:NUMBER. */
static inline struct frame frame_begin(uint8_t number)
{
	static const uint8_t header[] = { 1,    0x80, 0xc2, 0,    0, 0x0e, 2,
					  0xaa, 0xbb, 0xcc, 0xdd, 1, 0x88, 0xcc };
	const uint8_t chassis[] = { 4, 2, 0, 0, 0, 0, number };
	struct frame f = { .n = sizeof(header) };

	memcpy(f.at, header, sizeof(header));
	frame_tlv(&f, 1, chassis, sizeof(chassis));
	return f;
}

#endif
