/* SPDX-License-Identifier: Apache-2.0 */
/* slow.c: children that answer with structs. */
#include "railheadd/devices/slow.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "lib/grpc/call.h"
#include "lib/sys/fs.h"
#include "lib/sys/site.h"
#include "railheadd/devices/wire.h"
#include "topo/kubelet/pod_list.h"

#define PODS_MS 5000

/* Of each answer; code 0: it went well, and len bytes follow. */
struct slow_head {
	struct err why;
	size_t len;
};

/* Of a look. The functions and the list of pods follow. */
struct found_head {
	size_t n, n_pods;
	bool exclusive, no_vhost;
	char rails_why[RESOURCE_WHY_LEN];
	char unlisted[sizeof(((struct slow_found *)0)->unlisted)];
};

void slow_found_clear(struct slow_found *f)
{
	functions_clear(&f->functions);
	free(f->pods);
	*f = (struct slow_found){ .n_pods = 0 };
}

/* ---- in the child ---- */

static bool slow_print(const void *bytes, size_t len)
{
	return !len || fwrite(bytes, len, 1, stdout) == 1;
}

static bool slow_print_head(const struct err *why, size_t len)
{
	struct slow_head h;

	memset(&h, 0, sizeof(h));
	if (why)
		h.why = *why;
	else
		h.len = len;
	return slow_print(&h, sizeof(h));
}

int slow_say(const struct err *why, const void *bytes, size_t len)
{
	return slow_print_head(why, len) && (why || slow_print(bytes, len)) && fflush(stdout) == 0
		       ? 0
		       : 1;
}

int slow_say_found(const struct slow_found *found, const struct err *why)
{
	struct found_head h;

	if (why)
		return slow_say(why, NULL, 0);
	memset(&h, 0, sizeof(h));
	h.n = found->functions.n;
	h.n_pods = found->n_pods;
	h.exclusive = found->functions.exclusive;
	h.no_vhost = found->functions.no_vhost;
	memcpy(h.rails_why, found->functions.rails_why, sizeof(h.rails_why));
	memcpy(h.unlisted, found->unlisted, sizeof(h.unlisted));
	const size_t len = h.n * sizeof(*found->functions.f);

	return slow_print_head(NULL, sizeof(h) + len + h.n_pods) && slow_print(&h, sizeof(h)) &&
			       slow_print(found->functions.f, len) &&
			       slow_print(found->pods, h.n_pods) && fflush(stdout) == 0
		       ? 0
		       : 1;
}

/* As railhead.json says; else beside the folder of device plugins, wherever the kubelet has it. */
static int find_pods_socket(const struct ctx *ctx, const char *folder, char out[PATH_MAX],
			    struct err *e)
{
	auto_site struct site s = { .tree = NULL };
	size_t len = strlen(folder);

	if (site_load(ctx, &s, e))
		return -1;
	while (len > 1 && folder[len - 1] == '/')
		len--;
	while (len && folder[len - 1] != '/')
		len--;
	if (strcmp(s.pod_resources, SITE_POD_RESOURCES) != 0)
		(void)snprintf(out, PATH_MAX, "%s", s.pod_resources);
	else
		(void)snprintf(out, PATH_MAX, "%.*spod-resources/kubelet.sock", (int)len, folder);
	return 0;
}

/* Without the list the look is good all the same. */
static void ask_pods(const struct ctx *ctx, const char *folder, struct slow_found *to)
{
	char socket[PATH_MAX];
	const struct kubelet_at kubelet = { socket, ctx_mono_ms() + PODS_MS };
	struct grpc_answer a;
	struct err e;

	if (find_pods_socket(ctx, folder, socket, &e) || pod_list_ask(&kubelet, &a, &e)) {
		memcpy(to->unlisted, e.msg, sizeof(to->unlisted));
		return;
	}
	to->pods = a.message;
	to->n_pods = a.len;
}

int slow_look(const char *folder, bool claims)
{
	auto_slow_found struct slow_found found = { .n_pods = 0 };
	struct ctx ctx;
	struct err e;

	ctx_init(&ctx, "railhead-devices");
	ask_pods(&ctx, folder, &found);
	return slow_say_found(
		&found,
		functions_read(&ctx, &found.functions, &e) ||
				(claims && functions_mark_claimed(&ctx, &found.functions, &e))
			? &e
			: NULL);
}

static int call_kubelet(const char *socket, struct proto_bytes m, struct err *e)
{
	auto_grpc_answer struct grpc_answer a = { .len = 0 };
	const struct grpc_request r = { "/v1beta1.Registration/Register", m.data, (uint32_t)m.len,
					4096, SLOW_REGISTER_MS };

	if (!m.data)
		return err_nomem(e);
	if (grpc_call(socket, &r, ctx_mono_ms() + SLOW_REGISTER_MS, &a, e))
		return -1;
	return a.status.code == GRPC_OK ? 0 : grpc_status_error(&a.status, e);
}

int slow_register(const struct slow_call *call)
{
	const struct proto_bytes m = wire_register(call->endpoint, call->resource);
	struct err e;
	int rc = slow_say(call_kubelet(call->socket, m, &e) ? &e : NULL, NULL, 0);

	free(m.data);
	return rc;
}

/* ---- its answer ---- */

int slow_ended(const struct slow_answer *a, const void **bytes, size_t *len, struct err *e)
{
	struct slow_head h;

	if (a->how == CHILD_LATE)
		return err_set(e, ERR_AGAIN, ETIMEDOUT, "%s: no answer in time", a->what);
	if (a->how == CHILD_TOO_MUCH)
		return err_set(e, ERR_DELEGATE, 0, "%s: the child printed more than %zu bytes",
			       a->what, SLOW_ANSWER_MAX);
	if (!a->text || a->len < sizeof(h))
		return err_set(e, ERR_DELEGATE, 0, "%s: the child ended without an answer",
			       a->what);
	memcpy(&h, a->text, sizeof(h));
	if (h.why.code)
		return err_pass(e, &h.why);
	if (a->len - sizeof(h) != h.len)
		return err_set(e, ERR_DELEGATE, 0, "%s: the answer is not whole", a->what);
	if (bytes)
		*bytes = a->text + sizeof(h);
	if (len)
		*len = h.len;
	return 0;
}

static void *copy(const char *from, size_t len)
{
	void *to = malloc(len + 1);

	return to ? memcpy(to, from, len) : NULL;
}

int slow_look_ended(const struct slow_answer *a, struct slow_found *out, struct err *e)
{
	struct found_head h = { .n = 0 };
	const void *bytes = NULL;
	struct slow_found f;
	const char *at;
	size_t len = 0;

	if (slow_ended(a, &bytes, &len, e))
		return -1;
	if (len >= sizeof(h))
		memcpy(&h, bytes, sizeof(h));
	if (len < sizeof(h) || h.n > FUNCTIONS_MAX || h.n_pods > SLOW_ANSWER_MAX ||
	    len != sizeof(h) + h.n * sizeof(struct function) + h.n_pods)
		return err_set(e, ERR_DELEGATE, 0, "%s: the answer is not whole", a->what);
	at = (const char *)bytes + sizeof(h);
	f = (struct slow_found){
		.functions = { copy(at, h.n * sizeof(struct function)), h.n, h.exclusive,
			       h.no_vhost, "" },
		.pods = *h.unlisted ? NULL : copy(at + h.n * sizeof(struct function), h.n_pods),
		.n_pods = h.n_pods,
	};
	memcpy(f.functions.rails_why, h.rails_why, sizeof(h.rails_why));
	memcpy(f.unlisted, h.unlisted, sizeof(f.unlisted));
	if (!f.functions.f || (!f.pods && !*h.unlisted)) {
		slow_found_clear(&f);
		return err_nomem(e);
	}
	*out = f;
	return 0;
}
