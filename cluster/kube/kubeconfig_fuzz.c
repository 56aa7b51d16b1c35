/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kubeconfig_fuzz.c: any text as a kubeconfig; what is read has a server, and a certificate with
 * its key.
 */
#include "cluster/kube/kubeconfig.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	static const struct kubeconfig_source from = { "/etc", NULL };
	FUZZ_OUT(struct err, e);
	FUZZ_OUT(struct kubeconfig, k);
	int rc = kubeconfig_read((const char *)data, size, &from, &k, &e);

	if (!fuzz_ok(rc, &e, &k, sizeof(k)))
		return 0;
	MUST(!strncmp(k.server, "http", 4) && k.server[strlen(k.server) - 1] != '/');
	MUST(!(k.cert.text || k.cert.path) == !(k.key.text || k.key.path));
	MUST(!k.ca.path || *k.ca.path == '/');
	kubeconfig_clear(&k);
	return 0;
}
