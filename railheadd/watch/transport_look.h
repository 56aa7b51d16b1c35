/* SPDX-License-Identifier: Apache-2.0 */
/* transport_look.h: one look at the pods of this node that hold rails: queue pairs, connections. */
#ifndef RAILHEAD_RAILHEADD_WATCH_TRANSPORT_LOOK_H
#define RAILHEAD_RAILHEADD_WATCH_TRANSPORT_LOOK_H

#include "railheadd/watch/transport.h"

/*
 * transport_look_main - for a child: print the pods, with their sockets, as look_print(). A pod
 * holds rails if an interface of an attachment has an RDMA device. A pod that had a queue pair in
 * the look before is believed while its connections stay below the limit, Mbit/s. Returns the exit
 * status.
 */
int transport_look_main(const struct transport_table *before, uint32_t limit);

#endif
