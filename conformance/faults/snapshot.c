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

/*
 * LMDB's own files hold what railctl is asked for. What the kernel forgets when a VF leaves is not
 * looked at: it takes most of the time.
 */
void snapshot(struct world *w, struct text *out)
{
	static const char *const roots[] = { "/run", "/var/lib", NULL };
	static const char *const ignore[] = { WORK, "/proc/sys/net/*/conf/vf*", NULL };
	static const char *const opaque[] = { "*/ipam/*", NULL };
	static const char *const leases[] = { "railctl", "ipam", "lease", "list", "--json", NULL };
	const struct snapshot_scope s = { .roots = roots,
					  .ignore = ignore,
					  .opaque = opaque,
					  .folders = true,
					  .rdma = w->fixture->has_rdma };

	snapshot_take(&s, out);
	blank_lives(out);
	railctl(w, leases, out);
}
