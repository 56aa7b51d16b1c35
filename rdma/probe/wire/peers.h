/* SPDX-License-Identifier: Apache-2.0 */
/* peers.h: the list of pods in a file: an address a line, with a port or without. Pure. */
#ifndef RAILHEAD_RDMA_PROBE_WIRE_PEERS_H
#define RAILHEAD_RDMA_PROBE_WIRE_PEERS_H

#include "lib/base/err.h"
#include "lib/base/ip.h"

#define PEERS_MAX     512
#define PEERS_PORT    18515 /* as perftest's programs use it: what is open for them is open for us */
#define PEER_TEXT_LEN 56

struct peer {
	struct ip addr;
	uint16_t port;
};

struct peers {
	struct peer list[PEERS_MAX];
	size_t n;
};

/* peer_parse - "10.0.0.1", "10.0.0.1:18515", "fd00::1" or "[fd00::1]:18515". */
int peer_parse(const char *text, uint16_t port, struct peer *out, struct err *e) must_check;

/*
 * peers_parse - len bytes of text: a peer a line, empty lines and what follows a '#' left out, port
 * for those without. ERR_CONFIG names the line; the same peer twice is one, fewer than two are too
 * few.
 */
int peers_parse(const char *text, size_t len, uint16_t port, struct peers *out,
		struct err *e) must_check;

/* peer_format - without the port where it is PEERS_PORT. Returns out. */
char *peer_format(const struct peer *p, char out[PEER_TEXT_LEN]);

/*
 * peers_pair - round robin: in each of peers_rounds(n) rounds every peer is in one pair at most,
 * and after all of them every two peers have met once. Pair k of a round; false: there are no more.
 */
size_t peers_rounds(size_t n);
bool peers_pair(size_t n, size_t round, size_t k, size_t pair[2]);

#endif
