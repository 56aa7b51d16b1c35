/* SPDX-License-Identifier: Apache-2.0 */
/* kubelet.c: encodes answers of the kubelet by hand, so that a test does not trust the decoder. */
#include "topo/testing/kubelet.h"

#include <stdio.h>
#include <string.h>

#include "lib/grpc/message.h"
#include "lib/testing/testing.h"

static void put_varint(struct wire *w, uint64_t value)
{
	do {
		ck_assert_uint_lt(w->n, sizeof(w->bytes));
		w->bytes[w->n++] = (uint8_t)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
		value >>= 7;
	} while (value);
}

static void put_bytes(struct wire *w, unsigned field, const void *bytes, size_t len)
{
	put_varint(w, field << 3 | 2);
	put_varint(w, len);
	ck_assert_uint_le(w->n + len, sizeof(w->bytes));
	memcpy(w->bytes + w->n, bytes, len);
	w->n += len;
}

void wire_text(struct wire *w, unsigned field, const char *text)
{
	put_bytes(w, field, text, strlen(text));
}

void wire_message(struct wire *w, unsigned field, const struct wire *inner)
{
	put_bytes(w, field, inner->bytes, inner->n);
}

void wire_varint(struct wire *w, unsigned field, uint64_t value)
{
	put_varint(w, field << 3);
	put_varint(w, value);
}

static void add_plugin(struct wire *container, const char *resource, struct slice ids)
{
	struct wire devices = { .n = 0 }, node = { .n = 0 }, topology = { .n = 0 };
	struct slice id;
	char text[256];

	wire_text(&devices, 1, resource);
	while (slice_next(&ids, ',', &id)) {
		ck_assert_int_eq(slice_copy(id, text, sizeof(text)), 0);
		wire_text(&devices, 2, text);
	}
	wire_varint(&node, 1, 1);
	wire_message(&topology, 1, &node);
	wire_message(&devices, 3, &topology);
	wire_message(container, 2, &devices);
}

static void add_claim(struct wire *container, const char *driver, struct slice ids)
{
	struct wire claim = { .n = 0 };
	struct slice id;
	char text[256];

	wire_text(&claim, 2, "a-claim");
	wire_text(&claim, 3, "default");
	while (slice_next(&ids, ',', &id)) {
		struct wire one = { .n = 0 }, cdi = { .n = 0 };

		ck_assert_int_eq(slice_copy(id, text, sizeof(text)), 0);
		wire_text(&cdi, 1, "k8s.gpu.nvidia.com/claim=1");
		wire_message(&one, 1, &cdi);
		wire_text(&one, 2, driver);
		wire_text(&one, 3, "node-1");
		wire_text(&one, 4, text);
		wire_message(&claim, 4, &one);
	}
	wire_message(container, 5, &claim);
}

void kubelet_pod(struct wire *answer, const char *ns, const char *name, const char *devices)
{
	struct slice rest = { devices, strlen(devices) }, word, owner;
	struct wire pod = { .n = 0 }, container = { .n = 0 };
	char text[400];

	wire_text(&container, 1, "main");
	while (slice_next(&rest, ' ', &word)) {
		bool claim = word.len > 6 && !strncmp(word.p, "claim:", 6);
		if (!word.len)
			continue;
		ck_assert(slice_next(&word, '=', &owner));
		ck_assert_int_eq(slice_copy(owner, text, sizeof(text)), 0);
		if (claim)
			add_claim(&container, text + 6, word);
		else
			add_plugin(&container, text, word);
	}
	wire_varint(&container, 3, 4711);
	wire_text(&pod, 1, name);
	wire_text(&pod, 2, ns);
	wire_message(&pod, 3, &container);
	wire_message(answer, 1, &pod);
}

const void *kubelet_frame(const struct wire *answer, size_t *len)
{
	static uint8_t frame[sizeof(answer->bytes) + GRPC_PREFIX_LEN];

	grpc_message_prefix((uint32_t)answer->n, frame);
	memcpy(frame + GRPC_PREFIX_LEN, answer->bytes, answer->n);
	*len = answer->n + GRPC_PREFIX_LEN;
	return frame;
}
