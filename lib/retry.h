/* SPDX-License-Identifier: Apache-2.0 */
/*
 * retry.h: a system call that a signal interrupted is made again, but not for ever.
 *
 * A call that answers EINTR each time (a broken file system, a filter of system calls) must end in
 * an error: a plugin that never ends keeps its locks and its pod.
 */
#ifndef RAILHEAD_LIB_RETRY_H
#define RAILHEAD_LIB_RETRY_H

#include <errno.h>
#include <stdbool.h>

#define RETRY_MAX 1000 /* more signals than one call ever meets */

/* retry_interrupted - after a failed call: whether to make it again. *tries begins as 0. */
static inline bool retry_interrupted(unsigned *tries)
{
	return errno == EINTR && ++*tries < RETRY_MAX;
}

#endif
