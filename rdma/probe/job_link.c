/* SPDX-License-Identifier: Apache-2.0 */
/* job_link.c: frames with a key, between a rank and rank 0. */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "lib/base/retry.h"
#include "rdma/probe/job.h"

#define SEND_MS 5000

static int send_all(struct job_link *l, const void *data, size_t len, struct err *e)
{
	struct pollfd p = { .fd = l->fd, .events = POLLOUT };
	unsigned tries = 0;

	for (size_t at = 0; at < len;) {
		ssize_t n = send(l->fd, (const char *)data + at, len - at, MSG_NOSIGNAL);
		if (n > 0)
			at += (size_t)n;
		else if (errno == EAGAIN && poll(&p, 1, SEND_MS) == 0)
			return err_set(e, ERR_AGAIN, 0, "the peer reads nothing");
		else if (errno != EAGAIN && !retry_interrupted(&tries))
			return err_set(e, ERR_IO, errno, "the peer closed the connection");
	}
	return 0;
}

int job_link_open(struct job_link *l, int fd, bool root, const uint8_t *secret, struct err *e)
{
	*l = (struct job_link){ .fd = fd, .root = root, .secret = secret };
	uint8_t *own = l->nonces + (root ? 0 : JOB_NONCE);

	if (getrandom(own, JOB_NONCE, 0) != JOB_NONCE)
		return err_set(e, ERR_IO, errno, "getting a random number");
	return send_all(l, own, JOB_NONCE, e);
}

/* Read until there are `want` bytes: 1, or 0: not yet. */
static int fill(struct job_link *l, size_t want, struct err *e)
{
	unsigned tries = 0;

	if (l->room < want) {
		uint8_t *more = realloc(l->buf, want);
		if (!more)
			return err_nomem(e);
		l->buf = more;
		l->room = want;
	}
	while (l->n < want) {
		ssize_t n = recv(l->fd, l->buf + l->n, want - l->n, MSG_DONTWAIT);
		if (n > 0)
			l->n += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			return 0;
		else if (n == 0 || !retry_interrupted(&tries))
			return err_set(e, ERR_IO, n ? errno : 0, "the peer closed the connection");
	}
	return 1;
}

static int read_nonce(struct job_link *l, struct err *e)
{
	int rc = fill(l, JOB_NONCE, e);

	if (rc <= 0)
		return rc;
	memcpy(l->nonces + (l->root ? JOB_NONCE : 0), l->buf, JOB_NONCE);
	l->n = 0;
	job_key(l->secret, l->nonces, l->in.key);
	memcpy(l->out.key, l->in.key, sizeof(l->in.key));
	l->in.from_root = !l->root;
	l->out.from_root = l->root;
	l->keyed = true;
	return 1;
}

int job_link_read(struct job_link *l, struct job_msg *out, struct err *e)
{
	size_t len = 0;
	int rc = 1;

	if (!l->keyed)
		rc = read_nonce(l, e);
	if (rc > 0 && l->n < JOB_HEAD)
		rc = fill(l, JOB_HEAD, e);
	if (rc <= 0)
		return rc;
	if (job_length(l->buf, &len, e))
		return -1;
	rc = fill(l, JOB_HEAD + len, e);
	if (rc <= 0)
		return rc;
	l->n = 0;
	const char *text = (const char *)l->buf + JOB_HEAD;
	if (job_check(&l->in, l->buf, text, len, e))
		return err_hint(e, "all ranks need one key: --key-file, or RAILHEAD_JOB_KEY");
	return job_msg_parse(text, len, out, e) ? -1 : 1;
}

/* The first message of a rank needs the nonce of rank 0. */
static int await_key(struct job_link *l, struct err *e)
{
	struct pollfd p = { .fd = l->fd, .events = POLLIN };
	int rc;

	while ((rc = l->keyed ? 1 : read_nonce(l, e)) == 0) {
		if (poll(&p, 1, SEND_MS) == 0)
			return err_set(e, ERR_AGAIN, 0, "the peer says nothing");
	}
	return rc < 0 ? -1 : 0;
}

int job_link_send(struct job_link *l, const struct job_msg *m, struct err *e)
{
	auto_free char *text = job_msg_print(m);
	uint8_t head[JOB_HEAD];

	if (!text)
		return err_nomem(e);
	if (await_key(l, e))
		return -1;
	size_t len = strlen(text);
	job_seal(&l->out, text, len, head);
	return send_all(l, head, sizeof(head), e) || send_all(l, text, len, e) ? -1 : 0;
}

void job_link_close(struct job_link *l)
{
	if (l->fd >= 0)
		(void)close(l->fd);
	l->fd = -1;
	free(l->buf);
	l->buf = NULL;
	l->n = l->room = 0;
}
