/* SPDX-License-Identifier: Apache-2.0 */
/* io.h: standard input and output of a run; for process.c. All descriptors close on exec. */
#ifndef CONFORMANCE_HARNESS_IO_H
#define CONFORMANCE_HARNESS_IO_H

#include "conformance/harness/process.h"

/* A memory file with that content, to be read from its beginning. */
int io_memory(const char *content, size_t len);
void io_pipe(int fds[2]);
/* Returns -1 for a closed one. Who feeds a pipe is put into *writer. */
int io_open_input(const struct command *c, pid_t *writer);
int io_open_output(const struct command *c);
/* What is in a memory file; owned by the caller. */
char *io_read_back(int fd);

#endif
