/* SPDX-License-Identifier: Apache-2.0 */
/* hook_conf.c: reads what a hook needs: its options, its configuration, a secret, the message. */
#include "fabric/hook_conf.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/sys/fs.h"
#include "lib/sys/safe_path.h"

#define CONF_MAX   65536
#define SECRET_MAX 4096

static int decode_conf(const char *text, size_t len, const struct hook_conf *c, struct err *e)
{
	if (json_parse(text, len, "configuration", c->tree, e))
		return -1;
	if (json_type(*c->tree) != JSON_OBJECT)
		return err_set(e, ERR_DECODE, 0, "must be an object, got %s",
			       json_type_name(*c->tree));
	return json_decode_known(*c->tree, "", c->keys, c->out, e);
}

int hook_conf_load(const char *path, bool optional, const struct hook_conf *c, struct err *e)
{
	auto_free char *text = NULL;
	struct err why;
	ssize_t len = safe_read(path, CONF_MAX, &text, &why);

	if (len < 0 && optional && why.errnum == ENOENT)
		return 0;
	if (len < 0)
		return err_pass(e, &why);
	return decode_conf(text, (size_t)len, c, e) ? err_wrap(e, "%s", path) : 0;
}

static int check_private(const char *path, struct err *e)
{
	struct stat st;

	if (lstat(path, &st))
		return err_set(e, ERR_IO, errno, "%s", path);
	if (!(st.st_mode & (S_IRWXG | S_IRWXO)))
		return 0;
	err_set(e, ERR_FORBIDDEN, EPERM, "%s may be read by others than root", path);
	return err_hint(e, "chmod 600 %s, and change the secret", path);
}

int hook_secret_load(const char *path, char **out, struct err *e)
{
	auto_free char *text = NULL;

	if (safe_read(path, SECRET_MAX, &text, e) < 0 || check_private(path, e))
		return -1;
	text[strcspn(text, "\r\n")] = '\0';
	if (!*text)
		return err_set(e, ERR_CONFIG, 0, "%s: the first line is empty", path);
	*out = TAKE_PTR(text);
	return 0;
}

int hook_message_read(struct sm_message *out, struct err *e)
{
	auto_free char *text = NULL;
	size_t len = 0;

	if (fs_read_fd(STDIN_FILENO, CONF_MAX, &text, &len, e) ||
	    sm_message_parse(text, len, out, e)) {
		(void)err_wrap(e, "standard input");
		return err_hint(e, "railhead gives a message to its hooks: see railhead-sm.d(5)");
	}
	return 0;
}

int hook_main(const struct cmd *root, char **argv)
{
	static const struct opt globals[] = { CMD_OPT_JSON,
					      CMD_OPT_NO_COLOR,
					      CMD_OPT_HELP,
					      CMD_OPT_VERSION,
					      { NULL, NULL, NULL, 0 } };
	const struct cmd_program program = { root, globals, NULL, NULL, true };

	return cmd_main(&program, argv, NULL);
}
