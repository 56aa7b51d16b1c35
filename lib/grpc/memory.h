/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h: functions of malloc(3) in the shape that libraries ask for: nghttp2_mem, and with
 * memory_take and memory_drop a ProtobufCAllocator. They remember that an allocation failed, which
 * the library may report as something else.
 */
#ifndef RAILHEAD_LIB_GRPC_MEMORY_H
#define RAILHEAD_LIB_GRPC_MEMORY_H

#include "lib/base/base.h"

struct memory {
	size_t limit; /* bytes that may be taken in all, freed ones included; 0: no limit */
	size_t taken;
	bool failed;
	bool reached; /* it failed at the limit */
};

static inline void *memory_keep(struct memory *m, size_t size, void *p)
{
	m->taken += size;
	m->failed |= !p;
	return p;
}

static inline void *memory_malloc(size_t size, void *memory)
{
	return memory_keep(memory, size, malloc(size));
}

static inline void *memory_calloc(size_t n, size_t size, void *memory)
{
	return memory_keep(memory, n * size, calloc(n, size));
}

static inline void *memory_realloc(void *p, size_t size, void *memory)
{
	return memory_keep(memory, size, realloc(p, size));
}

static inline void memory_free(void *p, void *memory)
{
	(void)memory;
	free(p);
}

/* memory_take - malloc within the limit. memory_drop - free. In the order of protobuf-c. */
static inline void *memory_take(void *memory, size_t size)
{
	struct memory *m = memory;

	if (m->limit && size > m->limit - m->taken) {
		m->failed = m->reached = true;
		return NULL;
	}
	return memory_malloc(size, m);
}

static inline void memory_drop(void *memory, void *p)
{
	(void)memory;
	free(p);
}

#endif
