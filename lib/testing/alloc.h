/* SPDX-License-Identifier: Apache-2.0 */
/*
 * alloc.h: make allocations fail in tests, one after the other, and look for leaks.
 *
 * For test programs only; the Makefile links them with --wrap for malloc, calloc, realloc,
 * reallocarray, strdup, strndup and free. What our own objects and static archives allocate is
 * seen; what shared libraries allocate inside is not.
 *
 *	static int parse(void *arg, struct err *e)
 *	{
 *		auto_json struct json *j = NULL;
 *		return json_parse(arg, strlen(arg), "test", &j, e);
 *	}
 *	ck_assert_str_eq(alloc_fail_each(parse, "[1, 2]"), "ok");
 */
#ifndef RAILHEAD_LIB_TESTING_ALLOC_H
#define RAILHEAD_LIB_TESTING_ALLOC_H

#include "lib/base/err.h"

/*
 * alloc_fail_each - call fn with its first allocation failing, then with its second one, and so on
 * until it gets by without a failure. A failed call must return non-zero, say ERR_NOMEM if it set
 * an error at all, and leave nothing allocated; the last call must return 0 and leave nothing
 * either. Returns "ok", or what was wrong (static text, valid until the next call).
 */
const char *alloc_fail_each(int (*fn)(void *arg, struct err *e), void *arg);

/* For tests that need more than that: */
struct alloc_count {
	unsigned calls; /* allocations asked for since alloc_fail_begin() */
	bool failed;    /* one of them was refused */
	size_t live;    /* of those, not freed again */
};

/* alloc_fail_begin - from here on the n-th allocation fails, once; 0: all are only counted. */
void alloc_fail_begin(unsigned n);
/* alloc_fail_pause - what a test's own helper allocates meanwhile does not count; false: go on. */
void alloc_fail_pause(bool pause);
/* alloc_fail_end - no more failures, no more counting. */
struct alloc_count alloc_fail_end(void);

#endif
