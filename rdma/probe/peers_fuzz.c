/* SPDX-License-Identifier: Apache-2.0 */
/* peers_fuzz.c: feeds lists of peers to peers_parse(). */
#include "lib/testing/fuzz.h"
#include "rdma/probe/peers.h"

FUZZ(const uint8_t *data, size_t size)
{
	static struct peers peers;
	FUZZ_OUT(struct err, e);
	char text[PEER_TEXT_LEN];
	struct peer again;

	/* A failure may leave part of the list; the caller has no use for it. */
	if (!fuzz_ok(peers_parse((const char *)data, size, 7, &peers, &e), &e, NULL, 0))
		return 0;
	MUST(peers.n >= 2 && peers.n <= PEERS_MAX);
	for (size_t i = 0; i < peers.n; i++) {
		peer_format(&peers.list[i], text);
		MUST(!peer_parse(text, PEERS_PORT, &again, &e));
		MUST(ip_equal(again.addr, peers.list[i].addr) && again.port == peers.list[i].port);
	}
	return 0;
}
