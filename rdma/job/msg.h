/* SPDX-License-Identifier: Apache-2.0 */
/*
 * msg.h: the messages between the ranks of a job and rank 0. Pure.
 *
 *	rank                                rank 0
 *	NONCE (16 bytes)               <->  NONCE
 *	join: itself, its rails         ->
 *	             ... until all came, or the time is over
 *	                               <-   prepare: a test, and with whom
 *	ready: its queue pairs          ->
 *	                               <-   go: the queue pairs of the other one
 *	result                          ->
 *	                               <-   stop: the test will not be run
 *	             ... any number of tests, several at once
 *	                               <-   end: what came out
 *
 * Each message is a frame: the length of its JSON text, an HMAC-SHA256, the text. The key of the
 *HMAC follows from the secret of the job and both nonces. It covers direction and number of the
 *frame: nobody without the secret can send, repeat or leave out one. The texts are not encrypted.
 */
#ifndef RAILHEAD_RDMA_JOB_MSG_H
#define RAILHEAD_RDMA_JOB_MSG_H

#include "lib/base/sha256.h"
#include "lib/json/json.h"
#include "rdma/job/judge.h"

#define JOB_RANKS   JUDGE_RANKS
#define JOB_RAILS   JUDGE_RAILS
#define JOB_QPS     4u /* queue pairs of a test */
#define JOB_NAME    64
#define JOB_TEXT    256
#define JOB_PATH    512 /* base64 of a PATH of rdma/probe/wire.h */
#define JOB_NONCE   16u
#define JOB_HEAD    (4u + SHA256_LEN)
#define JOB_MSG_MAX 32768u /* bytes of JSON */

enum job_type { JOB_JOIN, JOB_PREPARE, JOB_READY, JOB_GO, JOB_STOP, JOB_RESULT, JOB_END };

/* A rail as its rank describes it. Texts that are not known are "", numbers 0. */
struct job_rail {
	char interface[JOB_NAME]; /* "rail0"; rails with one name are one rail of the job */
	char hca[JOB_NAME];       /* "mlx5_0:1" */
	char gid_kind[16];        /* "IPv4", "IPv6", "InfiniBand" */
	char card[JOB_NAME];      /* vendor and device: "15b3:1021" */
	char leaf[JOB_NAME];
	char counted[JOB_TEXT]; /* rank 0: what its port counted meanwhile; not in a message */
	char memory[JOB_NAME];  /* of tests of rates: "GPU 0000:17:00.0"; "": of the host */
	char problem[JOB_TEXT]; /* why the rank itself says that it cannot be used */
	uint32_t mtu;           /* bytes of payload */
	uint32_t rate_mbps;     /* of the link */
	uint32_t slot_mbps, slot_max_mbps; /* of the PCIe slot: now, and what it can do */
	uint16_t tclass;                   /* traffic class, or service level */
};

struct job_path {
	char text[JOB_PATH];
};

struct job_msg {
	enum job_type type;
	/* join */
	uint32_t rank, ranks;
	char node[JOB_NAME], host[JOB_NAME], version[JOB_NAME];
	struct job_rail rails[JOB_RAILS];
	size_t n_rails;
	char busy[JOB_TEXT]; /* who uses the rails meanwhile */
	bool blind;          /* others may use them: the kernel does not say who */
	/* tests */
	uint32_t id;
	enum judge_kind kind;
	bool first;               /* this rank sends first */
	uint32_t warm_ms, run_ms; /* of each direction */
	uint32_t label;           /* flow label of the queue pairs; 0: as the driver does */
	char interface[JOB_NAME]; /* own rail */
	struct job_path paths[JOB_QPS];
	size_t n_paths;
	/* result: of what this rank sent; outcome A_FAILED: it could not run the test */
	enum judge_outcome outcome;
	uint64_t alone, both; /* bytes a second */
	bool noisy;
	char counted[JOB_TEXT]; /* growth since the rank joined, or that the pod sees none */
	char text[JOB_TEXT];    /* result: why not; end: a summary */
	uint32_t status;        /* end: exit status for all */
};

/* job_msg_print - as JSON, which the caller frees; NULL: no memory. */
char *job_msg_print(const struct job_msg *m);

/* job_msg_parse - ERR_DECODE, ERR_CONFIG, ERR_FIELD: the text is not a message; names the key. */
int job_msg_parse(const char *text, size_t len, struct job_msg *out, struct err *e) must_check;

/* job_key - the key of a connection. nonces: that of rank 0, then that of the rank. */
void job_key(const uint8_t secret[SHA256_LEN], const uint8_t nonces[2 * JOB_NONCE],
	     uint8_t key[SHA256_LEN]);

/* One direction of a connection. */
struct job_way {
	uint8_t key[SHA256_LEN];
	bool from_root;
	uint64_t n; /* frames so far */
};

/* job_seal - write JOB_HEAD bytes for a text of len bytes, the next frame of this direction. */
void job_seal(struct job_way *w, const char *text, size_t len, uint8_t head[JOB_HEAD]);

/* job_length - of the text behind this head. ERR_DECODE: too long. */
int job_length(const uint8_t head[JOB_HEAD], size_t *len, struct err *e) must_check;

/* job_check - whether the next frame is right. ERR_FORBIDDEN: another secret, or a frame repeated.
 */
int job_check(struct job_way *w, const uint8_t head[JOB_HEAD], const char *text, size_t len,
	      struct err *e) must_check;

#endif
