/* SPDX-License-Identifier: Apache-2.0 */
/* machine.c: a pod's name has no ':', so that "vm:NAME" is never the name of a pod. */
#include "railheadd/pools/machine.h"

#include <stdio.h>
#include <string.h>

#define LAUNCHER "virt-launcher"

/* Set the parts of NAMESPACE/POD/INTERFACE. False: it has another form. */
static bool machine_split(const char *identity, int *namespace_len, const char **pod, int *pod_len)
{
	const char *first = strchr(identity, '/');
	const char *second = first ? strchr(first + 1, '/') : NULL;

	if (!second)
		return false;
	*namespace_len = (int)(first - identity);
	*pod = first + 1;
	*pod_len = (int)(second - *pod);
	return true;
}

bool machine_pod(const char *identity, char out[CLUSTER_NAME_LEN])
{
	const char *pod;
	int ns_len, pod_len, len;

	if (!machine_split(identity, &ns_len, &pod, &pod_len) ||
	    strncmp(pod, LAUNCHER "-", strlen(LAUNCHER "-")) != 0)
		return false;
	len = snprintf(out, CLUSTER_NAME_LEN, "%.*s.%.*s", pod_len, pod, ns_len, identity);
	return len > 0 && len < CLUSTER_NAME_LEN;
}

bool machine_identity(const struct json *value, const char *identity, char out[IDENTITY_LEN],
		      bool *migrates)
{
	const struct json *labels = json_get(value, "labels");
	const char *is = json_str(json_get(labels, "kubevirt.io"));
	const char *name = json_str(json_get(json_get(value, "annotations"), "kubevirt.io/domain"));
	const char *job = json_str(json_get(labels, "kubevirt.io/migrationJobUID"));
	const char *pod;
	int ns_len, pod_len, len;

	if (!is || strcmp(is, LAUNCHER) != 0 || !name || !*name || strchr(name, '/') ||
	    !machine_split(identity, &ns_len, &pod, &pod_len))
		return false;
	len = snprintf(out, IDENTITY_LEN, "%.*s/vm:%s%s", ns_len, identity, name, pod + pod_len);
	*migrates = job && *job;
	return len > 0 && len < IDENTITY_LEN;
}
