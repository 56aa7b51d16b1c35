/* SPDX-License-Identifier: Apache-2.0 */
/* bundle.c: pieces of a bundle: what programs print, files, and ends of logs. */
#include "railctl/attachments/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/sys/exec.h"
#include "lib/sys/fs.h"
#include "railctl/attachments/redact.h"

#define PIECE_MAX  ((size_t)64 << 20)
#define CONF_MAX   ((size_t)1 << 20)
#define TAIL_MAX   ((off_t)1 << 20)
#define PROGRAM_MS 60000
#define WORDS_MAX  16

/* ---- the list ---- */

/* A piece. error NULL: nothing is lacking. bytes -1: it is not in the tar. */
struct piece {
	const char *file, *what, *error;
	ssize_t bytes;
};

/* The name of a tar in the tar: its bytes are no words. */
static bool is_tar(const char *file)
{
	const char *dot = strrchr(file, '.');

	return dot && strcmp(dot, ".tar") == 0;
}

/* Without its secrets. -1: no memory. */
static int put_text(struct bundle *b, struct piece *p, const char *s, size_t len,
		    enum redact_words words)
{
	auto_text struct text clean = { 0 };

	if (!is_tar(p->file)) {
		redact_text(s, len, words, &clean);
		if (clean.failed)
			return -1;
		s = clean.s;
		len = clean.len;
	}
	tar_file(&b->tar, p->file, s, len);
	p->bytes = (ssize_t)len;
	return 0;
}

static int bundle_note(struct bundle *b, const struct piece *p, struct err *e)
{
	struct json *o = json_push_object(b->files);
	auto_text struct text error = { 0 };

	/* An error may quote the file that it is about. */
	if (p->error)
		redact_text(p->error, strlen(p->error), REDACT_OURS, &error);
	if (!o || error.failed || json_add_str(o, "file", p->file) ||
	    json_add_str(o, "what", p->what) ||
	    (p->bytes >= 0 && json_add_int(o, "bytes", p->bytes)) ||
	    json_add_str(o, "error", error.s))
		return err_nomem(e);
	return 0;
}

void bundle_text(struct bundle *b, const char *file, const char *text)
{
	tar_file(&b->tar, file, text, strlen(text));
}

/* ---- what a program prints ---- */

struct bundle_child {
	const struct cmd_program *program; /* NULL: the one of argv[0] */
	void *own;
	char *const *argv;
	const char *out;
};

static int to_file(const struct bundle_child *c, int stream)
{
	int fd = open(c->out, O_WRONLY | O_APPEND | O_CLOEXEC);

	return fd < 0 || dup2(fd, stream) < 0 ? -1 : 0;
}

static int bundle_in_child(const void *arg)
{
	const struct bundle_child *c = arg;

	if (c->program)
		return to_file(c, STDOUT_FILENO) ? CMD_FAILED
						 : cmd_main(c->program, c->argv, c->own);
	/* A plugin says on standard error what it is. */
	if (to_file(c, STDOUT_FILENO) == 0 && to_file(c, STDERR_FILENO) == 0)
		(void)execv(c->argv[0], c->argv);
	return 127;
}

/* Why the piece lacks something; NULL: it does not. */
static const char *failure(const struct exec_result *r, char buf[256])
{
	if (WIFSIGNALED(r->status))
		(void)snprintf(buf, 256, "it was ended by signal %d", WTERMSIG(r->status));
	else if (WEXITSTATUS(r->status) == 127)
		(void)snprintf(buf, 256, "there is no such program");
	else if (WEXITSTATUS(r->status))
		(void)snprintf(buf, 256, "exit status %d%s%.200s", WEXITSTATUS(r->status),
			       r->len ? ": " : "", r->output);
	else
		return NULL;
	buf[strcspn(buf, "\n")] = '\0';
	return buf;
}

/* What was printed before a failure is kept: `railctl ipam verify` fails if it finds something. */
static int add_output(struct bundle *b, int out, const struct piece *p, enum redact_words words,
		      struct err *e)
{
	auto_free char *text = NULL;
	struct piece kept = *p;
	struct err why = { .msg = "" };
	size_t len = 0;
	/* The child had a description of its own, so that this one is at the begin. */
	bool read = fs_read_fd(out, PIECE_MAX, &text, &len, &why) == 0;

	kept.bytes = -1;
	if (!read && !p->error)
		kept.error = why.msg;
	if (read && (len || !p->error) && put_text(b, &kept, text, len, words))
		return err_nomem(e);
	return bundle_note(b, &kept, e);
}

static int bundle_add_program(struct bundle *b, const char *file, const char *what,
			      struct bundle_child *child, struct err *e)
{
	const struct exec_req req = { .path = what,
				      .run = bundle_in_child,
				      .arg = child,
				      .envp = environ,
				      .timeout_ms = PROGRAM_MS,
				      .join_stderr = true };
	struct exec_result result = { .output = NULL };
	char why[256], path[64];
	auto_fd int out = exec_memory("piece");
	struct exec_child c;
	struct err failed;
	int rc;

	if (out < 0)
		return err_set(e, ERR_IO, errno, "make a file in memory");
	/* A child has none of our descriptors, so it opens the file again. */
	(void)snprintf(path, sizeof(path), "/proc/%d/fd/%d", getpid(), out);
	child->out = path;
	/* The tar may be standard output. A child would print the content of its buffer, too. */
	(void)fflush(stdout);
	rc = exec_start(&req, &c, &failed) || exec_finish(&c, &result, &failed) ? -1 : 0;
	rc = add_output(b, out,
			&(struct piece){ file, what, rc ? failed.msg : failure(&result, why), 0 },
			child->program ? REDACT_OURS : REDACT_LOG, e);
	free(result.output);
	return rc;
}

int bundle_command(struct bundle *b, const char *file, const char *command, struct err *e)
{
	const struct cmd_run *r = b->run;
	char line[256], *rest = line, *argv[WORDS_MAX + 4] = { "railctl" };
	size_t n = 1;

	(void)snprintf(line, sizeof(line), "%s", command);
	while (rest && n <= WORDS_MAX)
		argv[n++] = strsep(&rest, " ");
	/* --data-dir is in r->own already. */
	argv[n++] = "--run-dir";
	argv[n++] = (char *)r->ctx.run_dir;
	return bundle_add_program(b, file, command,
				  &(struct bundle_child){ r->program, r->own, argv, NULL }, e);
}

int bundle_program(struct bundle *b, const char *file, char *const *argv, struct err *e)
{
	return bundle_add_program(b, file, argv[0], &(struct bundle_child){ .argv = argv }, e);
}

/* ---- files ---- */

/* -1: with *why. A FIFO or a device is none, and must not hold us. */
static int open_plain(const char *path, off_t *size, struct err *why)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return err_set(why, ERR_IO, errno, "cannot be opened");
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode)) {
		*size = st.st_size;
		return fd;
	}
	(void)close(fd);
	return err_set(why, ERR_IO, 0, "no regular file");
}

/* The last bytes of a file; last 0: the whole one. */
static int add_file(struct bundle *b, const char *file, const char *path, off_t last, struct err *e)
{
	struct piece p = { file, path, NULL, -1 };
	auto_free char *text = NULL;
	struct err why = { .code = 0 };
	size_t len = 0;
	off_t size;
	auto_fd int fd = open_plain(path, &size, &why);
	bool read = fd >= 0;
	const bool cut = read && last && size > last;

	if (cut && lseek(fd, size - last, SEEK_SET) < 0)
		read = err_set(&why, ERR_IO, errno, "cannot be read") == 0;
	/* A log may grow meanwhile. */
	read = read && fs_read_fd(fd, last ? 2 * (size_t)last : PIECE_MAX, &text, &len, &why) == 0;
	/* Half a line may be the value of a secret without its name. */
	const char *line = read && cut ? memchr(text, '\n', len) : NULL;
	const size_t skip = line ? (size_t)(line + 1 - text) : cut ? len : 0;

	if (!read)
		p.error = why.msg;
	else if (put_text(b, &p, text + skip, len - skip, REDACT_LOG))
		return err_nomem(e);
	return bundle_note(b, &p, e);
}

int bundle_file(struct bundle *b, const char *file, const char *path, struct err *e)
{
	return add_file(b, file, path, 0, e);
}

int bundle_tail(struct bundle *b, const char *file, const char *path, struct err *e)
{
	return add_file(b, file, path, TAIL_MAX, e);
}

/* A file that is not JSON may have a secret anywhere. */
int bundle_conf(struct bundle *b, const char *file, const char *path, struct err *e)
{
	auto_free char *text = NULL, *clean = NULL;
	auto_json struct json *conf = NULL, *copy = NULL;
	struct err why = { .code = 0 };
	size_t len = 0;
	off_t size;
	auto_fd int fd = open_plain(path, &size, &why);

	if (fd < 0 || fs_read_fd(fd, CONF_MAX, &text, &len, &why) ||
	    json_parse(text, len, path, &conf, &why))
		return bundle_note(b, &(struct piece){ file, path, why.msg, -1 }, e);
	copy = redact(conf);
	clean = copy ? json_print(copy, true) : NULL;
	if (!clean)
		return err_nomem(e);
	bundle_text(b, file, clean);
	return bundle_note(b, &(struct piece){ file, path, NULL, (ssize_t)strlen(clean) }, e);
}
