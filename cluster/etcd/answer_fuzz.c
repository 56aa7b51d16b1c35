/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer_fuzz.c: any JSON as each of etcd's answers; what is read keeps its promises, and each
 * error becomes a message.
 */
#include "cluster/etcd/answer.h"
#include "cluster/etcd/fault.h"
#include "lib/json/long.h"
#include "lib/testing/fuzz.h"

/* clang-format off */
static int64_t looked[2];
static const struct etcd_asked asked = { "read", "/railhead/pools/p", NULL };
#define READ(fn, type, name) FUZZ_OUT(struct err, e_##name); FUZZ_OUT(type, name); \
	bool ok_##name = fuzz_ok(fn(tree, &name, &e_##name), &e_##name, &name, sizeof(name))

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL;
	FUZZ_OUT(struct err, e);
	if (json_parse_long((const char *)data, size, "answer", &tree, &e))
		return 0;
	READ(etcd_range_read, struct etcd_range, range);
	READ(etcd_txn_read, struct etcd_txn, txn);
	(void)!etcd_look_read(tree, looked, 2, &e);
	READ(etcd_watch_read, struct etcd_watch, watch);
	READ(etcd_event_read, struct etcd_event, event);
	MUST((!ok_range || range.revision > 0) && (!ok_txn || txn.revision > 0));
	MUST((!ok_watch || (watch.reason && watch.code >= 0)) && (!ok_event || (*event.kv.key && !event.kv.bytes[event.kv.len])));
	if (ok_event)
		etcd_event_clear(&event);
	struct etcd_problem p = etcd_problem_read(tree);
	(void)etcd_fault(&p, &asked, &e);
	fuzz_error_is_good(&e);
	return 0;
}
