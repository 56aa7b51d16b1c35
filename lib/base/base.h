/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base.h: compiler attributes, scope-bound clean-up and hand-over of ownership.
 *
 * A variable declared auto_free, auto_fd, ... is released when its scope ends. To hand the resource
 * to a caller, give it away with TAKE_PTR or TAKE_FD, which leave an empty variable behind.
 */
#ifndef RAILHEAD_LIB_BASE_BASE_H
#define RAILHEAD_LIB_BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#define must_check        __attribute__((warn_unused_result))
#define printf_like(f, a) __attribute__((format(printf, f, a)))
#define auto_clean(fn)    __attribute__((cleanup(fn)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define TAKE_PTR(p)                                                                                \
	({                                                                                         \
		__typeof__(p) taken_ = (p);                                                        \
		(p) = NULL;                                                                        \
		taken_;                                                                            \
	})
#define TAKE_FD(fd)                                                                                \
	({                                                                                         \
		int taken_ = (fd);                                                                 \
		(fd) = -1;                                                                         \
		taken_;                                                                            \
	})

/* cmp_u64 - for qsort(): < 0, 0, > 0. */
static inline int cmp_u64(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* has_u32 - is item in the list? */
static inline bool has_u32(const uint32_t *list, size_t n, uint32_t item)
{
	for (size_t i = 0; i < n; i++)
		if (list[i] == item)
			return true;
	return false;
}

static inline void base_free_ptr(void *p)
{
	free(*(void **)p);
}

/* close() is never repeated: on Linux the descriptor is gone even after EINTR. */
static inline void base_close_fd(const int *fd)
{
	if (*fd >= 0)
		(void)close(*fd);
}

#define auto_free auto_clean(base_free_ptr)
#define auto_fd   auto_clean(base_close_fd)

#endif
