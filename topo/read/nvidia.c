/* SPDX-License-Identifier: Apache-2.0 */
/* nvidia.c: reads two words of the text that NVIDIA's driver has for a GPU. */
#include "topo/read/nvidia.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"
#include "lib/sys/fs.h"

#define INFORMATION_MAX 65536

/* The word that follows a label in the driver's text, "Device Minor: \t 3"; "": there is none. */
static void driver_word(const char *text, const char *label, char out[NVIDIA_WORD_LEN])
{
	const char *at = strstr(text, label);

	*out = '\0';
	if (!at)
		return;
	at += strlen(label);
	at += strspn(at, ": \t");
	if (slice_copy((struct slice){ at, strcspn(at, " \t\n") }, out, NVIDIA_WORD_LEN))
		*out = '\0';
}

int nvidia_read(const char *proc, const char *bdf, struct nvidia_gpu *out, struct err *e)
{
	char path[PATH_MAX];
	auto_free char *text = NULL;
	struct err why;

	(void)snprintf(path, sizeof(path), "%s/driver/nvidia/gpus/%s/information", proc, bdf);
	if (fs_read_at(AT_FDCWD, path, INFORMATION_MAX, &text, &why) < 0) {
		if (why.code == ERR_NOMEM)
			return err_nomem(e);
		*out = (struct nvidia_gpu){ .uuid = "" };
		return 0;
	}
	driver_word(text, "Device Minor", out->minor);
	driver_word(text, "GPU UUID", out->uuid);
	return 0;
}
