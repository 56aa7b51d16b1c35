/* SPDX-License-Identifier: Apache-2.0 */
/* gpus.h: files of the drivers of GPUs, in a folder of the test. */
#ifndef RAILHEAD_TOPO_TESTING_GPUS_H
#define RAILHEAD_TOPO_TESTING_GPUS_H

#include "lib/base/ctx.h"

#define GPUS_DIR "/mnt/gpus"

/* gpus_dir - a new folder; the context has its proc and sys. */
struct ctx gpus_dir(void);

/* gpus_nvidia - a GPU of NVIDIA's driver. gpus_kfd - a node of AMD's, with these properties. */
void gpus_nvidia(const char *bdf, const char *uuid, const char *minor);
void gpus_kfd(unsigned node, const char *properties);

/* gpus_file - a file at this path below the folder. gpus_link - a link below its sys. */
void gpus_file(const char *path, const char *text);
void gpus_link(const char *path, const char *target);

#endif
