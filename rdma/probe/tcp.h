/* SPDX-License-Identifier: Apache-2.0 */
/* tcp.h: the control connection: frames of wire.h over TCP; each wait has a timeout. */
#ifndef RAILHEAD_RDMA_PROBE_TCP_H
#define RAILHEAD_RDMA_PROBE_TCP_H

#include "rdma/probe/peer.h"
#include "rdma/probe/wire.h"

struct tcp {
	int fd;
	struct ip local, peer; /* the addresses of its two ends */
	int timeout_ms;        /* of each wait for the peer */
};

/*
 * tcp_listen - listen on addr (IP_NONE: all addresses of both families) and port. Returns a
 * descriptor, which the caller closes, or -1.
 */
int tcp_listen(struct ip addr, uint16_t port, struct err *e) must_check;

struct tcp_wait {
	int listening;  /* the descriptor from tcp_listen(); borrowed */
	int wait_ms;    /* time for a client to connect; -1: no limit */
	int timeout_ms; /* timeout of the new connection */
};

/* tcp_accept - wait for the next client. ERR_AGAIN: no client connected in time. */
int tcp_accept(const struct tcp_wait *w, struct tcp *out, struct err *e) must_check;

struct tcp_to {
	struct peer peer;
	struct ip from; /* own address, IP_NONE: the kernel chooses */
	int timeout_ms;
	const char *server; /* that should listen, for errors; NULL: "rdma-probe serve" */
};
/*
 * tcp_connect - connect to a peer; tcp_close() closes *out. tcp_send - send one frame. ERR_IO: the
 * peer is gone; ERR_AGAIN: timeout.
 */
int tcp_connect(const struct tcp_to *to, struct tcp *out, struct err *e) must_check;

int tcp_send(struct tcp *t, const struct wire_msg *m, struct err *e) must_check;

/*
 * tcp_receive - the next frame, which must have the type want. A FAULT becomes the error, with the
 * code and the text of the peer. ERR_IO: the peer is gone; ERR_AGAIN: timeout.
 */
int tcp_receive(struct tcp *t, enum wire_type want, struct wire_msg *out, struct err *e) must_check;

/*
 * tcp_alive - look at the connection without waiting: -1 and the error if the peer sent FAULT or is
 * gone; 0 if there is no frame, or another frame. The frame stays there.
 */
int tcp_alive(const struct tcp *t, struct err *e) must_check;

/* tcp_send_fault - send the error `why` as FAULT, without knowing whether it arrives. */
void tcp_send_fault(struct tcp *t, const struct err *why);

void tcp_close(struct tcp *t);
#define auto_tcp auto_clean(tcp_close)
#define TCP_NONE                                                                                   \
	{                                                                                          \
		.fd = -1                                                                           \
	}

#endif
