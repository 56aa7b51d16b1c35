/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvidia.h: the text of NVIDIA's driver about a GPU, in
 * /proc/driver/nvidia/gpus/ADDRESS/information.
 */
#ifndef RAILHEAD_TOPO_READ_NVIDIA_H
#define RAILHEAD_TOPO_READ_NVIDIA_H

#include "lib/base/err.h"

#define NVIDIA_WORD_LEN 64

struct nvidia_gpu {
	char uuid[NVIDIA_WORD_LEN];  /* "GPU-...", "": not known */
	char minor[NVIDIA_WORD_LEN]; /* the number of /dev/nvidiaN; "": not known */
};

/*
 * nvidia_read - proc represents /proc; bdf is the address as the kernel writes it. A file that
 * cannot be read leaves both unknown. ERR_NOMEM.
 */
int nvidia_read(const char *proc, const char *bdf, struct nvidia_gpu *out,
		struct err *e) must_check;

#endif
