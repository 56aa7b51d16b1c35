/* SPDX-License-Identifier: Apache-2.0 */
/* logging.c: applies the log level and log file of a configuration. */
#include "cni/protocol/logging.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "lib/sys/safe_path.h"
#include "lib/sys/site.h"

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

static bool is_called_a_log(const char *path)
{
	size_t len = strlen(path);

	return len > 4 && strcmp(path + len - 4, ".log") == 0 && path[len - 5] != '/';
}

/* Folders below may belong to daemons, whose links are not followed. */
int logging_open(const struct ctx *ctx, const char *path, int flags, struct err *e)
{
	auto_site struct site site = { .tree = NULL };
	const char *name;

	if (!is_called_a_log(path))
		return err_set(e, ERR_FORBIDDEN, EPERM, "\"%.255s\" does not end in .log", path);
	if (site_load(ctx, &site, e))
		return -1;
	if (!safe_path_below(path, site.log_dirs)) {
		err_set(e, ERR_FORBIDDEN, EPERM, "\"%.255s\" is in no folder for logs", path);
		return err_hint(e,
				"choose a file below /var/log, or name its folder in \"logDirs\" "
				"of /etc/railhead/" SITE_FILE);
	}
	auto_fd int dir = safe_open_parent(path, 0, &name, e);
	int fd = dir < 0 ? -1 : safe_open_file(dir, name, flags | O_APPEND | O_CREAT, e);
	return fd < 0 ? err_wrap(e, "%.255s", path) : fd;
}

static void logging_apply_file(const char *path, struct ctx *ctx)
{
	struct err e;
	int fd = logging_open(ctx, path, O_WRONLY, &e);

	if (fd < 0)
		log_warn(&ctx->log, "logFile: %s: not written", e.msg);
	else
		ctx->log.fd = fd;
}

void logging_apply(const struct cni_conf *conf, struct ctx *ctx)
{
	struct log *log = &ctx->log;
	const char *word = json_str(json_get(conf->tree, "logLevel"));
	const char *path = json_str(json_get(conf->tree, "logFile"));
	int level = word && *word ? logging_level(word) : (int)log->level;

	if (level < 0)
		log_warn(log,
			 "logLevel: \"%.64s\" is not one of panic, error, warning, info, debug",
			 word);
	else
		log->level = (enum log_level)level;
	if (path && *path)
		logging_apply_file(path, ctx);
}
