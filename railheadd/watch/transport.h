/* SPDX-License-Identifier: Apache-2.0 */
/*
 * transport.h: whether a pod that holds rails uses RDMA. Pure.
 *
 * RDMA: a process of it has a queue pair that can receive. Suspect: none has, and for a minute the
 * pod has sent more than the limit by TCP, and received as much. Connections of its rails count.
 * Those of other interfaces count if a setting keeps NCCL from RDMA. All others are unknown: pods
 * that do nothing, use NVLink alone, or load data, are no finding.
 */
#ifndef RAILHEAD_RAILHEADD_WATCH_TRANSPORT_H
#define RAILHEAD_RAILHEADD_WATCH_TRANSPORT_H

#include "lib/json/json.h"
#include "lib/net/tcp.h"

#define TRANSPORT_PODS_MAX     256
#define TRANSPORT_SOCKETS_MAX  1024        /* a pod with more of them has unknown bytes */
#define TRANSPORT_SOCKETS_ALL  8192        /* of all pods: the look is one text of JSON_MAX_SIZE */
#define TRANSPORT_SOCKET_LEAST (16u << 20) /* bytes: a smaller one is left out */
#define TRANSPORT_MS           60000

enum transport_state { TRANSPORT_UNKNOWN, TRANSPORT_RDMA, TRANSPORT_SUSPECT };

enum transport_qps { QPS_UNKNOWN, QPS_NONE, QPS_SEEN };

struct transport_bytes {
	uint64_t sent, received;
};

/* A pod in a look. */
struct transport_pod {
	char ns[64], name[254], uid[64], container[201];
	int qps;         /* enum transport_qps */
	int64_t at;      /* when its connections were read, as ctx_mono_ms() */
	bool complete;   /* all of them were read */
	char missed[64]; /* why not all of the pod was read, if it has too much; "": it was */
	bool counted;    /* rails and other are bytes since the look before, ms ago */
	int64_t ms;
	struct transport_bytes rails, other; /* over interfaces with RDMA; over others but lo */
	bool checked;    /* `railctl rdma check` was asked since the limit is exceeded */
	bool forced;     /* it found a setting that keeps NCCL from RDMA */
	char cause[400]; /* it found this; "": nothing */
	int64_t over_ms; /* for so long it has exceeded the limit */
	int state;       /* enum transport_state */
	bool told;       /* the Event was sent; the watch sets it */
	size_t n_sockets;
	struct transport_socket {
		uint64_t cookie;
		struct transport_bytes bytes;
	} socket[TRANSPORT_SOCKETS_MAX];
};

struct transport_table {
	struct transport_pod **pod; /* owned, each of them, too */
	size_t n;
	uint64_t left_out; /* attachments of pods beyond TRANSPORT_PODS_MAX */
};
void transport_clear(struct transport_table *t);

/* transport_find - the same sandbox of the same pod in another look; NULL: it has none. */
struct transport_pod *transport_find(const struct transport_table *t,
				     const struct transport_pod *like);

/* transport_miss - it has more than was read, 1024 "addresses": its bytes are unknown. */
void transport_miss(struct transport_pod *p, unsigned most, const char *of);

/* transport_count - add a connection of the pod. before: it in the look before, or NULL. */
void transport_count(struct transport_pod *p, const struct transport_pod *before,
		     const struct tcp_flow *f, bool rail);

/* transport_over - these bytes in ms exceed the limit, Mbit/s, in each direction. */
bool transport_over(struct transport_bytes b, int64_t ms, uint32_t limit);

/* transport_needs_qps - queue pairs must be read again: none were seen before, or the pod sends so
 * much by TCP that those may have gone. */
bool transport_needs_qps(const struct transport_pod *p, const struct transport_pod *before,
			 uint32_t limit);

/* transport_judge - after everything else is there: set counted, over_ms and state. Bytes are known
 * only if both looks have all connections. */
void transport_judge(struct transport_pod *p, const struct transport_pod *before, uint32_t limit);

/*
 * transport_add_to - add "pods" and "leftOut" to obj; sockets: with those. Non-zero: no memory.
 * transport_read - such an object, with its sockets, into an empty table. ERR_DECODE and the like;
 * ERR_NOMEM.
 */
int transport_add_to(struct json *obj, const struct transport_table *t, bool sockets) must_check;
int transport_read(const struct json *obj, struct transport_table *out, struct err *e) must_check;
/* transport_add - one more pod, empty, of *t; NULL: no memory, or there are TRANSPORT_PODS_MAX. */
struct transport_pod *transport_add(struct transport_table *t, struct err *e);

/*
 * transport_job - the name that pods of one job share: without the random end that controllers
 * write, and the numbers before it: "train-workers-0-3-x7k2p" and "train-workers-1" are
 * "train-workers". Another name is its own job.
 */
void transport_job(const char *pod, char out[254]);

#endif
