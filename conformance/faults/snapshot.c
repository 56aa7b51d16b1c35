/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot.c: what of a worker's world counts. */
#include "conformance/harness/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "conformance/faults/world.h"

/* A recreated VF has another value of "life"; everything else is equal. */
static void blank_lives(struct text *t)
{
	static const char key[] = "\"life\":";

	char *at = t->p ? strstr(t->p, key) : NULL;

	while (at) {
		at += strlen(key);
		size_t n = strspn(at, "0123456789");
		(void)memmove(at, at + n, strlen(at + n) + 1);
		t->len -= n;
		at = strstr(at, key);
	}
}

/* Where an address begins with a queue pair: in a line with a mark, skip bytes behind each key. */
struct queue_pair {
	const char *mark, *key;
	size_t skip, digits;
};

static void blank_queue_pairs_of(const struct queue_pair *q, char *line, size_t len)
{
	char *end = line + len, *at = line;

	if (!memmem(line, len, q->mark, strlen(q->mark)))
		return;
	while ((at = memmem(at, (size_t)(end - at), q->key, strlen(q->key)))) {
		at += strlen(q->key);
		if ((size_t)(end - at) >= q->skip + q->digits)
			memset(at + q->skip, '-', q->digits);
	}
}

/*
 * The address of an IPoIB interface begins with a flag and the number of a queue pair. That number
 * is another one whenever the interface is made. PFs show it for their VFs, too, behind the number
 * of the VF, and the state files have both.
 */
static void blank_queue_pairs(struct text *t)
{
	static const struct queue_pair places[] = {
		{ " type 32 ", " mac ", 0, 8 },
		{ " node-guid ", " mac ", 8, 8 },
		{ "\"nodeGuid\":", "\"mac\":\"", 0, 11 },
	};

	for (char *line = t->p; line && *line; line += strcspn(line, "\n") + 1) {
		for (size_t i = 0; i < COUNT(places); i++)
			blank_queue_pairs_of(&places[i], line, strcspn(line, "\n"));
	}
}

/*
 * LMDB's own files hold what railctl is asked for. What the kernel forgets when a VF leaves is not
 * looked at: it takes most of the time. A note of numbers stays until another pod has the device.
 */
void snapshot(struct world *w, struct text *out)
{
	static const char *const roots[] = { "/run", "/var/lib", NULL };
	static const char *const ignore[] = { WORK, "/proc/sys/net/*/conf/vf*",
					      "/run/railhead/numbers*", NULL };
	static const char *const opaque[] = { "*/ipam/*", NULL };
	static const char *const leases[] = { "railctl", "ipam", "lease", "list", "--json", NULL };
	const struct snapshot_scope s = { .roots = roots,
					  .ignore = ignore,
					  .opaque = opaque,
					  .folders = true,
					  .rdma = w->fixture->has_rdma };

	snapshot_take(&s, out);
	if (w->fixture->look)
		w->fixture->look(out);
	blank_lives(out);
	if (w->fixture->has_rdma)
		blank_queue_pairs(out);
	railctl(w, leases, out);
}
