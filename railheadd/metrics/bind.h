/* SPDX-License-Identifier: Apache-2.0 */
/* bind.h: the sockets at which metrics are read. */
#ifndef RAILHEAD_RAILHEADD_METRICS_BIND_H
#define RAILHEAD_RAILHEADD_METRICS_BIND_H

#include "lib/base/ctx.h"

#define BIND_SOCKET   "metrics.sock" /* in the folder of what lives as long as the boot */
#define BIND_PATH_LEN 108            /* of struct sockaddr_un */

/*
 * bind_socket - listen at <run_dir>/metrics.sock, for root alone. path is set as soon as the file
 * is ours; a file that is there is replaced. bind_port - listen at "127.0.0.1:9750" or
 * "[::]:9750". Both return a descriptor, or -1. ERR_CONFIG: that is no address, or the path is too
 * long; ERR_IO.
 */
int bind_socket(const struct ctx *ctx, char path[BIND_PATH_LEN], struct err *e) must_check;
int bind_port(const char *port, struct err *e) must_check;

#endif
