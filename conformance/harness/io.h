/* SPDX-License-Identifier: Apache-2.0 */
/* io.h: standard input and output of a run; for process.c. All descriptors close on exec. */
#ifndef CONFORMANCE_HARNESS_IO_H
#define CONFORMANCE_HARNESS_IO_H

#include "conformance/harness/process.h"

/* A memory file with that content, to be read from its beginning. */
int io_memory(const char *content, size_t len);
void io_pipe(int fds[2]);
/* io_open_input - returns -1 for a closed input. *writer is the process that feeds a pipe. */
int io_open_input(const struct command *c, pid_t *writer);
int io_open_output(const struct command *c);
/* io_read_back - the content of a memory file; owned by the caller. */
char *io_read_back(int fd);

#endif
