/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.h: the connection beside the data: frames of wire.h, each wait with a limit. */
#ifndef RAILHEAD_RDMA_PROBE_WIRE_TCP_H
#define RAILHEAD_RDMA_PROBE_WIRE_TCP_H

#include "rdma/probe/wire/peers.h"
#include "rdma/probe/wire/wire.h"

struct tcp {
	int fd;
	struct ip local, peer; /* the addresses of its two ends */
	int timeout_ms;        /* of each wait for the peer */
};

/* tcp_listen - at addr (IP_NONE: all addresses, both families) and port. Returns a descriptor, -1.
 */
int tcp_listen(struct ip addr, uint16_t port, struct err *e) must_check;

struct tcp_wait {
	int listening;  /* what tcp_listen() returned; borrowed */
	int wait_ms;    /* for a client; -1: for ever */
	int timeout_ms; /* of the connection that comes */
	/* A connection that is watched meanwhile, NULL: none. Its end, or a FAULT from it, ends the
	 * wait: the error is that of tcp_alive(). Borrowed. */
	const struct tcp *beside;
};

/* tcp_accept - the next client. ERR_AGAIN: nobody connected in time. */
int tcp_accept(const struct tcp_wait *w, struct tcp *out, struct err *e) must_check;

struct tcp_to {
	struct peer peer;
	struct ip from; /* own address, IP_NONE: the kernel chooses */
	int timeout_ms;
	bool patient;       /* try again until then while nobody listens yet */
	const char *server; /* what should listen there, for the error; NULL: "rdma-probe serve" */
};
int tcp_connect(const struct tcp_to *to, struct tcp *out, struct err *e) must_check;

int tcp_send(struct tcp *t, const struct wire_msg *m, struct err *e) must_check;

/*
 * tcp_receive - the next frame, which must be of type want. A FAULT becomes the error, with the
 * peer's code and words; a peer that is gone is ERR_IO, one that is silent ERR_AGAIN.
 */
int tcp_receive(struct tcp *t, enum wire_type want, struct wire_msg *out, struct err *e) must_check;

/*
 * tcp_alive - what has come without waiting: -1 and the error where the peer sent FAULT or is gone;
 * 0 where nothing is there, or the frame that is there is another. Takes nothing.
 */
int tcp_alive(const struct tcp *t, struct err *e) must_check;

/* tcp_send_fault - FAULT, for what went wrong here; whether it arrives is not known. */
void tcp_send_fault(struct tcp *t, const struct err *why);

void tcp_close(struct tcp *t);
#define auto_tcp auto_clean(tcp_close)
#define TCP_NONE                                                                                   \
	{                                                                                          \
		.fd = -1                                                                           \
	}

#endif
