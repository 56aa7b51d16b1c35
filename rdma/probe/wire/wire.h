/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wire.h: what two rdma-probes tell each other over TCP, beside the data that goes over RDMA. Pure.
 *
 * A frame is a header of 12 bytes (magic, version, type, a zero, length of the rest) and a body of
 * fixed layout, all big-endian. A peer is not trusted: lengths are bounded, every byte of a body
 * must be used, numbers are held to their ranges, text is printable ASCII.
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
#ifndef RAILHEAD_RDMA_PROBE_WIRE_WIRE_H
#define RAILHEAD_RDMA_PROBE_WIRE_WIRE_H

#include "lib/base/err.h"

#define WIRE_VERSION   2
#define WIRE_HEADER    12u
#define WIRE_BODY      1024u /* no body is longer */
#define WIRE_FRAME     (WIRE_HEADER + WIRE_BODY)
#define WIRE_TEXT      768
#define WIRE_NAME      64 /* of an RDMA device: IB_DEVICE_NAME_MAX */
#define WIRE_ADDR      46
#define WIRE_SIZE_MAX  (64u << 20)
#define WIRE_COUNT_MAX 1000000u
#define WIRE_RANKS_MAX 512u

enum wire_type {
	WIRE_HELLO = 1,
	WIRE_PATH,
	WIRE_READY,
	WIRE_RESULT,
	WIRE_FAULT,
	WIRE_HOP,
};

enum wire_purpose {
	WIRE_MEASURE = 1, /* both ways between client and server */
	WIRE_ORDER,       /* measure to another server, named by addr and port, and say RESULT */
	WIRE_RING,        /* the client is the rank before the server */
};

struct wire_hello {
	uint8_t purpose;      /* enum wire_purpose */
	uint8_t cm;           /* 1: by RDMA CM, 0: from PATH */
	uint8_t ring_type;    /* enum ring_type */
	uint16_t rank, ranks; /* of the client; 0 of 0 outside a ring */
	uint32_t size;        /* bytes of a message, or of a rank's vector */
	uint32_t iterations;
	uint64_t seed;
	char addr[WIRE_ADDR]; /* of an order, else "" */
	uint16_t port;
};

struct wire_path {
	char device[WIRE_NAME];
	uint8_t device_port;
	uint8_t mtu; /* 1 to 5: 256 to 4096 bytes */
	uint8_t gid[16];
	uint32_t gid_index; /* to show it */
	uint64_t card;      /* of card_of(); 0: not known */
	uint16_t lid;       /* 0 over Ethernet */
	uint32_t qpn, psn;  /* 24 bits */
	uint16_t cm_port;   /* where the server's RDMA CM listens, else 0 */
	uint32_t depth;     /* receives that can be posted at once */
	uint64_t address;   /* of the memory that may be written, and its key and size */
	uint32_t rkey;
	uint64_t length;
};

struct wire_ready {
	uint32_t n;
};

/* Of the end that sent: bytes and time of each kind of transfer; of a client latencies too. */
enum wire_way { WAY_SEND, WAY_WRITE, WAYS };
struct wire_flow {
	uint64_t bytes, ns;
};
struct wire_result {
	uint64_t lat_count, lat_min, lat_p50, lat_p99, lat_max; /* half of a round trip, ns */
	struct wire_flow out[WAYS];
	struct wire_flow in[WAYS]; /* only in the answer to an order: what the other end sent */
	uint64_t checked;          /* bytes received and found right */
	uint64_t messages;
	uint8_t one_card; /* likewise: 1: both ends are on one card */
};

struct wire_fault {
	uint16_t code; /* enum err_code */
	char text[WIRE_TEXT];
};

/* What a rank's sending to the next one came to, handed around the ring. */
struct wire_hop {
	uint16_t rank;
	uint64_t bytes, ns, total_ns;
	uint8_t one_card; /* 1: the next rank is on the same card */
};

struct wire_msg {
	enum wire_type type;
	union {
		struct wire_hello hello;
		struct wire_path path;
		struct wire_ready ready;
		struct wire_result result;
		struct wire_fault fault;
		struct wire_hop hop;
	};
};

/* wire_encode - the whole frame, of WIRE_FRAME bytes at most; returns its size. Text is made
 * printable and cut to fit. */
size_t wire_encode(const struct wire_msg *m, uint8_t *frame);

/* wire_length - of the body behind this header. ERR_DECODE when it is none of ours. */
int wire_length(const uint8_t head[WIRE_HEADER], size_t *body, struct err *e) must_check;

/* wire_decode - header and body, len bytes in all. ERR_DECODE. */
int wire_decode(const uint8_t *frame, size_t len, struct wire_msg *out, struct err *e) must_check;

const char *wire_type_name(enum wire_type type);

#endif
