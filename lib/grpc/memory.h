/* SPDX-License-Identifier: Apache-2.0 */
/*
 * memory.h: functions of malloc(3) in the shape of nghttp2_mem. They remember that an allocation
 * failed, which the library may report as something else.
 */
#ifndef RAILHEAD_LIB_GRPC_MEMORY_H
#define RAILHEAD_LIB_GRPC_MEMORY_H

#include "lib/base/base.h"

struct memory {
	bool failed;
};

static inline void *memory_keep(struct memory *m, void *p)
{
	m->failed |= !p;
	return p;
}

static inline void *memory_malloc(size_t size, void *memory)
{
	return memory_keep(memory, malloc(size));
}

static inline void *memory_calloc(size_t n, size_t size, void *memory)
{
	return memory_keep(memory, calloc(n, size));
}

static inline void *memory_realloc(void *p, size_t size, void *memory)
{
	return memory_keep(memory, realloc(p, size));
}

static inline void memory_free(void *p, void *memory)
{
	(void)memory;
	free(p);
}

#endif
