/* SPDX-License-Identifier: Apache-2.0 */
/* qos_fuzz.c: feeds files of qos.d and texts of sysfs to the decoders. */
#include "lib/rdma/traffic_class.h"
#include "lib/testing/fuzz.h"
#include "rdma/qos/profile.h"

FUZZ(const uint8_t *data, size_t size)
{
	FUZZ_OUT(struct qos_file, f);
	FUZZ_OUT(struct qos_file, again);
	FUZZ_OUT(struct err, e);
	char *text = fuzz_text(data, size);
	char out[QOS_TEXT_LEN];
	uint8_t set;

	if (fuzz_ok(qos_file_decode((const char *)data, size, "x", &f, &e), &e, &f, sizeof(f))) {
		char *printed = qos_file_print(&f);

		MUST((f.want.has || f.want.lossy) && *f.pf && printed);
		MUST(!qos_file_decode(printed, strlen(printed), "x", &again, &e));
		char *second = qos_file_print(&again);
		MUST(second && !strcmp(second, printed));
		free(second);
		free(printed);
	}
	for (unsigned s = 0; s < QOS_N; s++)
		if (!qos_parse((enum qos_setting)s, text, &f.want) && s != QOS_CNP)
			MUST(!qos_parse((enum qos_setting)s,
					qos_text((enum qos_setting)s, &f.want, out), &f.want));
	(void)!traffic_class_parse(text, &set);
	free(text);
	return 0;
}
