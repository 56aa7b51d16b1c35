/* SPDX-License-Identifier: Apache-2.0 */
/* traffic_class.c: the file traffic_class of a port. */
#include "lib/rdma/traffic_class.h"

#include <stdio.h>
#include <string.h>

#include "lib/base/parse.h"
#include "lib/device/sysfs.h"

int traffic_class_parse(const char *text, uint8_t *out)
{
	const char *number = strrchr(text, '=');
	uint64_t n;

	if (parse_u64(number ? number + 1 : text, 0, 255, &n))
		return -1;
	*out = (uint8_t)n;
	return 0;
}

char *traffic_class_path(const char *device, uint32_t port, char out[TRAFFIC_CLASS_PATH_LEN])
{
	(void)snprintf(out, TRAFFIC_CLASS_PATH_LEN, "class/infiniband/%.64s/tc/%u/traffic_class",
		       device, port);
	return out;
}

int traffic_class_read(const char *sysfs, const char *device, uint32_t port, uint8_t *out,
		       struct err *e)
{
	char path[TRAFFIC_CLASS_PATH_LEN], text[128];
	struct err why;

	*out = 0;
	if (sysfs_read(sysfs, traffic_class_path(device, port, path), text, sizeof(text), &why))
		return why.code == ERR_NOMEM ? err_nomem(e) : 0;
	(void)!traffic_class_parse(text, out);
	return 0;
}
