/* SPDX-License-Identifier: Apache-2.0 */
/* hca_list.c: the entries of NCCL_IB_HCA. */
#include "lib/rdma/hca_list.h"

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

/* NAME:PORT:RAIL:PLANE */
static int rail_of(struct slice entry)
{
	const char *at = entry.p, *end = entry.p + entry.len;

	for (int colons = 0; colons < 2; colons++) {
		at = memchr(at, ':', (size_t)(end - at));
		if (!at)
			return -1;
		at++;
	}
	return at < end && *at >= '0' && *at <= '9' ? (int)(strtol(at, NULL, 10) & INT32_MAX) : -1;
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

int hca_list_rail(const char *list, const char *device, uint32_t port)
{
	bool exact = *list == '=';
	struct slice rest = { list + exact, strlen(list + exact) }, entry;
	unsigned n = 0;

	while (*list != '^' && n < ENTRIES_MAX && slice_next(&rest, ',', &entry)) {
		if (!entry.len || *entry.p == ':')
			continue;
		if (matches(entry, exact, device, port))
			return rail_of(entry);
		n++;
	}
	return -1;
}
