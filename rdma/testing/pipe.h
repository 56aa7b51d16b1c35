/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipe.h: a named pipe that knows whether it was opened. For test programs only.
 *
 * Each function fails the test on error.
 */
#ifndef RAILHEAD_RDMA_TESTING_PIPE_H
#define RAILHEAD_RDMA_TESTING_PIPE_H

#include <sys/types.h>

#include "lib/testing/testing.h"

/* pipe_watch - make the pipe, and a process that waits for its first reader. */
pid_t pipe_watch(const char *path);

/* pipe_was_opened - true if there was a reader, however short. It ends the process. */
bool pipe_was_opened(pid_t watcher);

#endif
