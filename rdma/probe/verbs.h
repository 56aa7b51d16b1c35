/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe/verbs/verbs.h: the functions of libibverbs and librdmacm that rdma-probe needs.
 *
 * Only the files of this room include the headers of these libraries. A connection is a reliable
 * queue pair between two processes. It has two pieces of memory. Data are sent from `out`; the peer
 * may write to `in`, and receives are posted there. If there is nothing to test with, the error is
 * ERR_UNAVAILABLE.
 */
#ifndef RAILHEAD_RDMA_PROBE_VERBS_H
#define RAILHEAD_RDMA_PROBE_VERBS_H

#include <time.h>

#include "lib/json/json.h"
#include "lib/device/pci.h"
#include "rdma/probe/tcp.h"

static inline uint64_t verbs_now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* ---- devices ---- */

#define VERBS_NAME 64

struct verbs_gid {
	uint32_t index;
	uint8_t raw[16];
	const char *type; /* "IB", "RoCE v1", "RoCE v2" */
	uint32_t ifindex; /* in the network namespace of the interface; 0: none */
	char netdev[16];  /* name of the interface there; "": not known */
	bool here;        /* this network namespace has the address */
};

struct verbs_port {
	unsigned num;
	const char *state; /* "ACTIVE", "DOWN", ... */
	bool active, ethernet;
	char rate[40]; /* from sysfs: "100 Gb/sec (4X EDR)"; "": not known */
	unsigned mtu;
	unsigned lid, sm_lid, lmc; /* of InfiniBand; 0: no subnet manager configured the port */
	struct verbs_gid *gids;
	size_t n_gids;
};

enum verbs_answer { VERBS_YES, VERBS_NO, VERBS_NOT_KNOWN };
struct verbs_direct { /* Data Direct: a second PCI function of a ConnectX-8, nearer to GPUs */
	enum verbs_answer answer;
	char bdf[PCI_STR_LEN]; /* "0008:01:00.0"; only with VERBS_YES */
	const char *why;       /* the reason of the other answers; static */
};

struct verbs_device {
	char name[VERBS_NAME];
	char uverbs[VERBS_NAME]; /* "uverbs0" */
	struct err closed;       /* code != 0: the reason why it cannot be opened; no ports then */
	struct verbs_port *ports;
	size_t n_ports;
	struct verbs_direct direct; /* not known if it cannot be opened */
};

struct verbs_devices {
	struct verbs_device *list;
	size_t n;
};

/* verbs_list - all devices that this process sees, perhaps none. verbs_list_free() frees them. */
int verbs_list(struct verbs_devices *out, struct err *e) must_check;
void verbs_list_free(struct verbs_devices *d);
#define auto_devices auto_clean(verbs_list_free)

/* verbs_none - the error for a missing device called name (NULL: any), with a hint. Returns -1. */
int verbs_none(const char *name, struct err *e);

/* verbs_dmabuf - whether the device can register memory of a dma-buf; why has the reason. */
int verbs_dmabuf(const char *name, enum verbs_answer *out, char why[WIRE_TEXT],
		 struct err *e) must_check;

/* verbs_gid_format - the GID as an IPv6 address: "::ffff:10.0.0.1". Returns out. */
char *verbs_gid_format(const uint8_t raw[16], char out[IP_STR_LEN]);

/* ---- connections ---- */

struct verbs_pick {
	const char *device; /* NULL: the one that has a GID for local */
	unsigned port;      /* 0: the one that has a GID for local */
	int gid_index;      /* -1: the RoCE v2 GID of local; on InfiniBand the first */
	bool gid_of_nccl;   /* the index is that of NCCL, which has none on InfiniBand */
	uint16_t pkey;      /* partition key; 0: the first of the port's table */
	uint8_t sl;         /* service level */
	bool has_tc;        /* else that of the system */
	bool tc_of_nccl;    /* the class is that of NCCL, which has none on InfiniBand */
	uint8_t tc;         /* traffic class of RoCE */
	uint32_t label;     /* flow label, only without RDMA CM; 0: as the driver does */
	struct ip local;    /* own address, of the TCP connection */
};

/* Memory of a GPU, of which a connection takes verbs_stride() bytes for each of out and in. */
struct verbs_gpu {
	int fd;           /* a dma-buf */
	uint64_t address; /* of the GPU; 0: there is none, and memory of the host is used */
	size_t at;        /* where in it */
};
static inline size_t verbs_stride(size_t len)
{
	return (len + 65535) & ~(size_t)65535;
}

struct verbs_plan {
	struct verbs_pick pick;
	bool cm, server;
	size_t out, in;       /* bytes of memory; 0: none */
	struct verbs_gpu gpu; /* verbs_out() and verbs_in() cannot be read with it */
	unsigned depth;       /* sends and receives posted at once; the device may have fewer */
	uint8_t ack_timeout;  /* of the queue pair, 4.096 us * 2^n; 0: half a second with all tries
			       */
};

struct verbs_conn;

/*
 * verbs_open - choose the device, register the memory, and make the queue pair; a server with RDMA
 * CM listens for it. peer: for a client with RDMA CM the end of the server, else NULL. control: the
 * TCP connection, borrowed. A wait ends if the peer sends FAULT there or closes it. verbs_close()
 * closes *out and sets it to NULL.
 */
int verbs_open(const struct verbs_plan *plan, const struct wire_path *peer, struct tcp *control,
	       struct verbs_conn **out, struct err *e) must_check;
void verbs_close(struct verbs_conn **c);
#define auto_conn auto_clean(verbs_close)

/* verbs_path - describe this end for the peer. verbs_join - connect to that which it described. */
void verbs_path(const struct verbs_conn *c, struct wire_path *out);
int verbs_join(struct verbs_conn *c, const struct wire_path *peer, struct err *e) must_check;

/*
 * verbs_depth - requests that may be posted at once at both ends. verbs_mtu - the path MTU in
 * bytes, after verbs_join(). verbs_out, verbs_in - the memory, which the connection owns.
 */
unsigned verbs_depth(const struct verbs_conn *c);
unsigned verbs_mtu(const struct verbs_conn *c);
void *verbs_out(const struct verbs_conn *c);
void *verbs_in(const struct verbs_conn *c);

/* verbs_receive - post a receive of len bytes at offset `at` of in. */
int verbs_receive(struct verbs_conn *c, size_t at, size_t len, struct err *e) must_check;

/* VERBS_WRITE_TELL: a write that completes a receive of the peer, with a mark (immediate data). */
enum verbs_op { VERBS_SEND, VERBS_WRITE, VERBS_WRITE_TELL };

struct verbs_send {
	enum verbs_op op;
	size_t from, to, len; /* offsets in out, and in the peer's in (writes only) */
	uint32_t mark;        /* for VERBS_WRITE_TELL */
	bool signal;          /* verbs_reap() reports its completion, which covers all before it */
};
/* verbs_post - start a send or write. */
int verbs_post(struct verbs_conn *c, const struct verbs_send *s, struct err *e) must_check;

struct verbs_done {
	bool received;
	bool has_mark; /* a VERBS_WRITE_TELL of the peer, with its mark */
	uint32_t mark;
	size_t at, len; /* a receive: its place in in. A send: at is the offset in out */
};

/* verbs_reap - wait for the next completion, at most for the timeout of the control connection. */
int verbs_reap(struct verbs_conn *c, struct verbs_done *out, struct err *e) must_check;

#endif
