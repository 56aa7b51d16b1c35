/* SPDX-License-Identifier: Apache-2.0 */
/* checkpoint.c: finds a pod's devices in the checkpoint, and the files that came with them. */
#include "topo/kubelet/checkpoint.h"

#include <string.h>
#include <topo/kubelet/checkpoint.pb-c.h>

#include "lib/encode/base64.h"
#include "lib/grpc/memory.h"
#include "lib/json/json.h"

/* Of one answer, decoded. */
#define ANSWER_MAX ((size_t)4 << 20)
#define ACCEL      "/dev/accel/accel"

struct search {
	const struct pod_devices *pod;
	const char *resource;
	struct checkpoint_accels found;
	size_t ids; /* of the pod, in all entries */
};

static bool is_of_pod(const struct search *s, const char *id)
{
	for (size_t i = 0; id && i < s->pod->n; i++) {
		const struct pod_device *d = &s->pod->device[i];
		if (!d->claimed && !strcmp(d->owner, s->resource) && !strcmp(d->id, id))
			return true;
	}
	return false;
}

/* The number of ids in an entry, which lists them by NUMA node. */
static size_t count_ids(const struct search *s, const struct json *entry, size_t *of_pod)
{
	size_t n = 0;

	*of_pod = 0;
	json_each (node, json_get(entry, "DeviceIDs")) {
		json_each (id, node) {
			*of_pod += is_of_pod(s, json_str(id));
			n++;
		}
	}
	return n;
}

static int add_number(struct checkpoint_accels *a, uint32_t number, struct err *e)
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

static int add_files(struct checkpoint_accels *a, const Kubelet__AllocatedDevices *answer,
		     struct err *e)
{
	uint64_t number;

	for (size_t i = 0; i < answer->n_devices; i++) {
		const char *path = answer->devices[i]->host_path;
		if (!strncmp(path, ACCEL, strlen(ACCEL)) &&
		    !parse_u64(path + strlen(ACCEL), 0, UINT32_MAX, &number) &&
		    add_number(a, (uint32_t)number, e))
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
	int rc = add_files(a, answer, e);
	kubelet__allocated_devices__free_unpacked(answer, &with);
	return rc;
}

/* An entry is what one container has of one resource. Its files are not said by device. */
static int add_entry(struct search *s, const struct json *entry, struct err *e)
{
	size_t of_pod, before = s->found.n;

	if (strcmp(json_text(entry, "ResourceName"), s->resource) != 0)
		return 0;
	size_t n = count_ids(s, entry, &of_pod);
	if (!of_pod)
		return 0;
	if (add_answer(&s->found, json_text(entry, "AllocResp"), e))
		return -1;
	if (of_pod != n || s->found.n - before != n)
		return err_set(e, ERR_NOTFOUND, 0,
			       "a container has %zu devices, %zu of them of the pod, and %zu "
			       "files " ACCEL "N",
			       n, of_pod, s->found.n - before);
	s->ids += n;
	return 0;
}

int checkpoint_accels(struct slice text, const struct pod_devices *pod, const char *resource,
		      struct checkpoint_accels *out, struct err *e)
{
	struct search s = { .pod = pod, .resource = resource };
	auto_json struct json *all = NULL;
	size_t wanted = 0;

	if (json_parse(text.p, text.len, "the checkpoint", &all, e))
		return -1;
	json_each (entry, json_get(json_get(all, "Data"), "PodDeviceEntries"))
		if (add_entry(&s, entry, e))
			return -1;
	for (size_t i = 0; i < pod->n; i++)
		wanted += !pod->device[i].claimed && !strcmp(pod->device[i].owner, resource);
	if (s.ids != wanted)
		return err_set(e, ERR_NOTFOUND, 0, "the checkpoint has %zu of %zu devices", s.ids,
			       wanted);
	*out = s.found;
	return 0;
}
