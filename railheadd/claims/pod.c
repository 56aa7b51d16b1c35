/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pod.c: the forms are those of k8s.io/api, core/v1/types.go (Kubernetes 1.36). The gate would
 * refuse a pod of the node's network only when its container starts, and a container that has no
 * gate starts without rails.
 */
#include "railheadd/claims/pod.h"

#include <string.h>

static bool claim_lists(const struct json *names, const char *name)
{
	json_each (item, names) {
		if (json_str(item) && strcmp(json_str(item), name) == 0)
			return true;
	}
	return false;
}

/* A runtime that is not runc or crun may run the gate elsewhere, or not at all. */
static int claim_check_runtime(const struct json *spec, const struct claim *c, struct err *e)
{
	const char *name = json_text(spec, "runtimeClassName");

	for (size_t i = 0; *name && i < c->n; i++) {
		if (claim_lists(c->device[i].runtime_classes, name))
			continue;
		err_set(e, ERR_FORBIDDEN, 0,
			"request %s: its device class does not allow the RuntimeClass %.80s",
			c->device[i].request, name);
		return err_hint(e, "if its handler is runc or crun, add it to runtimeClasses of "
				   "the RailConfig");
	}
	return 0;
}

/* ---- containers ---- */

static bool claim_has_container(const struct json *containers, const char *reference)
{
	json_each (container, containers) {
		json_each (claim, json_get(json_get(container, "resources"), "claims")) {
			if (strcmp(json_text(claim, "name"), reference) == 0)
				return true;
		}
	}
	return false;
}

/* The claim of a reference: named, or made from a template. "": not known. */
static const char *claim_of_reference(const struct json *pod, const struct json *reference)
{
	const char *name = json_text(reference, "name");

	if (*json_text(reference, "resourceClaimName"))
		return json_text(reference, "resourceClaimName");
	json_each (made, json_get(json_get(pod, "status"), "resourceClaimStatuses")) {
		if (strcmp(json_text(made, "name"), name) == 0)
			return json_text(made, "resourceClaimName");
	}
	return "";
}

/* A claim that an extended resource stands for is no reference: a container has the resource. */
static int claim_check_containers(const struct json *pod, const char *claim, struct err *e)
{
	const struct json *spec = json_get(pod, "spec");
	const char *unused = NULL;

	json_each (reference, json_get(spec, "resourceClaims")) {
		const char *name = json_text(reference, "name");

		if (strcmp(claim_of_reference(pod, reference), claim) != 0)
			continue;
		if (claim_has_container(json_get(spec, "containers"), name) ||
		    claim_has_container(json_get(spec, "initContainers"), name))
			return 0;
		unused = name;
	}
	if (!unused)
		return 0;
	err_set(e, ERR_FORBIDDEN, 0, "no container of the pod has the claim");
	return err_hint(e, "add {name: %.80s} to resources.claims of the containers that use rails",
			unused);
}

int claim_check_pod(const struct json *pod, const struct claim *c, struct err *e)
{
	const struct prepared_id *id = &c->prepared.pod;
	const struct json *spec = json_get(pod, "spec");
	const char *uid = json_text(json_get(pod, "metadata"), "uid");

	if (strcmp(uid, id->uid) != 0)
		return err_set(e, ERR_STATE, 0,
			       "another pod is named %s by now, with the UID %.80s", id->name, uid);
	if (json_true(json_get(spec, "hostNetwork")))
		return err_set(e, ERR_FORBIDDEN, 0, "rails are for pods without hostNetwork");
	return claim_check_runtime(spec, c, e) ||
			       claim_check_containers(pod, c->prepared.claim.name, e)
		       ? -1
		       : 0;
}
