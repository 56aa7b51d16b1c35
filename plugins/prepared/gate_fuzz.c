/* SPDX-License-Identifier: Apache-2.0 */
/* gate_fuzz.c: any text as the state of a container, as its config.json, as its cgroups, and as
 * what the hook reads of a slot. */
#include "lib/testing/fuzz.h"
#include "plugins/prepared/gate.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *config = NULL;
	auto_free char *text = fuzz_text(data, size);
	const char *cgroups = text + strcspn(text, "\n");
	auto_prepared struct prepared slot = { .networks = NULL };
	struct err e, ignored;
	FUZZ_OUT(struct gate_state, s);

	memset(&e, FUZZ_FILL, sizeof(e));
	if (fuzz_ok(gate_state_decode(text, size, &s, &e), &e, &s, sizeof(s)))
		MUST(s.pid > 0 && *s.bundle);
	if (json_parse(text, size, "config.json", &config, &ignored) == 0)
		(void)gate_netns_path(config);
	struct prepared_id pod = { .uid = "u" };
	gate_pod_names(config, &pod);
	MUST(id_valid(pod.ns) && id_valid(pod.name));
	(void)!prepared_slot_decode(text, size, &slot, &ignored);
	MUST(!gate_pod_of(text, pod.uid) || gate_is_in_pod(text, pod.uid));
	/* The first line is the UID. */
	auto_free char *first = strndup(text, (size_t)(cgroups - text));
	MUST(first);
	if (gate_is_in_pod(cgroups, first))
		MUST(strstr(cgroups, "pod"));
	return 0;
}
