/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the interface of the default route in /proc/net/route. */
#include <fcntl.h>
#include <string.h>

#include "lib/sys/fs.h"
#include "topo/read/tree.h"

#define ROUTES_MAX (1024 * 1024)

enum { ROUTE_IFNAME, ROUTE_DESTINATION, ROUTE_METRIC = 6, ROUTE_MASK, ROUTE_FIELDS };

static bool route_is_zero(struct slice s)
{
	return s.len == 8 && strncmp(s.p, "00000000", 8) == 0;
}

/* A line of /proc/net/route: its metric when it is a default route, else -1. */
static int64_t take_route(struct slice line, char ifname[IFNAME_LEN])
{
	struct slice field[ROUTE_FIELDS];
	char metric[16];
	uint64_t n;

	for (size_t i = 0; i < ROUTE_FIELDS; i++)
		if (!slice_next(&line, '\t', &field[i]))
			return -1;
	if (!route_is_zero(field[ROUTE_DESTINATION]) || !route_is_zero(field[ROUTE_MASK]) ||
	    slice_copy(field[ROUTE_METRIC], metric, sizeof(metric)) ||
	    parse_u64(metric, 0, UINT32_MAX, &n) ||
	    slice_copy(field[ROUTE_IFNAME], ifname, IFNAME_LEN))
		return -1;
	return (int64_t)n;
}

void topo_default_netdev(const char *proc, bool live, char out[IFNAME_LEN])
{
	auto_fd int dir = proc ? open(proc, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	auto_fd int fd = dir < 0 ? -1 : tree_text(dir, "net/route", live);
	auto_free char *text = NULL;
	int64_t best = -1, metric;
	char ifname[IFNAME_LEN];
	struct err e = { 0 };
	size_t len;

	*out = '\0';
	if (fd < 0 || fs_read_fd(fd, ROUTES_MAX, &text, &len, &e))
		return;
	struct slice rest = { text, strlen(text) }, line;
	while (slice_next(&rest, '\n', &line)) {
		metric = take_route(line, ifname);
		if (metric < 0 || (best >= 0 && metric >= best))
			continue;
		best = metric;
		(void)strcpy(out, ifname);
	}
}
