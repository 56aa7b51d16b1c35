/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdma.h: RDMA devices as the kernel's RDMA netlink shows, moves and renames them.
 *
 * A socket of nl_rdma_open() sees the devices of the network namespace it was born in: in mode
 * exclusive those alone, in mode shared all devices. A request that changes a device is refused
 * unless the calling thread is in that namespace too (drivers/infiniband/core/device.c compares
 * both).
 *
 * A device keeps its index over moves and renames until its driver lets go of it; its name does
 * not: udev renames, and a move may.
 */
#ifndef RAILHEAD_LIB_DEVICE_RDMA_H
#define RAILHEAD_LIB_DEVICE_RDMA_H

#include "lib/device/ib_port.h"
#include "lib/sys/netns.h"
#include "lib/net/nl.h"

#define RDMA_NAME_LEN    64 /* IB_DEVICE_NAME_MAX, NUL included */
#define RDMA_CHARDEV_LEN 32 /* "uverbs127", NUL included */

/*
 * nl_rdma_open - a socket for the calls below, of the caller's network namespace. ERR_NOTFOUND
 * (EPROTONOSUPPORT) when this kernel has no RDMA (ib_core is not loaded). Free with nl_release().
 */
int nl_rdma_open(struct nl **out, struct err *e) must_check;
/* nl_rdma_open_in - the same for the namespace ns. The calling thread is in host when it returns.
 */
int nl_rdma_open_in(const struct netns *ns, const struct netns *host, struct nl **out,
		    struct err *e) must_check;

/* ---- the mode of all network namespaces ---- */

/* The kernel's numbers (RDMA_NLDEV_SYS_ATTR_NETNS_MODE). */
enum rdma_mode { RDMA_EXCLUSIVE = 0, RDMA_SHARED = 1 };

const char *rdma_mode_name(enum rdma_mode m); /* "exclusive", "shared" */

struct rdma_sys {
	enum rdma_mode mode; /* a kernel before 5.2 does not tell, and shares */
	bool can_notify;     /* it announces devices (6.12) */
};
int nl_rdma_sys_get(struct nl *nl, struct rdma_sys *out, struct err *e) must_check;

/*
 * nl_rdma_sys_set - errnum EBUSY: there are other network namespaces already, so only at boot;
 * what to do instead is in the hint.
 */
int nl_rdma_sys_set(struct nl *nl, enum rdma_mode mode, struct err *e) must_check;

/* ---- devices ---- */

struct rdma_link {
	uint32_t index;
	char name[RDMA_NAME_LEN];
	uint32_t ports;      /* they are numbered from 1 */
	uint64_t node_guid;  /* 0: none */
	uint8_t node_type;   /* 1: a channel adapter, as all of InfiniBand and RoCE are */
	char protocol[16];   /* "roce", "ib", "iw", "opa", "usnic"; "" on kernels before 5.2 */
	char fw_version[32]; /* "" when it has none */
};

/* nl_rdma_get - ERR_NOTFOUND (ENODEV) when this namespace has no device of that index. */
int nl_rdma_get(struct nl *nl, uint32_t index, struct rdma_link *out, struct err *e) must_check;

/*
 * nl_rdma_list - call fn for each device. Return non-zero from fn to stop: this is not an error. fn
 * may use nl.
 */
typedef int (*rdma_link_fn)(const struct rdma_link *d, void *arg);
int nl_rdma_list(struct nl *nl, rdma_link_fn fn, void *arg, struct err *e) must_check;

/* nl_rdma_by_name - ERR_NOTFOUND (ENODEV) when there is none of that name here. */
int nl_rdma_by_name(struct nl *nl, const char *name, struct rdma_link *out,
		    struct err *e) must_check;

/* The kernel's numbers (enum ib_port_state). */
enum rdma_port_state {
	RDMA_PORT_NOP = 0,
	RDMA_PORT_DOWN = 1,
	RDMA_PORT_INIT = 2,
	RDMA_PORT_ARMED = 3,
	RDMA_PORT_ACTIVE = 4,
	RDMA_PORT_DEFER = 5,
};
const char *rdma_port_state_name(enum rdma_port_state s); /* "ACTIVE" */

struct rdma_port {
	uint32_t port; /* from 1 */
	enum rdma_port_state state;
	uint8_t phys_state; /* ib_phys_state_name() names it; 0: not reported */
	struct ib_subnet subnet;
	int ifindex; /* of its network interface; 0: none, or none in the socket's namespace */
};

/*
 * nl_rdma_ports - call fn for each port of the device. Return non-zero from fn to stop: this is not
 * an error. fn may use nl. ERR_NOTFOUND (ENODEV) as nl_rdma_get.
 */
typedef int (*rdma_port_fn)(const struct rdma_port *p, void *arg);
int nl_rdma_ports(struct nl *nl, uint32_t index, rdma_port_fn fn, void *arg,
		  struct err *e) must_check;

/*
 * nl_rdma_port - one port; ERR_NOTFOUND (ENODEV) when the device has none of that number, or there
 * is no such device.
 */
int nl_rdma_port(struct nl *nl, uint32_t index, uint32_t port, struct rdma_port *out,
		 struct err *e) must_check;

/* A queue pair of a process. The kernel's numbers (enum ib_qp_type, enum ib_qp_state). */
#define RDMA_QP_RC  2
#define RDMA_QP_RTR 2 /* it may receive, and in the next state also send */
#define RDMA_QP_RTS 3
struct rdma_qp {
	uint32_t pid; /* 0: of a task that ended, or of another PID namespace */
	uint8_t type, state;
};

/*
 * nl_rdma_qps - call fn for each queue pair of the device that a process has, of those that the
 * kernel shows here. Return non-zero from fn to stop: this is not an error. ERR_NOTFOUND
 * (ENODEV) as nl_rdma_get.
 */
typedef int (*rdma_qp_fn)(const struct rdma_qp *q, void *arg);
int nl_rdma_qps(struct nl *nl, uint32_t index, rdma_qp_fn fn, void *arg, struct err *e) must_check;

/* A character device below /dev/infiniband. */
struct rdma_chardev {
	char name[RDMA_CHARDEV_LEN]; /* "uverbs0" */
	uint32_t major, minor;
};

/* Which one: of all devices together ("rdma_cm"), of a device ("uverbs"), of a port ("umad"). */
struct rdma_chardev_of {
	const char *type; /* "uverbs", "umad", "issm", "rdma_cm" */
	bool global;      /* of all devices: the next two say nothing */
	uint32_t index;
	uint32_t port; /* 0: not of a port */
};

/*
 * nl_rdma_chardev - the kernel loads the module that makes it. ERR_NOTFOUND (ENOENT) when it has
 * none of that kind, ERR_NOTFOUND (ENODEV) when there is no such device or port here.
 */
int nl_rdma_chardev(struct nl *nl, struct rdma_chardev_of of, struct rdma_chardev *out,
		    struct err *e) must_check;

/*
 * nl_rdma_rename - within its namespace. errnum EEXIST: the name is taken (up to Linux 7.2 in any
 * namespace). A name that the kernel would cut or take for a pattern is ERR_FIELD.
 */
int nl_rdma_rename(struct nl *nl, uint32_t index, const char *name, struct err *e) must_check;

/*
 * nl_rdma_move - out of the namespace of the socket and of the calling thread into target. Every
 * process that has the device open loses it. Its character devices are recreated, perhaps with
 * other numbers. errnum EOPNOTSUPP: mode shared, or a driver that cannot; EEXIST: target has a
 * device of that name (Linux 7.3); the hint says which. name renames it on the way, which needs
 * Linux 7.3 (an older kernel would rename it and not move it); NULL: it keeps its name.
 */
int nl_rdma_move(struct nl *nl, uint32_t index, const struct netns *target, const char *name,
		 struct err *e) must_check;

#endif
