/* SPDX-License-Identifier: Apache-2.0 */
/* hca_list.c: the entries of NCCL_IB_HCA. */
#include "lib/nccl/hca_list.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/parse.h"

/* the size of NCCL's list (MAX_IB_DEVS) */
#define ENTRIES_MAX 32

#define ANY_PORT (-1)

static bool matches(struct slice entry, bool exact, const char *device, uint32_t port)
{
	const char *colon = memchr(entry.p, ':', entry.len);
	size_t len = colon ? (size_t)(colon - entry.p) : entry.len, end = len + 1;
	bool has_port = end < entry.len && entry.p[end] != ':';
	long number = has_port ? strtol(entry.p + end, NULL, 10) : ANY_PORT;

	return strncmp(entry.p, device, len) == 0 && !(exact && device[len]) &&
	       (number == ANY_PORT || port == HCA_PORT_UNKNOWN || number == (long)port);
}

/* A list without an entry matches each port, so that "^" excludes each. */
static bool is_in_list(const char *list, bool exact, const char *device, uint32_t port)
{
	struct slice rest = { list, strlen(list) }, entry;
	unsigned n = 0;

	while (n < ENTRIES_MAX && slice_next(&rest, ',', &entry)) {
		/* An entry without a name is none. */
		if (!entry.len || *entry.p == ':')
			continue;
		if (matches(entry, exact, device, port))
			return true;
		n++;
	}
	return n == 0;
}

bool hca_list_selects(const char *list, const char *device, uint32_t port)
{
	bool negative = *list == '^', exact;

	list += negative;
	exact = *list == '=';
	list += exact;
	return is_in_list(list, exact, device, port) != negative;
}
