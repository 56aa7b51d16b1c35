/* SPDX-License-Identifier: Apache-2.0 */
/* proto.c: memory of protobuf-c within a limit, for messages of others. */
#include "lib/grpc/proto.h"

struct proto_memory {
	size_t left; /* bytes; what is freed does not come back */
	bool failed, reached;
};

static void *proto_take(void *memory, size_t size)
{
	struct proto_memory *m = memory;
	void *p;

	if (size > m->left) {
		m->reached = true;
		return NULL;
	}
	m->left -= size;
	p = malloc(size);
	m->failed |= !p;
	return p;
}

static void proto_drop(void *memory, void *p)
{
	(void)memory;
	free(p);
}

struct proto_bytes proto_pack(const ProtobufCMessage *m)
{
	struct proto_bytes b = { NULL, protobuf_c_message_get_packed_size(m) };

	b.data = malloc(b.len + 1);
	if (b.data)
		(void)protobuf_c_message_pack(m, b.data);
	return b;
}

void *proto_unpack(const ProtobufCMessageDescriptor *of, const struct proto_source *from,
		   struct err *e)
{
	struct proto_memory memory = { .left = from->limit };
	ProtobufCAllocator a = { proto_take, proto_drop, &memory };
	void *m = protobuf_c_message_unpack(of, &a, from->len, from->bytes);

	if (m)
		return m;
	if (memory.reached)
		err_set(e, ERR_DECODE, 0, "%s needs more than %zu MiB", from->what,
			from->limit >> 20);
	else if (memory.failed)
		(void)err_nomem(e);
	else
		err_set(e, ERR_DECODE, 0, "%s is malformed", from->what);
	return NULL;
}

void proto_free(void *message)
{
	ProtobufCAllocator a = { proto_take, proto_drop, NULL };

	if (message)
		protobuf_c_message_free_unpacked(message, &a);
}
