/* SPDX-License-Identifier: Apache-2.0 */
/* job_vars_fuzz.c: feeds environments, files of settings and maps of a process to the readers. */
#include "lib/testing/fuzz.h"
#include "diag/job_vars.h"

FUZZ(const uint8_t *data, size_t size)
{
	struct job_vars env = { 0 }, file = { 0 };
	struct lib_version v;
	char *text = fuzz_text(data, size);

	job_vars_environ(&env, (const char *)data, size);
	job_vars_file(&file, text, "/etc/nccl.conf");
	job_vars_maps(&file, text);
	for (size_t i = 0; i < JOB_N; i++) {
		MUST(!env.var[i].set || *env.var[i].from);
		MUST(strlen(file.var[i].text) < JOB_VALUE_LEN);
		(void)job_number(&file, (enum job_var)i, -1);
	}
	MUST(file.library.is != JOB_LIBRARY_NAMED || job_nccl_version(&file, &v));
	free(text);
	return 0;
}
