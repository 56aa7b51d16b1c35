/* SPDX-License-Identifier: Apache-2.0 */
#include "cni/logging.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

int logging_level(const char *word)
{
	static const struct {
		const char *word;
		enum log_level level;
	} levels[] = {
		{ "panic", LOG_LEVEL_ERROR },  { "error", LOG_LEVEL_ERROR },
		{ "warning", LOG_LEVEL_WARN }, { "info", LOG_LEVEL_INFO },
		{ "debug", LOG_LEVEL_DEBUG },
	};

	for (size_t i = 0; i < ARRAY_SIZE(levels); i++) {
		if (strcmp(word, levels[i].word) == 0)
			return (int)levels[i].level;
	}
	return -1;
}

const char *logging_path_problem(const char *path)
{
	size_t len = strlen(path);

	if (strncmp(path, LOGGING_ROOT, strlen(LOGGING_ROOT)) != 0)
		return "is not below " LOGGING_ROOT;
	if (strstr(path, "/../") || strstr(path, "/./") || strstr(path, "//"))
		return "has components that lead elsewhere";
	if (len < 5 || strcmp(path + len - 4, ".log") != 0 || path[len - 5] == '/')
		return "does not end in .log";
	return NULL;
}

/*
 * Folders below may belong to daemons, whose links are not followed. Never waits for the reader of
 * a fifo, and never writes into a device.
 */
static int open_file(const char *path)
{
	struct open_how how = {
		.flags = O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
		.mode = 0640,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS,
	};
	auto_fd int root = open(LOGGING_ROOT, O_PATH | O_DIRECTORY | O_CLOEXEC);
	auto_fd int fd = -1;
	struct stat st;

	if (root < 0)
		return -1;
	fd = (int)syscall(SYS_openat2, root, path + strlen(LOGGING_ROOT), &how, sizeof(how));
	if (fd < 0 || fstat(fd, &st))
		return -1;
	if (!S_ISREG(st.st_mode)) {
		errno = EINVAL;
		return -1;
	}
	return TAKE_FD(fd);
}

static void apply_file(const char *path, struct log *log)
{
	const char *problem = logging_path_problem(path);

	if (problem) {
		log_warn(log, "logFile: \"%.256s\" %s: not written", path, problem);
		return;
	}
	int fd = open_file(path);
	if (fd < 0)
		log_warn(log, "logFile: \"%.256s\": %s", path, strerror(errno));
	else
		log->fd = fd;
}

void logging_apply(const struct cni_conf *conf, struct log *log)
{
	const char *word = json_str(json_get(conf->tree, "logLevel"));
	const char *path = json_str(json_get(conf->tree, "logFile"));
	int level = word && *word ? logging_level(word) : (int)log->level;

	if (level < 0)
		log_warn(log, "logLevel: \"%.64s\" is none of panic, error, warning, info, debug",
			 word);
	else
		log->level = (enum log_level)level;
	if (path && *path)
		apply_file(path, log);
}
