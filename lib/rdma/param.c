/* SPDX-License-Identifier: Apache-2.0 */
/* param.c: numbers of NCCL's variables. */
#include "lib/rdma/param.h"

#include <errno.h>
#include <stdlib.h>

int64_t nccl_number(const char *text, int64_t unset)
{
	long long n;

	if (!text || !*text)
		return unset;
	errno = 0;
	n = strtoll(text, NULL, 0);
	return errno ? unset : n;
}
