/* SPDX-License-Identifier: Apache-2.0 */
/* assign.c: which functions are the devices of which resource. Pure. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/base/array.h"
#include "railheadd/devices/assign.h"

#define NOTES_MAX 256

/* One resource while its devices are chosen. */
struct assignment {
	const struct functions *all;
	const struct resource_conf *conf;
	bool *taken; /* by an earlier resource, for each function */
	struct resource_devices *out;
	struct resource_look *look;
};

static int add_note(struct resource_look *l, struct err *e, const char *fmt, ...) printf_like(3, 4);
static int add_note(struct resource_look *l, struct err *e, const char *fmt, ...)
{
	char text[800];
	va_list ap;

	if (l->n_notes == NOTES_MAX)
		return 0;
	va_start(ap, fmt);
	(void)vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (ARRAY_GROW(l->note, l->n_notes, NOTES_MAX, "notes", e))
		return -1;
	l->note[l->n_notes] = strdup(text);
	if (!l->note[l->n_notes])
		return err_nomem(e);
	l->n_notes++;
	return 0;
}

/* A whole function whose interface a pod may have: nobody records who took it. */
static bool lacks_interface(const struct function *f)
{
	return *f->addr && !*f->pf && !*f->netdev && *f->driver &&
	       !function_has_userspace_driver(f);
}

static struct select_subject subject_of(const struct function *f)
{
	return (struct select_subject){
		.text = { [SELECT_VENDOR] = f->vendor,
			  [SELECT_DEVICE] = f->device,
			  [SELECT_DRIVER] = f->driver,
			  [SELECT_ADDRESS] = f->addr,
			  [SELECT_ACPI] = f->acpi,
			  [SELECT_PF] = f->pf_netdev,
			  [SELECT_PF_ADDR] = f->pf,
			  [SELECT_PF_ANY] = f->pf_netdev,
			  [SELECT_INTERFACE] = f->netdev,
			  [SELECT_LINK] = f->link,
			  [SELECT_PKEY] = f->pkey,
			  [SELECT_RDMA_NAME] = f->rdma },
		.pf_addr = *f->pf ? f->pf : f->addr,
		.is_vf = *f->pf,
		.has_rdma = function_is_rdma(f),
		.vf = f->vf,
		.away = f->use == FUNCTION_IN_POD || f->use == FUNCTION_IN_USE ||
			lacks_interface(f),
	};
}

static const struct device_selector *selector_of(const struct assignment *a,
						 const struct function *f, bool *sure)
{
	const struct select_subject subject = subject_of(f);

	return conf_selector_of(a->conf, &subject, sure);
}

/* ---- each function is a device ---- */

/* Devices come before functions that may be devices. */
static struct resource_device *assign_add_device(struct assignment *a, bool sure, struct err *e)
{
	struct resource_devices *d = a->out;
	size_t all = d->n + d->n_maybe, at = sure ? d->n : all;

	if (ARRAY_GROW(d->device, all, RESOURCE_IDS_MAX, "devices of a resource", e))
		return NULL;
	memmove(&d->device[at + 1], &d->device[at], (all - at) * sizeof(*d->device));
	d->device[at] = (struct resource_device){ .healthy = true };
	*(sure ? &d->n : &d->n_maybe) += 1;
	return &d->device[at];
}

static void add_numa(const struct assignment *a, struct resource_device *d, int numa)
{
	if (a->conf->no_topology || numa < 0 || d->n_numa == RESOURCE_NUMA_MAX)
		return;
	for (size_t i = 0; i < d->n_numa; i++) {
		if (d->numa[i] == numa)
			return;
	}
	d->numa[d->n_numa++] = numa;
}

static int assign_add_function(struct assignment *a, const struct function *f,
			       const struct device_selector *s, bool sure, struct err *e)
{
	struct resource_device *d = assign_add_device(a, sure, e);

	if (!d)
		return -1;
	memcpy(d->id, f->addr, sizeof(f->addr));
	memcpy(d->pf, *f->pf ? f->pf : f->addr, sizeof(d->pf));
	memcpy(d->bridge, f->bridge, sizeof(d->bridge));
	d->gpu_distance = f->gpu_distance;
	d->rdma = s->rdma;
	d->vhost = s->vhost && !a->all->no_vhost;
	add_numa(a, d, f->numa);
	function_health(a->conf, f, d);
	return 0;
}

/* Leave out functions that the host needs: a PF with VFs, and that of the default route. */
static int assign_add_functions(struct assignment *a, struct err *e)
{
	for (size_t i = 0; i < a->all->n; i++) {
		const struct function *f = &a->all->f[i];
		const struct device_selector *s;
		bool sure;

		if (a->taken[i] || !*f->addr || f->has_vfs || !(s = selector_of(a, f, &sure)))
			continue;
		if (f->has_route) {
			if (add_note(a->look, e,
				     "resource %s: %s is left out, because the default route of "
				     "the host uses its interface %s",
				     a->conf->name, f->addr, f->netdev))
				return -1;
			continue;
		}
		/* The scheduler and the kubelet count apart: two pods would get it. */
		if (sure && f->claimed) {
			err_set(e, ERR_CONFIG, 0,
				"it selects VF %s of %s, and with the key claims of agent.json the "
				"driver of claims offers all VFs of rails",
				f->addr, f->pf_netdev);
			return err_hint(e, "remove the resource, or claims");
		}
		a->taken[i] = sure;
		if (assign_add_function(a, f, s, sure, e))
			return -1;
	}
	return 0;
}

/* ---- copies of shared HCAs ---- */

static bool is_shareable(const struct assignment *a, const struct function *f)
{
	bool sure;
	const struct device_selector *s = *f->rdma ? selector_of(a, f, &sure) : NULL;

	return s && sure && (*f->addr || (a->conf->software && device_selector_names(s)));
}

static int assign_add_hca(struct assignment *a, const struct function *f, struct err *e)
{
	struct resource_devices *d = a->out;
	struct resource_hca *h;

	if (ARRAY_GROW(d->hca, d->n_hcas, FUNCTIONS_MAX, "HCAs", e))
		return -1;
	h = &d->hca[d->n_hcas++];
	*h = (struct resource_hca){ .addr = "" };
	memcpy(h->addr, f->addr, sizeof(h->addr));
	memcpy(h->name, f->rdma, sizeof(h->name));
	return 0;
}

static int assign_add_copies(struct assignment *a, const struct function *const *f, size_t n,
			     struct err *e)
{
	struct resource_device first = { .healthy = true };

	for (size_t i = 0; i < n; i++)
		add_numa(a, &first, f[i]->numa);
	shared_health(a->conf, a->all, f, n, &first);
	for (uint32_t i = 0; n && i < a->conf->copies; i++) {
		struct resource_device *d = assign_add_device(a, true, e);

		if (!d)
			return -1;
		*d = first;
		(void)snprintf(d->id, sizeof(d->id), "%u", (unsigned)i);
	}
	return 0;
}

static int assign_add_shared(struct assignment *a, struct err *e)
{
	auto_free const struct function **f =
		calloc(a->all->n + 1, sizeof(const struct function *));
	size_t n = 0;

	if (!f)
		return err_nomem(e);
	for (size_t i = 0; i < a->all->n; i++) {
		if (!is_shareable(a, &a->all->f[i]))
			continue;
		f[n++] = &a->all->f[i];
		if (assign_add_hca(a, &a->all->f[i], e))
			return -1;
	}
	return assign_add_copies(a, f, n, e);
}

/* ---- slots without hardware of their own ---- */

static int assign_add_slots(struct assignment *a, struct err *e)
{
	const char *why = json_len(a->conf->networks) ? a->all->rails_why : "";
	struct resource_device slot = { .healthy = !*why };

	(void)snprintf(slot.why, sizeof(slot.why), "%s", why);
	for (uint32_t i = 0; i < a->conf->copies; i++) {
		struct resource_device *d = assign_add_device(a, true, e);

		if (!d)
			return -1;
		*d = slot;
		(void)snprintf(d->id, sizeof(d->id), "%u", (unsigned)i);
	}
	return 0;
}

/* ---- all resources ---- */

/* As upstream: the devices are offered all the same. */
static int note_vhost(struct assignment *a, struct err *e)
{
	for (size_t i = 0; a->all->no_vhost && i < a->conf->n_selectors; i++) {
		if (a->conf->selector[i].vhost)
			return add_note(a->look, e,
					"resource %s: containers do not get /dev/vhost-net, "
					"because the host has none: modprobe vhost_net",
					a->conf->name);
	}
	return 0;
}

static int assign(struct assignment *a, struct err *e)
{
	if (a->conf->networks && !a->conf->n_selectors)
		return assign_add_slots(a, e);
	if (note_vhost(a, e))
		return -1;
	if (a->conf->shared ? assign_add_shared(a, e) : assign_add_functions(a, e))
		return -1;
	if (a->out->n)
		return 0;
	return add_note(a->look, e, "resource %s: its selectors match no %s of this host",
			a->conf->name, a->conf->shared ? "RDMA device" : "network function");
}

int functions_assign(const struct functions *all, const struct resource_set *s,
		     struct resource_look *out, struct err *e)
{
	auto_resource_look struct resource_look l = { 0 };
	auto_free bool *taken = calloc(all->n + 1, sizeof(*taken));

	l.of = calloc(s->n + 1, sizeof(*l.of));
	if (!taken || !l.of)
		return err_nomem(e);
	l.n = s->n;
	for (size_t i = 0; i < s->n_warnings; i++) {
		if (add_note(&l, e, "%s", s->warning[i]))
			return -1;
	}
	for (size_t i = 0; i < s->n; i++) {
		struct assignment a = { all, &s->conf[i], taken, &l.of[i], &l };

		if (assign(&a, e))
			return err_wrap(e, "resource %s", s->conf[i].name);
	}
	*out = l;
	l = (struct resource_look){ 0 };
	return 0;
}
