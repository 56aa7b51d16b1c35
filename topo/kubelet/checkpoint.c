/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.c: finds a pod's devices in the checkpoint, and the files that came with them. */
#include "topo/kubelet/checkpoint.h"

#include <string.h>
#include <topo/kubelet/checkpoint.pb-c.h>

#include "lib/base/base64.h"
#include "lib/grpc/memory.h"
#include "lib/json/long.h"

/* Of one answer, decoded. */
#define ANSWER_MAX ((size_t)4 << 20)
#define ACCEL      "/dev/accel/accel"

struct search {
	const struct pod_devices *pod;
	const char *resource;
	struct checkpoint_accels found;
	bool *shown; /* one for each device of the pod: some entry shows its file */
};

/* The index of an id among the devices of the pod; n: the pod does not have it. */
static size_t index_of(const struct search *s, const char *id)
{
	for (size_t i = 0; id && i < s->pod->n; i++) {
		const struct pod_device *d = &s->pod->device[i];
		if (!d->claimed && !strcmp(d->owner, s->resource) && !strcmp(d->id, id))
			return i;
	}
	return s->pod->n;
}

/*
 * The number of devices in an entry. It lists them by NUMA node, and one of two nodes twice. mine:
 * a bool for each device of the pod, which becomes true for those of the entry. 0: the entry also
 * has devices that the pod does not have, or none at all.
 */
static size_t count_devices(const struct search *s, const struct json *entry, bool *mine)
{
	size_t n = 0;

	json_each (node, json_get(entry, "DeviceIDs")) {
		json_each (id, node) {
			size_t i = index_of(s, json_str(id));
			if (i == s->pod->n)
				return 0;
			n += !mine[i];
			mine[i] = true;
		}
	}
	return n;
}

static int checkpoint_add_number(struct checkpoint_accels *a, uint32_t number, struct err *e)
{
	for (size_t i = 0; i < a->n; i++)
		if (a->number[i] == number)
			return 0;
	if (a->n == CHECKPOINT_ACCELS_MAX)
		return err_set(e, ERR_NOTFOUND, 0, "more than %d accelerators",
			       CHECKPOINT_ACCELS_MAX);
	a->number[a->n++] = number;
	return 0;
}

static int checkpoint_add_files(struct checkpoint_accels *a,
				const Kubelet__AllocatedDevices *answer, struct err *e)
{
	uint64_t number;

	for (size_t i = 0; i < answer->n_devices; i++) {
		const char *path = answer->devices[i]->host_path;
		if (!strncmp(path, ACCEL, strlen(ACCEL)) &&
		    !parse_u64(path + strlen(ACCEL), 0, UINT32_MAX, &number) &&
		    checkpoint_add_number(a, (uint32_t)number, e))
			return -1;
	}
	return 0;
}

static int add_answer(struct checkpoint_accels *a, const char *base64, struct err *e)
{
	struct memory memory = { .limit = ANSWER_MAX };
	ProtobufCAllocator with = { memory_take, memory_drop, &memory };
	size_t len = strlen(base64);
	auto_free uint8_t *bytes = malloc(BASE64_BYTES(len) + 1);

	if (!bytes)
		return err_nomem(e);
	ssize_t n = base64_decode(base64, len, bytes);
	Kubelet__AllocatedDevices *answer =
		n < 0 ? NULL : kubelet__allocated_devices__unpack(&with, (size_t)n, bytes);
	if (!answer && memory.failed && !memory.reached)
		return err_nomem(e);
	if (!answer)
		return err_set(e, ERR_DECODE, 0, "AllocResp cannot be decoded");
	int rc = checkpoint_add_files(a, answer, e);
	kubelet__allocated_devices__free_unpacked(answer, &with);
	return rc;
}

/*
 * An entry is what one container has of one resource. Its files are not said by device. An init
 * container leaves its devices to the containers after it, so several entries may have a device.
 * An entry that also has devices of no running container shows nothing, but others may.
 */
static int checkpoint_add_entry(struct search *s, const struct json *entry, struct err *e)
{
	struct checkpoint_accels files = { .n = 0 };

	if (strcmp(json_text(entry, "ResourceName"), s->resource) != 0)
		return 0;
	auto_free bool *mine = calloc(s->pod->n + 1, sizeof(*mine));
	if (!mine)
		return err_nomem(e);
	size_t n = count_devices(s, entry, mine);
	if (!n)
		return 0;
	if (add_answer(&files, json_text(entry, "AllocResp"), e))
		return -1;
	if (files.n != n)
		return err_set(e, ERR_NOTFOUND, 0,
			       "a container has %zu devices and %zu files " ACCEL "N", n, files.n);
	for (size_t i = 0; i < s->pod->n; i++)
		s->shown[i] = s->shown[i] || mine[i];
	for (size_t i = 0; i < files.n; i++)
		if (checkpoint_add_number(&s->found, files.number[i], e))
			return -1;
	return 0;
}

/* As many files as devices: otherwise entries contradict each other. */
static int checkpoint_check_all(const struct search *s, struct err *e)
{
	size_t wanted = 0, shown = 0;

	for (size_t i = 0; i < s->pod->n; i++) {
		const struct pod_device *d = &s->pod->device[i];
		wanted += !d->claimed && !strcmp(d->owner, s->resource);
		shown += s->shown[i];
	}
	if (shown != wanted)
		return err_set(e, ERR_NOTFOUND, 0, "the checkpoint has %zu of %zu devices", shown,
			       wanted);
	if (s->found.n != wanted)
		return err_set(e, ERR_NOTFOUND, 0,
			       "the checkpoint has %zu files " ACCEL "N for %zu devices",
			       s->found.n, wanted);
	return 0;
}

int checkpoint_accels(struct slice text, const struct pod_devices *pod, const char *resource,
		      struct checkpoint_accels *out, struct err *e)
{
	auto_free bool *shown = calloc(pod->n + 1, sizeof(*shown));
	struct search s = { .pod = pod, .resource = resource, .shown = shown };
	auto_json struct json *all = NULL;

	if (!shown)
		return err_nomem(e);
	if (json_parse_long(text.p, text.len, "the checkpoint", &all, e))
		return -1;
	json_each (entry, json_get(json_get(all, "Data"), "PodDeviceEntries"))
		if (checkpoint_add_entry(&s, entry, e))
			return -1;
	if (checkpoint_check_all(&s, e))
		return -1;
	*out = s.found;
	return 0;
}
