/* SPDX-License-Identifier: Apache-2.0 */
/* netns.h: named network namespaces, made and entered as a runtime does it. */
#ifndef CONFORMANCE_HARNESS_NETNS_H
#define CONFORMANCE_HARNESS_NETNS_H

/* Make a network namespace at a path that does not exist. Failure ends the program. */
void netns_make(const char *path);
/* Unmount the namespace at the path and remove the file. Failure ends the program. */
void netns_drop(const char *path);
/* Enter the namespace at the path. Returns 0, or -1 with errno. */
int netns_enter(const char *path);
/*
 * Call fn(arg) inside the namespace at the path, then return to the own one. Returns 0, or -1 with
 * errno when the namespace cannot be entered. A failure to return ends the program.
 */
int netns_call(const char *path, void (*fn)(void *arg), void *arg);
/* unshare(2) with CLONE_NEWNET among the flags; waits while the kernel cannot make a namespace. */
int netns_unshare(int flags);

#endif
