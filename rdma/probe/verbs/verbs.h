/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.h: what rdma-probe asks of libibverbs and librdmacm, in words of its own.
 *
 * Only the files verbs*.c include their headers. A connection is one reliable queue pair between
 * two processes with two pieces of memory: out, from which data is sent, and in, which the peer may
 * write and in which receives lie. Errors of this file that mean "nothing to test with here" are
 * ERR_UNAVAILABLE.
 */
#ifndef RAILHEAD_RDMA_PROBE_VERBS_VERBS_H
#define RAILHEAD_RDMA_PROBE_VERBS_VERBS_H

#include "lib/json/json.h"
#include "rdma/probe/wire/tcp.h"

/* ---- devices ---- */

#define VERBS_NAME 64

struct verbs_gid {
	uint32_t index;
	uint8_t raw[16];
	const char *type; /* "IB", "RoCE v1", "RoCE v2" */
	uint32_t ifindex; /* 0: none; in the network namespace that the interface is in */
	char netdev[16];  /* its name there, "" when not known */
	bool here;        /* its address is one of this network namespace */
};

struct verbs_port {
	unsigned num;
	const char *state; /* "ACTIVE", "DOWN", ... */
	bool active, ethernet;
	char rate[40]; /* "100 Gb/sec (4X EDR)" as sysfs has it; "" when it has not */
	unsigned mtu, lid;
	struct verbs_gid *gids;
	size_t n_gids;
};

struct verbs_device {
	char name[VERBS_NAME];
	char uverbs[VERBS_NAME]; /* "uverbs0" */
	struct err closed;       /* code != 0: it cannot be opened, and why; no ports then */
	struct verbs_port *ports;
	size_t n_ports;
};

struct verbs_devices {
	struct verbs_device *list;
	size_t n;
};

/* verbs_list - all devices that this process sees; none is no error. */
int verbs_list(struct verbs_devices *out, struct err *e) must_check;
void verbs_list_free(struct verbs_devices *d);
#define auto_devices auto_clean(verbs_list_free)

/* verbs_none - the error that there is no device (called name, NULL: at all), and what to do. */
int verbs_none(const char *name, struct err *e);

enum verbs_answer { VERBS_YES, VERBS_NO, VERBS_NOT_KNOWN };

/* verbs_dmabuf - can device name register memory of a dma-buf? Says why in why, of WIRE_TEXT. */
int verbs_dmabuf(const char *name, enum verbs_answer *out, char why[WIRE_TEXT],
		 struct err *e) must_check;

/* verbs_gid_format - "::ffff:10.0.0.1": as an IPv6 address. Returns out. */
char *verbs_gid_format(const uint8_t raw[16], char out[IP_STR_LEN]);

/* ---- connections ---- */

struct verbs_pick {
	const char *device; /* NULL: the one that has a GID for local */
	unsigned port;      /* 0: likewise */
	int gid_index;      /* -1: that of local, RoCE v2 */
	struct ip local;    /* own address, of the TCP connection */
};

struct verbs_plan {
	struct verbs_pick pick;
	bool cm, server;
	size_t out, in; /* bytes of memory; 0: none */
	unsigned depth; /* sends and receives that may be posted at once, if the device has as many
			 */
};

struct verbs_conn;

/*
 * verbs_open - choose the device, get the memory, make or (RDMA CM, server) listen for the queue
 * pair. peer: where the server listens, for a client over RDMA CM, else NULL. control: watched
 * while waiting, so that a peer that fails or dies is noticed at once; borrowed.
 */
int verbs_open(const struct verbs_plan *plan, const struct wire_path *peer, struct tcp *control,
	       struct verbs_conn **out, struct err *e) must_check;
void verbs_close(struct verbs_conn **c);
#define auto_conn auto_clean(verbs_close)

/* verbs_path - this end, for the peer. */
void verbs_path(const struct verbs_conn *c, struct wire_path *out);

/* verbs_join - connect to the end that the peer described. */
int verbs_join(struct verbs_conn *c, const struct wire_path *peer, struct err *e) must_check;

unsigned verbs_depth(const struct verbs_conn *c); /* that both ends have */
unsigned verbs_mtu(const struct verbs_conn *c);   /* path MTU in bytes, once joined */
void *verbs_out(const struct verbs_conn *c);
void *verbs_in(const struct verbs_conn *c);

/* verbs_receive - post a receive into in. */
int verbs_receive(struct verbs_conn *c, size_t at, size_t len, struct err *e) must_check;

enum verbs_op { VERBS_SEND, VERBS_WRITE, VERBS_WRITE_TELL /* and use up one of its receives */ };

struct verbs_send {
	enum verbs_op op;
	size_t from, to, len; /* offsets in out, and in the peer's in (writes only) */
	uint32_t mark;        /* VERBS_WRITE_TELL: what the peer is told */
	bool signal;          /* verbs_reap() tells when it is done, and all before it */
};
int verbs_post(struct verbs_conn *c, const struct verbs_send *s, struct err *e) must_check;

struct verbs_done {
	bool received;
	bool told; /* by VERBS_WRITE_TELL, with mark */
	uint32_t mark;
	size_t at, len; /* of a receive; of a sent one at is its offset in out */
};

/* verbs_reap - the next thing that is done; waits at most as long as the control connection may. */
int verbs_reap(struct verbs_conn *c, struct verbs_done *out, struct err *e) must_check;

#endif
