/* SPDX-License-Identifier: Apache-2.0 */
/*
 * array.h: arrays that grow.
 *
 * An array with n items has room for the next power of two, and no room when n is 0. The room is
 * not stored: an array that grows here must be allocated here alone. It is freed with free(), and n
 * may become smaller at any time.
 *
 *	if (ARRAY_GROW(v->route, v->n_routes, ROUTES_MAX, "routes", e))
 *		return -1;
 *	v->route[v->n_routes++] = r;
 */
#ifndef RAILHEAD_LIB_BASE_ARRAY_H
#define RAILHEAD_LIB_BASE_ARRAY_H

#include "lib/base/err.h"

struct array_kind {
	size_t size;        /* bytes of an item */
	size_t max;         /* items */
	const char *what;   /* the items in the plural, for the error: "routes" */
	enum err_code code; /* of the error when there would be more than max; 0: ERR_NOMEM */
};

/*
 * array_grow - make room for `more` items behind the first n. array points to the variable that
 * points to the items (or is NULL). On failure the array is unchanged. Beyond max, the error is
 * "more than MAX WHAT"; else it is ERR_NOMEM. New items are not initialised.
 */
int array_grow(void *array, size_t n, size_t more, struct array_kind kind,
	       struct err *e) must_check;

/* array_room - for how many items an array of n has room; 0 also when no size_t can hold it. */
size_t array_room(size_t n);

/* ARRAY_GROW - room for one more behind n items. ARRAY_GROW_BY - for `more`. As array_grow. */
#define ARRAY_GROW(items, n, max, what, e) ARRAY_GROW_BY(items, n, 1, max, what, e)
#define ARRAY_GROW_BY(items, n, more, max, what, e)                                                \
	array_grow(&(items), (n), (more),                                                          \
		   (struct array_kind){ sizeof(*(items)), (max), (what), 0 }, (e))

/* ARRAY_PUSH - append item. As array_grow. */
#define ARRAY_PUSH(items, n, max, what, item, e)                                                   \
	({                                                                                         \
		const int grown_ = ARRAY_GROW(items, n, max, what, e);                             \
		if (!grown_)                                                                       \
			(items)[(n)++] = (item);                                                   \
		grown_;                                                                            \
	})

/* ARRAY_PLACE - the first index i below n for which before, an expression of i, is false; or n. */
#define ARRAY_PLACE(i, n, before)                                                                  \
	({                                                                                         \
		size_t from_ = 0, to_ = (n);                                                       \
		while (from_ < to_) {                                                              \
			const size_t i = from_ + (to_ - from_) / 2;                                \
			if (before)                                                                \
				from_ = i + 1;                                                     \
			else                                                                       \
				to_ = i;                                                           \
		}                                                                                  \
		from_;                                                                             \
	})

#endif
