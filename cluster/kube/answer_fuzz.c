/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_fuzz.c: any JSON as each answer of an API server; the first byte is the kind. What is
 * read keeps its promises.
 */
#include "cluster/kube/answer.h"
#include "cluster/kube/object.h"
#include "lib/json/long.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL, *own = NULL;
	enum cluster_kind kind = (enum cluster_kind)(size ? data[0] % CLUSTER_KINDS : 0);
	FUZZ_OUT(struct err, e);
	FUZZ_OUT(struct err, e_page);
	FUZZ_OUT(struct err, e_event);
	FUZZ_OUT(struct err, e_object);
	FUZZ_OUT(struct kube_page, page);
	FUZZ_OUT(struct kube_event, ev);
	FUZZ_OUT(struct cluster_object, o);
	uint64_t n;

	if (!size || json_parse_long((const char *)data + 1, size - 1, "answer", &tree, &e))
		return 0;
	if (fuzz_ok(kube_page_read(tree, &page, &e_page), &e_page, &page, sizeof(page)))
		MUST(kube_revision(page.revision, &n) && page.more);
	if (fuzz_ok(kube_event_read(tree, &ev, &e_event), &e_event, &ev, sizeof(ev)))
		MUST(ev.object && (ev.type == KUBE_ERROR || kube_revision(ev.revision, &n)));
	if (fuzz_ok(kube_object_read(tree, kind, &o, &own, &e_object), &e_object, &o, sizeof(o)))
		MUST(*o.name && *o.at.uid && *o.at.version && json_type(o.value) == JSON_OBJECT);
	return 0;
}
