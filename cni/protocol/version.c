/* SPDX-License-Identifier: Apache-2.0 */
/* version.c: names the versions of the CNI specification that are supported. */
#include "cni/protocol/version.h"

#include <string.h>

static const char *const names[CNI_VERSIONS] = {
	[CNI_010] = "0.1.0", [CNI_020] = "0.2.0", [CNI_030] = "0.3.0", [CNI_031] = "0.3.1",
	[CNI_040] = "0.4.0", [CNI_100] = "1.0.0", [CNI_110] = "1.1.0",
};

const char *cni_version_name(enum cni_version v)
{
	return names[v];
}

int cni_version_parse(const char *s, enum cni_version *out, struct err *e)
{
	if (!s || !*s) {
		*out = CNI_010;
		return 0;
	}
	for (int v = CNI_010; v < CNI_VERSIONS; v++) {
		if (strcmp(s, names[v]) == 0) {
			*out = (enum cni_version)v;
			return 0;
		}
	}
	err_set(e, ERR_VERSION, 0, "incompatible CNI versions");
	return err_hint(
		e,
		"config is \"%.64s\", plugin supports [\"0.1.0\" \"0.2.0\" \"0.3.0\" \"0.3.1\" "
		"\"0.4.0\" \"1.0.0\" \"1.1.0\"]",
		s);
}
