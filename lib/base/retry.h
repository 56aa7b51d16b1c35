/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry.h: a system call that was interrupted, or lost a race, is made again, but not for ever.
 *
 * A call that answers EINTR each time (a broken file system, a filter of system calls) must end in
 * an error: a plugin that never ends keeps its locks and its pod.
 */
#ifndef RAILHEAD_LIB_BASE_RETRY_H
#define RAILHEAD_LIB_BASE_RETRY_H

#include <errno.h>
#include <stdbool.h>

#define RETRY_MAX 1000 /* more signals than one call ever meets */

/* retry_interrupted - after a failed call: whether to make it again. *tries begins as 0. */
static inline bool retry_interrupted(unsigned *tries)
{
	return errno == EINTR && ++*tries < RETRY_MAX;
}

/*
 * retry_raced - the same for openat2(2) with RESOLVE_IN_ROOT or RESOLVE_BENEATH. If the path, or a
 * link on it, contains "..", a rename or mount anywhere on the machine makes the call fail with
 * EAGAIN (openat2(2), "ERRORS").
 */
static inline bool retry_raced(unsigned *tries)
{
	return (errno == EAGAIN || errno == EINTR) && ++*tries < RETRY_MAX;
}

#endif
