/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ethtool_stats.c: three ioctls: how many, their names, their values.
 *
 * The kernel writes as many values as the driver has at that moment, whatever the request says
 * (net/ethtool/ioctl.c, ethtool_get_stats). So there is memory for the most that is accepted.
 */
#include "lib/device/ethtool_stats.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

struct stats {
	struct ethtool_gstrings *names;
	struct ethtool_stats *values;
};

static void stats_clear(struct stats *s)
{
	free(s->names);
	free(s->values);
}

static int ethtool_stats_ask(int fd, const char *ifname, void *what, struct err *e)
{
	struct ifreq rq = { .ifr_data = what };

	memcpy(rq.ifr_name, ifname, strnlen(ifname, IFNAMSIZ - 1));
	return ioctl(fd, SIOCETHTOOL, &rq) < 0
		       ? err_set(e, ERR_KERNEL, errno, "statistics of \"%.16s\"", ifname)
		       : 0;
}

static int ethtool_stats_count(int fd, const char *ifname, uint32_t *out, struct err *e)
{
	_Alignas(struct ethtool_sset_info) char cap[sizeof(struct ethtool_sset_info) + 4] = { 0 };
	struct ethtool_sset_info *info = (void *)cap;

	info->cmd = ETHTOOL_GSSET_INFO;
	info->sset_mask = 1ULL << ETH_SS_STATS;
	if (ethtool_stats_ask(fd, ifname, info, e))
		return -1;
	*out = info->sset_mask ? info->data[0] : 0;
	if (*out > ETHTOOL_STATS_MAX)
		return err_set(e, ERR_KERNEL, E2BIG, "statistics of \"%.16s\": %u", ifname, *out);
	return *out ? 0 : err_set(e, ERR_KERNEL, EOPNOTSUPP, "statistics of \"%.16s\"", ifname);
}

static int get(int fd, const char *ifname, struct stats *s, struct err *e)
{
	uint32_t n;

	if (ethtool_stats_count(fd, ifname, &n, e))
		return -1;
	s->names = calloc(1, sizeof(*s->names) + (size_t)ETHTOOL_STATS_MAX * ETH_GSTRING_LEN);
	s->values = calloc(1, sizeof(*s->values) + ETHTOOL_STATS_MAX * sizeof(uint64_t));
	if (!s->names || !s->values)
		return err_nomem(e);
	s->names->cmd = ETHTOOL_GSTRINGS;
	s->names->string_set = ETH_SS_STATS;
	s->names->len = n;
	s->values->cmd = ETHTOOL_GSTATS;
	s->values->n_stats = n;
	return ethtool_stats_ask(fd, ifname, s->names, e) ||
			       ethtool_stats_ask(fd, ifname, s->values, e)
		       ? -1
		       : 0;
}

int ethtool_stats(const char *ifname, ethtool_stat_fn fn, void *arg, struct err *e)
{
	auto_fd int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	auto_clean(stats_clear) struct stats s = { NULL, NULL };
	char name[ETH_GSTRING_LEN + 1] = "";

	if (fd < 0)
		return err_set(e, ERR_IO, errno, "open a socket for ethtool");
	if (get(fd, ifname, &s, e))
		return -1;
	/* A driver whose number of queues changed in between has other names. */
	for (uint32_t i = 0; s.names->len == s.values->n_stats && i < s.names->len; i++) {
		memcpy(name, s.names->data + (size_t)i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
		if (fn(name, s.values->data[i], arg))
			break;
	}
	return 0;
}
