/* SPDX-License-Identifier: Apache-2.0 */
/* ethtool.c: reads and restores features, rings, channels and the like with the ethtool ioctl. */
#include "lib/device/ethtool.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

static const struct {
	const char *name;
	uint32_t get, set;
	size_t size;
} parts[ETHTOOL_PARTS] = {
	[ETHTOOL_RINGS] = { "rings", ETHTOOL_GRINGPARAM, ETHTOOL_SRINGPARAM,
			    sizeof(struct ethtool_ringparam) },
	[ETHTOOL_QUEUES] = { "queues", ETHTOOL_GCHANNELS, ETHTOOL_SCHANNELS,
			     sizeof(struct ethtool_channels) },
	[ETHTOOL_COALESCING] = { "coalescing", ETHTOOL_GCOALESCE, ETHTOOL_SCOALESCE,
				 sizeof(struct ethtool_coalesce) },
	[ETHTOOL_PAUSE] = { "pause", ETHTOOL_GPAUSEPARAM, ETHTOOL_SPAUSEPARAM,
			    sizeof(struct ethtool_pauseparam) },
	[ETHTOOL_MESSAGES] = { "messages", ETHTOOL_GMSGLVL, ETHTOOL_SMSGLVL,
			       sizeof(struct ethtool_value) },
	[ETHTOOL_PRIVATE] = { "private flags", ETHTOOL_GPFLAGS, ETHTOOL_SPFLAGS,
			      sizeof(struct ethtool_value) },
};

_Static_assert(sizeof(struct ethtool_coalesce) <= ETHTOOL_BYTES, "ETHTOOL_BYTES");

const char *ethtool_part_name(enum ethtool_part p)
{
	return parts[p].name;
}

size_t ethtool_part_size(enum ethtool_part p)
{
	return parts[p].size;
}

/* 0, or what the kernel's errno is. */
static int ethtool_ioctl(int fd, const char *ifname, void *what)
{
	struct ifreq rq = { .ifr_data = what };

	memcpy(rq.ifr_name, ifname, strnlen(ifname, IFNAMSIZ - 1));
	return ioctl(fd, SIOCETHTOOL, &rq) < 0 ? errno : 0;
}

static int ethtool_open_socket(struct err *e)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	return fd < 0 ? err_set(e, ERR_IO, errno, "open a socket for ethtool") : fd;
}

/* ---- reading ---- */

static int get_features(int fd, const char *ifname, struct ethtool_state *s)
{
	_Alignas(struct ethtool_gfeatures) char
		cap[sizeof(struct ethtool_gfeatures) +
		    sizeof(struct ethtool_get_features_block) * ETHTOOL_BLOCKS] = { 0 };
	struct ethtool_gfeatures *f = (void *)cap;

	f->cmd = ETHTOOL_GFEATURES;
	f->size = ETHTOOL_BLOCKS;
	int errnum = ethtool_ioctl(fd, ifname, f);

	if (errnum)
		return errnum;
	s->blocks = f->size < ETHTOOL_BLOCKS ? f->size : ETHTOOL_BLOCKS;
	for (uint32_t i = 0; i < s->blocks; i++) {
		s->can[i] = f->features[i].available & ~f->features[i].never_changed;
		s->wanted[i] = f->features[i].requested & s->can[i];
	}
	return 0;
}

/* Every struct of ethtool begins with the number of the command. */
#define HEAD sizeof(uint32_t)

int ethtool_get(const char *ifname, struct ethtool_state *out, struct err *e)
{
	struct ethtool_state s = { .blocks = 0 };
	auto_fd int fd = ethtool_open_socket(e);

	if (fd < 0)
		return -1;
	int errnum = get_features(fd, ifname, &s);
	if (errnum == ENODEV)
		return err_set(e, ERR_KERNEL, errnum, "interface \"%.16s\"", ifname);
	for (size_t i = 0; i < ETHTOOL_PARTS; i++) {
		uint32_t part[ETHTOOL_BYTES / sizeof(uint32_t)] = { parts[i].get };

		s.has[i] = ethtool_ioctl(fd, ifname, part) == 0;
		if (s.has[i])
			memcpy(s.part[i], part, parts[i].size);
	}
	*out = s;
	return 0;
}

/* ---- comparing ---- */

static uint32_t changed_features(const struct ethtool_state *is, const struct ethtool_state *want,
				 size_t i)
{
	return i < is->blocks && i < want->blocks
		       ? (is->wanted[i] ^ want->wanted[i]) & is->can[i] & want->can[i]
		       : 0;
}

static bool same_features(const struct ethtool_state *is, const struct ethtool_state *want)
{
	for (size_t i = 0; i < ETHTOOL_BLOCKS; i++) {
		if (changed_features(is, want, i))
			return false;
	}
	return true;
}

static bool same_part(const struct ethtool_state *is, const struct ethtool_state *want, size_t i)
{
	return !is->has[i] || !want->has[i] ||
	       memcmp(is->part[i] + HEAD, want->part[i] + HEAD, parts[i].size - HEAD) == 0;
}

const char *ethtool_changed_part(const struct ethtool_state *is, const struct ethtool_state *want,
				 size_t n)
{
	if (!same_features(is, want) && n-- == 0)
		return "features";
	for (size_t i = 0; i < ETHTOOL_PARTS; i++) {
		if (!same_part(is, want, i) && n-- == 0)
			return parts[i].name;
	}
	return NULL;
}

/* ---- putting back ---- */

static void report_refusal(const struct ethtool_set *put, const char *what, int errnum)
{
	struct err why;

	err_set(&why, ERR_KERNEL, errnum, "ethtool: %s", what);
	put->refused(what, &why, put->arg);
}

static void put_features(int fd, const char *ifname, const struct ethtool_set *put)
{
	_Alignas(struct ethtool_sfeatures) char
		cap[sizeof(struct ethtool_sfeatures) +
		    sizeof(struct ethtool_set_features_block) * ETHTOOL_BLOCKS] = { 0 };
	struct ethtool_sfeatures *f = (void *)cap;
	struct ethtool_state now = { .blocks = 0 };

	if (same_features(put->is, put->want))
		return;
	f->cmd = ETHTOOL_SFEATURES;
	f->size = put->is->blocks;
	for (uint32_t i = 0; i < put->is->blocks; i++) {
		f->features[i].valid = changed_features(put->is, put->want, i);
		f->features[i].requested = put->want->wanted[i] & f->features[i].valid;
	}
	int errnum = ethtool_ioctl(fd, ifname, f);
	if (!errnum)
		errnum = get_features(fd, ifname, &now);
	if (!errnum && !same_features(&now, put->want))
		errnum = EOPNOTSUPP;
	if (errnum)
		report_refusal(put, "features", errnum);
}

static void put_part(int fd, const char *ifname, const struct ethtool_set *put, size_t i)
{
	uint32_t part[ETHTOOL_BYTES / sizeof(uint32_t)];

	if (same_part(put->is, put->want, i))
		return;
	memcpy(part, put->want->part[i], sizeof(part));
	part[0] = parts[i].set;
	int errnum = ethtool_ioctl(fd, ifname, part);
	if (errnum)
		report_refusal(put, parts[i].name, errnum);
}

void ethtool_set(const char *ifname, const struct ethtool_set *put)
{
	struct err why;
	auto_fd int fd = ethtool_open_socket(&why);

	if (fd < 0) {
		put->refused("ethtool's settings", &why, put->arg);
		return;
	}
	/* Rings and queues first: a driver may judge the rest by them. */
	for (size_t i = 0; i < ETHTOOL_PARTS; i++)
		put_part(fd, ifname, put, i);
	put_features(fd, ifname, put);
}

/* ---- rings ---- */

/* A request without a driver that can answer it is not an error of the kernel. */
static enum err_code code_of(int errnum)
{
	return errnum == EOPNOTSUPP || errnum == ENODEV ? ERR_NOTFOUND : ERR_KERNEL;
}

static int rings_request(int fd, const char *ifname, struct ethtool_ringparam *p, struct err *e)
{
	const char *verb = p->cmd == ETHTOOL_GRINGPARAM ? "read" : "set";
	int errnum = ethtool_ioctl(fd, ifname, p);

	return errnum ? err_set(e, code_of(errnum), errnum, "%s the rings of interface %.16s", verb,
				ifname)
		      : 0;
}

int ethtool_get_rings(const char *ifname, struct ethtool_rings *out, struct err *e)
{
	struct ethtool_ringparam p = { .cmd = ETHTOOL_GRINGPARAM };
	auto_fd int fd = ethtool_open_socket(e);

	if (fd < 0 || rings_request(fd, ifname, &p, e))
		return -1;
	*out = (struct ethtool_rings){ .rx = p.rx_pending,
				       .tx = p.tx_pending,
				       .rx_max = p.rx_max_pending,
				       .tx_max = p.tx_max_pending };
	return 0;
}

int ethtool_set_rings(const char *ifname, uint32_t rx, uint32_t tx, struct err *e)
{
	struct ethtool_ringparam p = { .cmd = ETHTOOL_GRINGPARAM };
	auto_fd int fd = ethtool_open_socket(e);

	if (fd < 0 || rings_request(fd, ifname, &p, e))
		return -1;
	p.cmd = ETHTOOL_SRINGPARAM;
	p.rx_pending = rx ? rx : p.rx_pending;
	p.tx_pending = tx ? tx : p.tx_pending;
	return rings_request(fd, ifname, &p, e);
}

/* ---- pause storms ---- */

/* Drivers without the setting say EOPNOTSUPP; those that have other tunables EINVAL (mlx5's
 * en_ethtool.c of Linux 6.12 says it of what it does not know). */
static int storm_request(const char *ifname, uint32_t cmd, uint16_t *ms, struct err *e)
{
	_Alignas(struct ethtool_tunable) char
		buf[sizeof(struct ethtool_tunable) + sizeof(uint64_t)] = { 0 };
	struct ethtool_tunable *t = (void *)buf;
	auto_fd int fd = ethtool_open_socket(e);

	if (fd < 0)
		return -1;
	*t = (struct ethtool_tunable){ .cmd = cmd,
				       .id = ETHTOOL_PFC_PREVENTION_TOUT,
				       .type_id = ETHTOOL_TUNABLE_U16,
				       .len = sizeof(*ms) };
	memcpy(buf + sizeof(*t), ms, sizeof(*ms));

	int errnum = ethtool_ioctl(fd, ifname, t);

	if (errnum)
		return err_set(e, code_of(errnum), errnum,
			       "%s the time of pause storms of interface %.16s",
			       cmd == ETHTOOL_GTUNABLE ? "read" : "set", ifname);
	memcpy(ms, buf + sizeof(*t), sizeof(*ms));
	return 0;
}

int ethtool_get_storm(const char *ifname, uint16_t *ms, struct err *e)
{
	uint16_t is = 0;

	if (storm_request(ifname, ETHTOOL_GTUNABLE, &is, e))
		return -1;
	*ms = is;
	return 0;
}

int ethtool_set_storm(const char *ifname, uint16_t ms, struct err *e)
{
	return storm_request(ifname, ETHTOOL_STUNABLE, &ms, e);
}
