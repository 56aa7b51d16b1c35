/* SPDX-License-Identifier: Apache-2.0 */
/* agent_wire_fuzz.c: feeds lines to both sides; a request that is read is written and read again.
 */
#include "ipam/alloc/agent_wire.h"

#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	auto_json struct json *tree = NULL, *again = NULL, *result = NULL;
	struct agent_call a, b;
	struct err e;

	char identity[16];
	agent_wire_identity((const char *)data, size, identity, sizeof(identity));
	if (agent_wire_read_answer((const char *)data, size, &result, &e) == 0)
		MUST(json_type(result) == JSON_OBJECT);
	if (agent_wire_read_request((const char *)data, size, &tree, &a, &e))
		return 0;
	auto_free char *line = agent_wire_request(&a);
	MUST(line && strchr(line, '\n') == line + strlen(line) - 1);
	MUST(agent_wire_read_request(line, strlen(line) - 1, &again, &b, &e) == 0);
	MUST(strcmp(a.call, b.call) == 0 && !a.args == !b.args);
	return 0;
}
