/* SPDX-License-Identifier: Apache-2.0 */
/* audit.c: writes the lines of the audit log, and refuses to append to any other file. */
#include "ipam/lease/audit.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cni/protocol/logging.h"
#include "ipam/lease/db.h"

char *audit_time(int64_t ns, char out[AUDIT_TIME_LEN])
{
	time_t s = (time_t)(ns / 1000000000);
	struct tm tm = { 0 };
	char day[24];

	(void)gmtime_r(&s, &tm);
	(void)strftime(day, sizeof(day), "%Y-%m-%dT%H:%M:%S", &tm);
	(void)snprintf(out, AUDIT_TIME_LEN, "%.19s.%06" PRId64 "Z", day, ns % 1000000000 / 1000);
	return out;
}

struct json *audit_refusal_line(const struct refusal *r)
{
	auto_json struct json *list = json_new_array();
	struct json *line = list ? json_push_object(list) : NULL;

	if (!line || json_add_str(line, "verb", "refuse") || json_add_str(line, "by", r->by) ||
	    json_add_str(line, "address", r->address) || json_add_str(line, "pool", r->pool) ||
	    owner_json(line, r->owner) || json_add_str(line, "result", r->why->msg))
		return NULL;
	return TAKE_PTR(list);
}

/* The time is the first member, so that the lines can be sorted as text. */
static struct json *add_time(const struct json *line, const char *time)
{
	auto_json struct json *o = json_new_object();

	if (!o || json_add_str(o, "time", time))
		return NULL;
	json_each (member, line) {
		if (json_add_copy(o, json_key(member), member))
			return NULL;
	}
	return TAKE_PTR(o);
}

static int write_line(int fd, const struct json *line, const char *time, struct err *e)
{
	auto_json struct json *o = add_time(line, time);
	auto_free char *text = o ? json_print(o, false) : NULL;

	if (!text)
		return err_nomem(e);
	size_t len = strlen(text);
	text[len] = '\n'; /* the NUL's place */
	ssize_t n = write(fd, text, len + 1);
	if (n < 0)
		return err_set(e, ERR_IO, errno, "write");
	return (size_t)n == len + 1 ? 0 : err_set(e, ERR_IO, ENOSPC, "write");
}

/*
 * The path comes from a configuration, whose author may not be root. So an existing file is written
 * to only if it begins like an audit log.
 */
static int open_log(const struct ctx *ctx, const char *path, struct err *e)
{
	static const char begin[] = "{\"time\":";
	char have[sizeof(begin) - 1];
	auto_fd int fd = logging_open(ctx, path, O_RDWR, e);
	struct stat st;

	if (fd < 0)
		return err_wrap(e, "open the audit log");
	if (fstat(fd, &st))
		return err_set(e, ERR_IO, errno, "stat the audit log %s", path);
	if (st.st_size > 0 && (pread(fd, have, sizeof(have), 0) != (ssize_t)sizeof(have) ||
			       memcmp(have, begin, sizeof(have)) != 0))
		return err_set(e, ERR_IO, EINVAL, "%s exists and is not an audit log", path);
	return TAKE_FD(fd);
}

int audit_write(const struct ctx *ctx, const char *path, const struct json *journal, struct err *e)
{
	char time[AUDIT_TIME_LEN];

	if (json_len(journal) == 0)
		return 0;
	auto_fd int fd = open_log(ctx, path, e);
	if (fd < 0)
		return -1;
	audit_time(ctx->now(ctx->clock), time);
	json_each (line, journal) {
		if (write_line(fd, line, time, e))
			return err_wrap(e, "audit log %s", path);
	}
	return 0;
}
