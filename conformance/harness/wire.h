/* SPDX-License-Identifier: Apache-2.0 */
/* wire.h: the frames that arrive on a link. */
#ifndef CONFORMANCE_HARNESS_WIRE_H
#define CONFORMANCE_HARNESS_WIRE_H

#include <stddef.h>

/* A whole frame with its Ethernet header; protocol: ETHERTYPE_*. */
typedef void (*wire_fn)(const unsigned char *frame, size_t len, unsigned short protocol);

/*
 * wire_main - the main function of a program that is called with the name of an interface. It
 * prints "ready" first, when nothing can be missed any more. Then it calls show for each frame that
 * arrives, until it is killed. Returns an exit status.
 */
int wire_main(int argc, char **argv, wire_fn show);

#endif
