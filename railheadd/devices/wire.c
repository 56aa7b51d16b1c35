/* SPDX-License-Identifier: Apache-2.0 */
/* wire.c: messages of Protocol Buffers, made and decoded with protobuf-c. */
#include "railheadd/devices/wire.h"

#include <railheadd/devices/plugin.pb-c.h>

#define VERSION    "v1beta1"
#define DECODE_MAX ((size_t)64 << 20) /* bytes of a decoded request */

/* n messages of this size and pointers to them: what a repeated field is. NULL: no memory. */
static void *new_messages(size_t n, size_t size, void ***pointers)
{
	char *all = calloc(n + 1, size);
	void **p = calloc(n + 1, sizeof(*p));

	if (!all || !p) {
		free(all);
		free(p);
		return NULL;
	}
	for (size_t i = 0; i < n; i++)
		p[i] = all + i * size;
	*pointers = p;
	return all;
}

/* ---- what the plugin says ---- */

static DevicePlugin__Options options(void)
{
	DevicePlugin__Options o = DEVICE_PLUGIN__OPTIONS__INIT;

	o.get_preferred_allocation_available = true;
	return o;
}

struct proto_bytes wire_register(const char *endpoint, const char *resource)
{
	DevicePlugin__RegisterRequest r = DEVICE_PLUGIN__REGISTER_REQUEST__INIT;
	DevicePlugin__Options o = options();

	r.version = proto_text(VERSION);
	r.endpoint = proto_text(endpoint);
	r.resource_name = proto_text(resource);
	r.options = &o;
	return proto_pack(&r.base);
}

struct proto_bytes wire_options(void)
{
	DevicePlugin__Options o = options();

	return proto_pack(&o.base);
}

struct device_message {
	DevicePlugin__Device device;
	DevicePlugin__TopologyInfo topology;
	DevicePlugin__NumaNode node[RESOURCE_NUMA_MAX];
	DevicePlugin__NumaNode *nodes[RESOURCE_NUMA_MAX];
};

static void fill_device(const struct resource_device *d, struct device_message *m)
{
	device_plugin__device__init(&m->device);
	device_plugin__topology_info__init(&m->topology);
	m->device.id = proto_text(d->id);
	m->device.health = proto_text(d->healthy ? "Healthy" : "Unhealthy");
	for (size_t i = 0; i < d->n_numa; i++) {
		device_plugin__numa_node__init(&m->node[i]);
		m->node[i].id = d->numa[i];
		m->nodes[i] = &m->node[i];
	}
	m->topology.n_nodes = d->n_numa;
	m->topology.nodes = m->nodes;
	/* A topology without nodes would mean something else than none. */
	m->device.topology = d->n_numa ? &m->topology : NULL;
}

struct proto_bytes wire_list(const struct resource_devices *d)
{
	DevicePlugin__ListAndWatchResponse list = DEVICE_PLUGIN__LIST_AND_WATCH_RESPONSE__INIT;
	auto_free void **pointers = NULL;
	auto_free struct device_message *all = new_messages(d->n, sizeof(*all), &pointers);

	if (!all)
		return (struct proto_bytes){ NULL, 0 };
	for (size_t i = 0; i < d->n; i++)
		fill_device(&d->device[i], &all[i]);
	list.n_devices = d->n;
	list.devices = (DevicePlugin__Device **)pointers;
	return proto_pack(&list.base);
}

static void fill_ids(const struct wire_ids *from, DevicePlugin__Ids *to)
{
	device_plugin__ids__init(to);
	to->n_ids = from->n;
	to->ids = (char **)(uintptr_t)from->id;
}

struct proto_bytes wire_preferred_answer(const struct wire_ids *choice, size_t n)
{
	DevicePlugin__PreferredResponse r = DEVICE_PLUGIN__PREFERRED_RESPONSE__INIT;
	auto_free void **pointers = NULL;
	auto_free DevicePlugin__Ids *all = new_messages(n, sizeof(*all), &pointers);

	if (!all)
		return (struct proto_bytes){ NULL, 0 };
	for (size_t i = 0; i < n; i++)
		fill_ids(&choice[i], &all[i]);
	r.n_container_responses = n;
	r.container_responses = (DevicePlugin__Ids **)pointers;
	return proto_pack(&r.base);
}

/* ---- what a container gets ---- */

/* The parts of a DevicePlugin__ContainerAllocateResponse. */
struct container_message {
	DevicePlugin__Pair *env, *annotation;
	DevicePlugin__Mount *mount;
	DevicePlugin__DeviceSpec *node;
	DevicePlugin__CdiDevice *cdi;
	void **list[5];
};

static void container_clear(struct container_message *c)
{
	free(c->env);
	free(c->annotation);
	free(c->mount);
	free(c->node);
	free(c->cdi);
	for (size_t i = 0; i < ARRAY_SIZE(c->list); i++)
		free(c->list[i]);
}

static DevicePlugin__Pair *new_pairs(const struct resource_pair *from, size_t n, void ***pointers)
{
	DevicePlugin__Pair *all = new_messages(n, sizeof(*all), pointers);

	for (size_t i = 0; all && i < n; i++) {
		device_plugin__pair__init(&all[i]);
		all[i].key = from[i].name;
		all[i].value = from[i].value;
	}
	return all;
}

static bool allocate_parts(const struct resource_allocation *a, struct container_message *c)
{
	c->env = new_pairs(a->env, a->n_env, &c->list[0]);
	c->annotation = new_pairs(a->annotation, a->n_annotations, &c->list[1]);
	c->mount = new_messages(a->n_mounts, sizeof(*c->mount), &c->list[2]);
	c->node = new_messages(a->n_nodes, sizeof(*c->node), &c->list[3]);
	c->cdi = new_messages(a->n_cdi, sizeof(*c->cdi), &c->list[4]);
	return c->env && c->annotation && c->mount && c->node && c->cdi;
}

static void fill_container(const struct resource_allocation *a, struct container_message *c,
			   DevicePlugin__ContainerAllocateResponse *to)
{
	device_plugin__container_allocate_response__init(to);
	for (size_t i = 0; i < a->n_mounts; i++) {
		device_plugin__mount__init(&c->mount[i]);
		c->mount[i].container_path = a->mount[i].container_path;
		c->mount[i].host_path = a->mount[i].host_path;
		c->mount[i].read_only = a->mount[i].read_only;
	}
	for (size_t i = 0; i < a->n_nodes; i++) {
		device_plugin__device_spec__init(&c->node[i]);
		c->node[i].container_path = c->node[i].host_path = a->node[i].path;
		c->node[i].permissions = proto_text(a->node[i].permissions);
	}
	for (size_t i = 0; i < a->n_cdi; i++) {
		device_plugin__cdi_device__init(&c->cdi[i]);
		c->cdi[i].name = a->cdi[i];
	}
	to->n_envs = a->n_env;
	to->envs = (DevicePlugin__Pair **)c->list[0];
	to->n_annotations = a->n_annotations;
	to->annotations = (DevicePlugin__Pair **)c->list[1];
	to->n_mounts = a->n_mounts;
	to->mounts = (DevicePlugin__Mount **)c->list[2];
	to->n_devices = a->n_nodes;
	to->devices = (DevicePlugin__DeviceSpec **)c->list[3];
	to->n_cdi_devices = a->n_cdi;
	to->cdi_devices = (DevicePlugin__CdiDevice **)c->list[4];
}

struct proto_bytes wire_allocate_answer(const struct resource_allocation *of, size_t n)
{
	DevicePlugin__AllocateResponse r = DEVICE_PLUGIN__ALLOCATE_RESPONSE__INIT;
	struct container_message parts[WIRE_CONTAINERS_MAX] = { { .env = NULL } };
	DevicePlugin__ContainerAllocateResponse all[WIRE_CONTAINERS_MAX],
		*pointers[WIRE_CONTAINERS_MAX];
	struct proto_bytes b = { NULL, 0 };
	size_t i = 0;

	if (n > WIRE_CONTAINERS_MAX)
		return b;
	while (i < n && allocate_parts(&of[i], &parts[i])) {
		fill_container(&of[i], &parts[i], &all[i]);
		pointers[i] = &all[i];
		i++;
	}
	r.n_container_responses = n;
	r.container_responses = pointers;
	if (i == n)
		b = proto_pack(&r.base);
	for (i = 0; i < n; i++)
		container_clear(&parts[i]);
	return b;
}

/* ---- what the kubelet says ---- */

static void *wire_unpack(const ProtobufCMessageDescriptor *of, const uint8_t *bytes, size_t len,
			 struct err *e)
{
	return proto_unpack(of, &(struct proto_source){ "the request", bytes, len, DECODE_MAX }, e);
}

static int check_containers(size_t n, struct err *e)
{
	if (n <= WIRE_CONTAINERS_MAX)
		return 0;
	return err_set(e, ERR_DECODE, 0, "the request has %zu containers, allowed are %d", n,
		       WIRE_CONTAINERS_MAX);
}

static int check_ids(size_t n, struct err *e)
{
	if (n <= RESOURCE_IDS_MAX)
		return 0;
	return err_set(e, ERR_DECODE, 0, "the request has %zu devices, allowed are %d", n,
		       RESOURCE_IDS_MAX);
}

static int take_preferred(const DevicePlugin__PreferredRequest *m, struct resource_preference *out,
			  struct err *e)
{
	for (size_t i = 0; i < m->n_container_requests; i++) {
		const DevicePlugin__ContainerPreferredRequest *c = m->container_requests[i];

		if (check_ids(c->n_available, e) || check_ids(c->n_must_include, e))
			return -1;
		if (c->size < 1)
			return err_set(e, ERR_DECODE, 0, "allocation_size: %d is not positive",
				       c->size);
		out[i] = (struct resource_preference){
			.available = (const char *const *)c->available,
			.n_available = c->n_available,
			.must = (const char *const *)c->must_include,
			.n_must = c->n_must_include,
			.size = (size_t)c->size,
		};
	}
	return 0;
}

int wire_preferred_decode(const uint8_t *bytes, size_t len, struct wire_preferred *out,
			  struct err *e)
{
	DevicePlugin__PreferredRequest *m =
		wire_unpack(&device_plugin__preferred_request__descriptor, bytes, len, e);
	auto_wire_preferred struct wire_preferred p = { .message = m };

	if (!m || check_containers(m->n_container_requests, e))
		return -1;
	p.n = m->n_container_requests;
	p.of = calloc(p.n + 1, sizeof(*p.of));
	if (!p.of)
		return err_nomem(e);
	if (take_preferred(m, p.of, e))
		return -1;
	out->n = p.n;
	out->of = TAKE_PTR(p.of);
	out->message = TAKE_PTR(p.message);
	return 0;
}

void wire_preferred_clear(struct wire_preferred *p)
{
	free(p->of);
	proto_free(p->message);
	*p = (struct wire_preferred){ .n = 0 };
}

int wire_allocate_decode(const uint8_t *bytes, size_t len, struct wire_allocate *out, struct err *e)
{
	DevicePlugin__AllocateRequest *m =
		wire_unpack(&device_plugin__allocate_request__descriptor, bytes, len, e);
	auto_wire_allocate struct wire_allocate a = { .message = m };
	size_t n = 0;

	if (!m || check_containers(m->n_container_requests, e))
		return -1;
	a.n = m->n_container_requests;
	a.of = calloc(a.n + 1, sizeof(*a.of));
	if (!a.of)
		return err_nomem(e);
	for (size_t i = 0; i < a.n; i++) {
		const DevicePlugin__Ids *ids = m->container_requests[i];

		a.of[i] = (struct wire_ids){ (const char *const *)ids->ids, ids->n_ids };
		n += ids->n_ids;
	}
	if (check_ids(n, e))
		return -1;
	out->n = a.n;
	out->of = TAKE_PTR(a.of);
	out->message = TAKE_PTR(a.message);
	return 0;
}

void wire_allocate_clear(struct wire_allocate *a)
{
	free(a->of);
	proto_free(a->message);
	*a = (struct wire_allocate){ .n = 0 };
}
