/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ethtool.h: what ethtool(8) can set of an interface, read and put back.
 *
 * An interface is given by its name in the caller's network namespace. Settings are the kernel's
 * own bytes: they mean something only in the boot in which they were read. Settings that the driver
 * does not have are empty.
 */
#ifndef RAILHEAD_LIB_DEVICE_ETHTOOL_H
#define RAILHEAD_LIB_DEVICE_ETHTOOL_H

#include "lib/base/err.h"

#define ETHTOOL_BLOCKS 4  /* of 32 features each */
#define ETHTOOL_BYTES  96 /* of the largest of the structures */

enum ethtool_part {
	ETHTOOL_RINGS,
	ETHTOOL_QUEUES,
	ETHTOOL_COALESCING,
	ETHTOOL_PAUSE,
	ETHTOOL_MESSAGES,
	ETHTOOL_PRIVATE,
	ETHTOOL_PARTS
};

struct ethtool_state {
	uint32_t blocks;                 /* 0: features are unknown */
	uint32_t wanted[ETHTOOL_BLOCKS]; /* features that a user asked for, a bit each */
	uint32_t can[ETHTOOL_BLOCKS];    /* those that can be changed */
	bool has[ETHTOOL_PARTS];
	uint8_t part[ETHTOOL_PARTS][ETHTOOL_BYTES];
};

/* ethtool_part_name - the word for VF states and logs: "rings". */
const char *ethtool_part_name(enum ethtool_part p);
/* ethtool_part_size - how many bytes of ethtool_state.part[p] are used. */
size_t ethtool_part_size(enum ethtool_part p);

/* ethtool_get - ERR_KERNEL, errnum ENODEV when there is no such interface. */
int ethtool_get(const char *ifname, struct ethtool_state *out, struct err *e) must_check;

/*
 * ethtool_set - change each setting that differs between is and want to that of want. For each
 * change that the driver refuses, refused is called with the name of the setting; the others
 * follow.
 */
struct ethtool_set {
	const struct ethtool_state *is, *want;
	void (*refused)(const char *what, const struct err *why, void *arg);
	void *arg;
};
void ethtool_set(const char *ifname, const struct ethtool_set *put);

/* ethtool_changed_part - the word for a difference after the first n ones; NULL: no more. Pure. */
const char *ethtool_changed_part(const struct ethtool_state *is, const struct ethtool_state *want,
				 size_t n);

/*
 * ethtool_get_rings - how many descriptors the rings of an interface have, and how many they can
 * have; 0: the driver has no such ring. ethtool_set_rings - rx and tx; 0: unchanged. A driver may
 * round them. ERR_NOTFOUND, errnum EOPNOTSUPP: the driver has no rings; ENODEV: no interface.
 * ERR_KERNEL: it refuses.
 */
struct ethtool_rings {
	uint32_t rx, tx, rx_max, tx_max;
};
int ethtool_get_rings(const char *ifname, struct ethtool_rings *out, struct err *e) must_check;
int ethtool_set_rings(const char *ifname, uint32_t rx, uint32_t tx, struct err *e) must_check;

/*
 * ethtool_get_storm, ethtool_set_storm - after so many ms of pause frames without an end, a card
 * stops to obey or to send them (ETHTOOL_PFC_PREVENTION_TOUT); 0: never. ETHTOOL_STORM_AUTO: the
 * driver chooses. ERR_NOTFOUND, errnum EOPNOTSUPP: the driver has no such setting; ENODEV: no
 * interface. ERR_KERNEL: it refuses; mlx5 takes 80 to 8000 ms.
 */
#define ETHTOOL_STORM_AUTO 0xffff
int ethtool_get_storm(const char *ifname, uint16_t *ms, struct err *e) must_check;
int ethtool_set_storm(const char *ifname, uint16_t ms, struct err *e) must_check;

#endif
