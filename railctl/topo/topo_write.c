/* SPDX-License-Identifier: Apache-2.0 */
/* topo_write.c: write a file that other programs read, in one step. */
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
