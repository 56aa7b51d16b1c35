/* SPDX-License-Identifier: Apache-2.0 */
/* qos_fuzz.c: feeds files of qos.d and texts of sysfs to the decoders. */
#include "lib/rdma/traffic_class.h"
#include "lib/testing/fuzz.h"
#include "rdma/qos/qos.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct qos_file, f);
	FUZZ_OUT(struct qos_file, again);
	FUZZ_OUT(struct err, e);
	char *text = fuzz_text(data, size);
	uint8_t set;

	if (fuzz_ok(qos_file_decode((const char *)data, size, "x", &f, &e), &e, &f, sizeof(f))) {
		char *printed = qos_file_print(&f);

		MUST(f.want.has && *f.pf && printed);
		MUST(!qos_file_decode(printed, strlen(printed), "x", &again, &e));
		MUST(again.want.has == f.want.has && again.want.pfc == f.want.pfc);
		MUST(again.want.tc == f.want.tc && !strcmp(again.pf, f.pf));
		free(printed);
	}
	(void)!qos_priorities(text, &set);
	(void)!traffic_class_parse(text, &set);
	free(text);
	return 0;
}
