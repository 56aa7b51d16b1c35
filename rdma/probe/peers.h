/* SPDX-License-Identifier: Apache-2.0 */
/* peers.h: a list of pods: one address on each line, with or without a port. Pure. */
#ifndef RAILHEAD_RDMA_PROBE_PEERS_H
#define RAILHEAD_RDMA_PROBE_PEERS_H

#include "lib/base/err.h"
#include "lib/base/ip.h"

#define PEERS_MAX 512
#define PEERS_PORT                                                                                 \
	18515 /* TCP port; the programs of perftest use it too, so firewalls may permit it */
#define PEER_TEXT_LEN 56

struct peer {
	struct ip addr;
	uint16_t port;
};

struct peers {
	struct peer list[PEERS_MAX];
	size_t n;
};

/* peer_parse - "10.0.0.1", "10.0.0.1:18515", "fd00::1" or "[fd00::1]:18515"; port: the default. */
int peer_parse(const char *text, uint16_t port, struct peer *out, struct err *e) must_check;

/*
 * peers_parse - len bytes of text: one peer on each line; empty lines and text after '#' are
 * ignored. port: the default. ERR_CONFIG names the line. A peer that appears twice counts
 * once. There must be at least two.
 */
int peers_parse(const char *text, size_t len, uint16_t port, struct peers *out,
		struct err *e) must_check;

/* peer_format - as text, without the port if it is PEERS_PORT. Returns out. */
char *peer_format(const struct peer *p, char out[PEER_TEXT_LEN]);

#endif
