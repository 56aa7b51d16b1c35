/* SPDX-License-Identifier: Apache-2.0 */
/* box.h: the private surroundings of one item, and small things of the operating system. */
#ifndef CONFORMANCE_SPEC_BOX_H
#define CONFORMANCE_SPEC_BOX_H

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/harness/netns.h"
#include "conformance/spec/spec.h"

/*
 * Run body in a child with mount, network, process and IPC namespaces of its own. There /run and
 * /var/lib are empty, and MASTER exists (except if the profile has hostNetwork). The child writes
 * its answer to fd. Returns the child.
 */
pid_t box_start(const struct profile *p, void (*body)(void *arg, int fd), void *arg, int fd);
void box_furnish(const struct profile *p, const char *self);

/* The surroundings themselves do not work: ends the process with a message. */
void broken(const char *what) __attribute__((noreturn));
double now_ms(void);
/* What sh makes of it, in the network namespace at netns (NULL: here) must succeed. */
void run_shell(const char *netns, const char *command);
void copy_file(const char *from, const char *to);
void remove_file(const char *path);

#endif
