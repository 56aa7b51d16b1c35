/* SPDX-License-Identifier: Apache-2.0 */
/* ib.c: whether two GIDs are in one subnet. */
#include "rdma/probe/ib.h"

#include <string.h>

/* The upper half of a GID is the prefix of its subnet. */
bool ib_needs_grh(const struct ib_path *p)
{
	return p->required || p->asked || memcmp(p->own, p->peer, 8) != 0;
}
