/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h: the messages between two rdma-probes over TCP, beside the data over RDMA. Pure.
 *
 * A frame is a header of 12 bytes (magic, version, type, a zero, length of the rest) and a body of
 * fixed layout, all big-endian. Both ends need one version. A peer is not trusted: lengths are
 * bounded, each byte of a body must be used, numbers must be in their ranges, and text must be
 * printable ASCII.
 *
 *	client                          server
 *	HELLO: what is to be done  ->
 *	                           <-   PATH: its end of the connection
 *	PATH                       ->
 *	          both connect, by RDMA CM or from what PATH says
 *	READY n                    <->  READY n   "my buffers are posted, the last data was right"
 *	RESULT                     <->  RESULT
 *	          at any time instead: FAULT, and the connection ends
 */
#ifndef RAILHEAD_RDMA_PROBE_WIRE_H
#define RAILHEAD_RDMA_PROBE_WIRE_H

#include "lib/base/err.h"

#define WIRE_VERSION   6
#define WIRE_HEADER    12u
#define WIRE_BODY      1024u /* no body is longer */
#define WIRE_FRAME     (WIRE_HEADER + WIRE_BODY)
#define WIRE_TEXT      768
#define WIRE_NAME      64 /* of an RDMA device: IB_DEVICE_NAME_MAX */
#define WIRE_SIZE_MAX  (64u << 20)
#define WIRE_COUNT_MAX 1000000u

enum wire_type {
	WIRE_HELLO = 1,
	WIRE_PATH,
	WIRE_READY,
	WIRE_RESULT,
	WIRE_FAULT,
};

struct wire_hello {
	uint8_t cm;    /* 1: by RDMA CM, 0: from PATH */
	uint32_t size; /* bytes of a message */
	uint32_t iterations;
	uint64_t seed;
	uint16_t pkey;  /* partition key for both ends; 0: the first of each port's table */
	uint8_t sl;     /* service level for both ends, 0 to 15 */
	uint8_t has_tc; /* 0: that of the system */
	uint8_t tc;     /* traffic class for both ends */
};

struct wire_path {
	char device[WIRE_NAME];
	uint8_t device_port;
	uint8_t mtu; /* 1 to 5: 256 to 4096 bytes */
	uint8_t gid[16];
	uint32_t gid_index; /* only for display */
	uint64_t card;      /* from card_of(); 0: not known */
	uint16_t lid;       /* 0 over Ethernet */
	uint32_t qpn, psn;  /* 24 bits */
	uint16_t cm_port;   /* where the server's RDMA CM listens, else 0 */
	uint32_t depth;     /* receives that can be posted at once */
	uint64_t address;   /* memory that the peer may write, with its key and length below */
	uint32_t rkey;
	uint64_t length;
};

struct wire_ready {
	uint32_t n;
};

/* The figures of the sender of this message, for each kind of transfer. A client has latencies. */
enum wire_way { WAY_SEND, WAY_WRITE, WAYS };
struct wire_flow {
	uint64_t bytes, ns;
};
struct wire_result {
	uint64_t lat_count, lat_min, lat_p50, lat_p99, lat_max; /* half of a round trip, ns */
	struct wire_flow out[WAYS];
	struct wire_flow in[WAYS]; /* not in the message: figures of the other end */
	uint64_t checked;          /* bytes received and right */
	uint64_t messages;
};

struct wire_fault {
	uint16_t code; /* enum err_code */
	char text[WIRE_TEXT];
};

struct wire_msg {
	enum wire_type type;
	union {
		struct wire_hello hello;
		struct wire_path path;
		struct wire_ready ready;
		struct wire_result result;
		struct wire_fault fault;
	};
};

/*
 * wire_encode - write the whole frame, at most WIRE_FRAME bytes; returns its size. Text is made
 * printable and cut to fit.
 */
size_t wire_encode(const struct wire_msg *m, uint8_t *frame);

/* wire_length - the length of the body after this header. ERR_DECODE: not a header of rdma-probe.
 */
int wire_length(const uint8_t head[WIRE_HEADER], size_t *body, struct err *e) must_check;

/* wire_decode - decode a frame of len bytes, header and body. ERR_DECODE: not valid. */
int wire_decode(const uint8_t *frame, size_t len, struct wire_msg *out, struct err *e) must_check;

/* wire_type_name - "HELLO", "PATH", ...; static. */
const char *wire_type_name(enum wire_type type);

#endif
