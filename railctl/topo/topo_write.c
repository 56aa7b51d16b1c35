/* SPDX-License-Identifier: Apache-2.0 */
/* topo_write.c: files that others read: all of it or nothing, as the umask says. */
#include <stdio.h>
#include <string.h>

#include "lib/sys/fs.h"
#include "railctl/topo/topo.h"

int topo_write(const struct cmd_run *r, const char *path, const char *text, struct err *e)
{
	const struct fs_content c = { .data = text, .len = strlen(text), .mode = 0666 };

	if (strcmp(path, "-") != 0)
		return fs_put(path, &c, e);
	(void)fputs(text, r->out.to);
	return 0;
}
