/* SPDX-License-Identifier: Apache-2.0 */
/* peer.h: where another rdma-probe listens. Pure. */
#ifndef RAILHEAD_RDMA_PROBE_PEER_H
#define RAILHEAD_RDMA_PROBE_PEER_H

#include "lib/base/err.h"
#include "lib/base/ip.h"

#define PEERS_PORT                                                                                 \
	18515 /* TCP port; the programs of perftest use it too, so firewalls may permit it */
#define PEER_TEXT_LEN 56

struct peer {
	struct ip addr;
	uint16_t port;
};

/* peer_parse - "10.0.0.1", "10.0.0.1:18515", "fd00::1" or "[fd00::1]:18515"; port: the default. */
int peer_parse(const char *text, uint16_t port, struct peer *out, struct err *e) must_check;

/* peer_format - as text, without the port if it is PEERS_PORT. Returns out. */
char *peer_format(const struct peer *p, char out[PEER_TEXT_LEN]);

#endif
