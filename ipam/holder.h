/* SPDX-License-Identifier: Apache-2.0 */
/*
 * holder.h: does who holds an address still live?
 *
 * An interface plugin of railhead writes the record of an attachment before its address is leased,
 * and removes it after the lease is released. So a lease whose owner has a record may be in use;
 * one whose owner has none is of another plugin, or nobody's.
 */
#ifndef RAILHEAD_IPAM_HOLDER_H
#define RAILHEAD_IPAM_HOLDER_H

#include "ipam/lease.h"

enum holder {
	HOLDER_UNRECORDED,
	HOLDER_MAY_LIVE, /* it has a record and is not proved gone, or the record cannot be read */
	HOLDER_GONE,     /* its namespace is proved gone, and no ADD or DEL is at work on it */
};

/* holder_look - whatever cannot be told is HOLDER_MAY_LIVE. */
enum holder holder_look(const struct ctx *ctx, const struct owner *o);

#endif
