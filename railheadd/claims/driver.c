/* SPDX-License-Identifier: Apache-2.0 */
/* driver.c: sockets, the calls of the kubelet, and when a child does what. */
#include "railheadd/claims/driver.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/queue.h>
#include <unistd.h>

#include "lib/sys/safe_path.h"
#include "lib/sys/timer.h"
#include "railheadd/claims/ahead.h"
#include "railheadd/devices/grpc_server.h"
#include "railheadd/devices/watchers.h"
#include "railheadd/watch/folder.h"
#include "railheadd/watch/look.h"

#define STEP_MS     5000  /* a socket that was removed is noticed then */
#define PUBLISH_MS  30000 /* between looks at the rails */
#define RETRY_MS    10000 /* after a publication that failed */
#define LOOK_MS     60000 /* between looks at the slices of the API server */
#define TELL_MS     1000  /* from a refusal to its Event, and from Prepare to the status */
#define CHILD_LIMIT 60000 /* ms of a child that publishes or tells */
#define RUNNING_MAX 16    /* requests; a full pool holds each up to JOBS_WAIT_MS */
#define WAITING_MAX 1024
#define CALLS_MAX   256 /* of one connection */

/* A request of the kubelet. */
struct driver_job {
	TAILQ_ENTRY(driver_job) all;
	struct claims_driver *driver;
	struct grpc_call *call; /* NULL: the kubelet has given up */
	struct dra_request request;
	bool ends;           /* NodeUnprepareResources */
	int64_t came;        /* ctx_mono_ms() */
	struct child *child; /* NULL: it waits, or reads */
	struct ahead_read *read;
	bool runs;
};
TAILQ_HEAD(driver_jobs, driver_job);

struct driver_listener {
	char folder[PATH_MAX];
	const char *name;
	const struct grpc_service *service;
	struct grpc_listener at;
	char said[LOOK_SAID_LEN];
};

struct claims_driver {
	struct claims_driver_conf conf;
	struct driver_listener calls, registration;
	struct driver_jobs jobs;
	size_t n, running;
	struct timer *step, *publish, *tell;
	struct child *publishing, *telling;
	struct folder_watch *refusals;
	char refused[PATH_MAX]; /* their folder */
	struct jobs_published published;
	struct watchers health;
	struct ahead ahead;
	int64_t looked;             /* ctx_mono_ms(); 0: the slices are to be looked at */
	bool look;                  /* the publication that runs looks */
	char untold[LOOK_SAID_LEN]; /* why an Event or a status is missing */
	char said[LOOK_SAID_LEN], note[sizeof(((struct jobs_published *)0)->note)];
};

static const struct log *driver_log(const struct claims_driver *d)
{
	return &d->conf.place.ctx->log;
}

static void driver_tell_soon(void *arg);

/* ---- publication ---- */

static void driver_publish_again(struct claims_driver *d)
{
	d->looked = 0;
	(void)timer_arm(d->publish, 0);
}

static int driver_publish_end(struct claims_driver *d, const struct slow_answer *a, struct err *e)
{
	struct proto_bytes health;
	const void *bytes;
	size_t len;

	if (slow_ended(a, &bytes, &len, e))
		return -1;
	if (len < sizeof(d->published))
		return err_set(e, ERR_DELEGATE, 0, "%s: the answer is not whole", a->what);
	memcpy(&d->published, bytes, sizeof(d->published));
	health.len = len - sizeof(d->published);
	health.data = malloc(health.len + 1);
	if (health.data)
		memcpy(health.data, (const uint8_t *)bytes + sizeof(d->published), health.len);
	return watchers_send(&d->health, health) ? err_nomem(e) : 0;
}

static void driver_say_published(struct claims_driver *d)
{
	const struct jobs_published *now = &d->published;

	if (now->writes)
		log_info(driver_log(d), "claims: %u ResourceSlices were written%s%s", now->writes,
			 now->sharing == FEATURE_OFF ? "; the API server has no devices that "
						       "several claims share"
						     : "",
			 now->counting == FEATURE_OFF ? "; the API server has no shared counters, "
							"so single VFs are not offered"
						      : "");
	if (*now->note && strcmp(now->note, d->note) != 0)
		log_warn(driver_log(d), "claims: %s", now->note);
	memcpy(d->note, now->note, sizeof(d->note));
}

static void driver_published(void *arg, enum child_end how, const char *text, size_t len)
{
	const struct slow_answer answer = { "ResourceSlices", how, text, len };
	struct claims_driver *d = arg;
	struct err e;

	if (driver_publish_end(d, &answer, &e)) {
		/* It is not known which slices were written. */
		d->looked = 0;
		look_note_error(driver_log(d), "claims", &e, d->said);
		(void)timer_arm(d->publish, RETRY_MS);
		return;
	}
	d->said[0] = '\0';
	driver_say_published(d);
	driver_tell_soon(d); /* a container may have started again */
	(void)timer_arm(d->publish, d->looked ? PUBLISH_MS : 0);
}

static int driver_publish_in_child(const void *arg)
{
	const struct claims_driver *d = arg;

	return d->conf.publish(&d->conf.place, &d->published, d->look);
}

static void driver_publish(void *arg)
{
	struct claims_driver *d = arg;
	int64_t now = ctx_mono_ms();
	struct err e;

	/* The slices are those of the driver that the kubelet calls. driver_step begins again. */
	if (!plugin_socket_is_there(&d->registration.at.socket))
		return;
	if (child_runs(d->publishing)) {
		(void)timer_arm(d->publish, RETRY_MS);
		return;
	}
	d->look = !d->looked || now - d->looked >= LOOK_MS;
	if (d->look)
		d->looked = now;
	if (child_start(d->publishing, &e)) {
		log_error(driver_log(d), "claims: %s", e.msg);
		(void)timer_arm(d->publish, RETRY_MS);
	}
}

/* ---- Events, and the status of claims ---- */

static void driver_told(void *arg, enum child_end how, const char *text, size_t len)
{
	const struct slow_answer answer = { "Events and statuses", how, text, len };
	struct claims_driver *d = arg;
	const void *bytes;
	struct err e = { .msg = "" };

	/* It is tried again after each publication. */
	(void)!slow_ended(&answer, &bytes, &len, &e);
	look_note_error(driver_log(d), "claims", &e, d->untold);
}

static int driver_tell_in_child(const void *arg)
{
	const struct claims_driver *d = arg;

	return d->conf.tell(&d->conf.place);
}

static void driver_tell(void *arg)
{
	struct claims_driver *d = arg;
	struct err e;

	if (!child_runs(d->telling) && child_start(d->telling, &e) == 0)
		return;
	(void)timer_arm(d->tell, TELL_MS);
}

static void driver_tell_soon(void *arg)
{
	struct claims_driver *d = arg;

	if (timer_left(d->tell) < 0)
		(void)timer_arm(d->tell, TELL_MS);
}

/* ---- registration ---- */

static void driver_call_info(void *arg, struct grpc_call *call, const uint8_t *message, size_t len)
{
	struct claims_driver *d = arg;

	(void)message;
	(void)len;
	grpc_answer(call, dra_info(d->calls.at.socket.path));
}

/* The kubelet deletes the slices of a driver that was away too long: look at them. */
static void driver_call_status(void *arg, struct grpc_call *call, const uint8_t *message,
			       size_t len)
{
	struct claims_driver *d = arg;
	struct dra_status s;
	struct err e;

	if (dra_status_decode(message, len, &s, &e)) {
		grpc_call_refuse(call, &e);
		return;
	}
	if (s.registered)
		log_info(driver_log(d), "claims: the kubelet has registered " CLAIM_DRIVER);
	else
		log_error(driver_log(d), "claims: the kubelet refuses " CLAIM_DRIVER ": %s",
			  s.error);
	driver_publish_again(d);
	grpc_call_answer(call, NULL, 0);
}

/* ---- requests ---- */

static void driver_start_jobs(struct claims_driver *d);

static void driver_free_job(struct driver_job *j)
{
	struct claims_driver *d = j->driver;

	TAILQ_REMOVE(&d->jobs, j, all);
	d->n--;
	d->running -= j->runs;
	ahead_cancel(j->read);
	child_free(j->child);
	dra_request_clear(&j->request);
	free(j);
}

static const char *driver_word(const struct driver_job *j)
{
	return j->ends ? "NodeUnprepareResources" : "NodePrepareResources";
}

static void driver_end_job(struct driver_job *j, const void *bytes, size_t len,
			   const struct err *why)
{
	struct claims_driver *d = j->driver;

	if (why)
		log_error(driver_log(d), "claims: %s", why->msg);
	else
		log_info(driver_log(d), "claims: %s of %zu claims: %" PRId64 " ms", driver_word(j),
			 j->request.n, ctx_mono_ms() - j->came);
	if (!j->ends)
		driver_tell_soon(d);
	if (j->call && why)
		grpc_call_refuse(j->call, why);
	else if (j->call)
		grpc_call_answer(j->call, bytes, len);
	driver_free_job(j);
}

static void driver_job_ended(void *arg, enum child_end how, const char *text, size_t len)
{
	struct driver_job *j = arg;
	const struct slow_answer answer = { driver_word(j), how, text, len };
	struct claims_driver *d = j->driver;
	const void *bytes;
	struct err e;

	if (slow_ended(&answer, &bytes, &len, &e))
		driver_end_job(j, NULL, 0, &e);
	else
		driver_end_job(j, bytes, len, NULL);
	driver_start_jobs(d);
}

static int driver_job_in_child(const void *arg)
{
	const struct driver_job *j = arg;
	const struct claims_driver_conf *c = &j->driver->conf;

	return (j->ends ? c->unprepare : c->prepare)(&c->place, &j->request);
}

static int driver_start_child(struct driver_job *j, struct err *e)
{
	struct claims_driver *d = j->driver;
	const struct child_conf conf = { .base = d->conf.base,
					 .path = "railhead-devices-claim",
					 .run = driver_job_in_child,
					 .deadline_ms = JOBS_PREPARE_MS,
					 .text_max = SLOW_ANSWER_MAX,
					 .done = driver_job_ended,
					 .arg = j };
	struct child *child;

	if (child_new(&conf, &child, e))
		return -1;
	if (child_start(child, e)) {
		child_free(child);
		return -1;
	}
	j->child = child;
	return 0;
}

/* If the kubelet has given up a Prepare that is not begun, it never is. */
static void driver_has_read(void *arg)
{
	struct driver_job *j = arg;
	struct claims_driver *d = j->driver;
	struct err e;

	j->read = NULL;
	if (!j->call)
		driver_free_job(j);
	else if (driver_start_child(j, &e) == 0)
		return;
	else
		driver_end_job(j, NULL, 0, &e);
	driver_start_jobs(d);
}

static int driver_start_job(struct driver_job *j, struct err *e)
{
	struct claims_driver *d = j->driver;

	if (!j->ends && d->conf.prepare == job_prepare)
		j->read = ahead_begin(&d->ahead, &j->request, driver_has_read, j);
	j->runs = j->read || driver_start_child(j, e) == 0;
	d->running += j->runs;
	return j->runs ? 0 : -1;
}

/* An earlier request of one of its claims is not done yet. */
static bool driver_must_wait(const struct driver_job *j)
{
	for (const struct driver_job *x = TAILQ_FIRST(&j->driver->jobs); x != j;
	     x = TAILQ_NEXT(x, all)) {
		for (size_t i = 0; i < x->request.n; i++) {
			for (size_t k = 0; k < j->request.n; k++) {
				if (!strcmp(x->request.of[i].uid, j->request.of[k].uid))
					return true;
			}
		}
	}
	return false;
}

static void driver_start_jobs(struct claims_driver *d)
{
	struct driver_job *next;
	struct err e;

	for (struct driver_job *j = TAILQ_FIRST(&d->jobs); j && d->running < RUNNING_MAX;
	     j = next) {
		next = TAILQ_NEXT(j, all);
		if (!j->runs && !j->call && !j->ends)
			driver_free_job(j);
		else if (!j->runs && !driver_must_wait(j) && driver_start_job(j, &e))
			driver_end_job(j, NULL, 0, &e);
	}
}

static void driver_given_up(void *what)
{
	struct driver_job *j = what;

	j->call = NULL;
}

static void driver_take_call(struct claims_driver *d, struct grpc_call *call,
			     const struct slice message, bool ends)
{
	struct driver_job *j = d->n < WAITING_MAX ? calloc(1, sizeof(*j)) : NULL;
	struct err e;

	if (!j) {
		err_set(&e, ERR_AGAIN, 0, "too many requests wait");
		grpc_call_refuse(call, &e);
		return;
	}
	if (dra_request_decode((const uint8_t *)message.p, message.len, &j->request, &e)) {
		log_error(driver_log(d), "claims: a request of the kubelet: %s", e.msg);
		grpc_call_refuse(call, &e);
		free(j);
		return;
	}
	j->driver = d;
	j->call = call;
	j->ends = ends;
	j->came = ctx_mono_ms();
	TAILQ_INSERT_TAIL(&d->jobs, j, all);
	d->n++;
	grpc_call_later(call, driver_given_up, j);
	driver_start_jobs(d);
}

static void driver_call_prepare(void *arg, struct grpc_call *call, const uint8_t *message,
				size_t len)
{
	driver_take_call(arg, call, (struct slice){ (const char *)message, len }, false);
}

static void driver_call_unprepare(void *arg, struct grpc_call *call, const uint8_t *message,
				  size_t len)
{
	driver_take_call(arg, call, (struct slice){ (const char *)message, len }, true);
}

static void driver_call_health(void *arg, struct grpc_call *call, const uint8_t *message,
			       size_t len)
{
	struct claims_driver *d = arg;

	(void)message;
	(void)len;
	watchers_add(&d->health, call);
}

/* ---- sockets ---- */

static const struct grpc_service *driver_registration(void)
{
#define REGISTRATION(name) "/pluginregistration.Registration/" name
	static const struct grpc_method methods[] = {
		{ REGISTRATION("GetInfo"), driver_call_info },
		{ REGISTRATION("NotifyRegistrationStatus"), driver_call_status },
		{ NULL, NULL },
	};
	static const struct grpc_service service = { methods, 65536, CALLS_MAX };

	return &service;
}

static const struct grpc_service *driver_calls(void)
{
#define DRA(name) "/k8s.io.kubelet.pkg.apis.dra.v1.DRAPlugin/" name
	static const struct grpc_method methods[] = {
		{ DRA("NodePrepareResources"), driver_call_prepare },
		{ DRA("NodeUnprepareResources"), driver_call_unprepare },
		{ "/v1.DRAResourceHealth/NodeWatchResources", driver_call_health },
		{ "/v1alpha1.DRAResourceHealth/NodeWatchResources", driver_call_health },
		{ NULL, NULL },
	};
	static const struct grpc_service service = { methods, DRA_REQUEST_MAX, CALLS_MAX };

	return &service;
}

/* True: it listens. Without a kubelet there is no folder, which is waited for. */
static bool driver_step_listener(struct claims_driver *d, struct driver_listener *l)
{
	struct grpc_server_conf conf = {
		.base = d->conf.base, .ctx = d->conf.place.ctx, .service = l->service, .arg = d
	};
	struct err e;

	if (plugin_socket_is_there(&l->at.socket))
		return true;
	grpc_unlisten(&l->at);
	if (grpc_listen(l->folder, l->name, &conf, &l->at, &e) == 0) {
		l->said[0] = '\0';
		return true;
	}
	look_note_error(driver_log(d), "claims", &e, l->said);
	return false;
}

/* The kubelet calls as soon as it sees the second socket. The first folder is ours. */
static void driver_step(void *arg)
{
	struct claims_driver *d = arg;
	struct err ignored;
	auto_fd int folder = access(d->registration.folder, F_OK)
				     ? -1
				     : safe_open_dir(d->calls.folder, SAFE_CREATE, &ignored);

	(void)folder;
	if (folder_watch_renew(d->refusals))
		driver_tell_soon(d);
	if (driver_step_listener(d, &d->calls) && driver_step_listener(d, &d->registration) &&
	    timer_left(d->publish) < 0 && !child_runs(d->publishing))
		(void)timer_arm(d->publish, 0);
	(void)timer_arm(d->step, STEP_MS);
}

/* ---- begin and end ---- */

static void driver_init_listener(const struct claims_driver *d, struct driver_listener *l,
				 const char *folder)
{
	(void)snprintf(l->folder, sizeof(l->folder), "%.2000s/%s", d->conf.kubelet, folder);
	l->at.socket.fd = -1;
}

static int driver_begin(struct claims_driver *d, struct err *e)
{
	struct claims_driver_conf *c = &d->conf;
	const struct child_conf publishing = { .base = c->base,
					       .path = "railhead-devices-publish",
					       .run = driver_publish_in_child,
					       .deadline_ms = CHILD_LIMIT,
					       .text_max = SLOW_ANSWER_MAX,
					       .done = driver_published,
					       .arg = d };
	const struct child_conf telling = { .base = c->base,
					    .path = "railhead-devices-tell",
					    .run = driver_tell_in_child,
					    .deadline_ms = CHILD_LIMIT,
					    .text_max = SLOW_ANSWER_MAX,
					    .done = driver_told,
					    .arg = d };
	const struct folder_watch_conf watch = { c->base, d->refused, driver_tell_soon, d };

	c->prepare = c->prepare ? c->prepare : job_prepare;
	c->unprepare = c->unprepare ? c->unprepare : job_unprepare;
	c->publish = c->publish ? c->publish : job_publish;
	c->tell = c->tell ? c->tell : job_tell;
	d->step = timer_new(c->base, driver_step, d);
	d->publish = timer_new(c->base, driver_publish, d);
	d->tell = timer_new(c->base, driver_tell, d);
	if (!d->step || !d->publish || !d->tell)
		return err_nomem(e);
	prepared_refusals(c->place.ctx, d->refused);
	if (child_new(&publishing, &d->publishing, e) || child_new(&telling, &d->telling, e) ||
	    folder_watch_new(&watch, &d->refusals, e))
		return -1;
	driver_tell_soon(d);
	(void)timer_arm(d->step, 0);
	return 0;
}

int claims_driver_new(const struct claims_driver_conf *conf, struct claims_driver **out,
		      struct err *e)
{
	struct claims_driver *d = calloc(1, sizeof(*d));

	if (!d)
		return err_nomem(e);
	d->conf = *conf;
	TAILQ_INIT(&d->jobs);
	watchers_init(&d->health);
	d->ahead.base = conf->base;
	d->ahead.kube = conf->place.kube;
	d->calls.name = DRIVER_SOCKET;
	d->calls.service = driver_calls();
	d->registration.name = DRIVER_REGISTER;
	d->registration.service = driver_registration();
	driver_init_listener(d, &d->calls, DRIVER_FOLDER);
	driver_init_listener(d, &d->registration, DRIVER_REGISTRY);
	if (driver_begin(d, e)) {
		claims_driver_free(d);
		return -1;
	}
	*out = d;
	return 0;
}

void claims_driver_free(struct claims_driver *d)
{
	if (!d)
		return;
	grpc_unlisten(&d->registration.at);
	grpc_unlisten(&d->calls.at);
	watchers_clear(&d->health);
	while (!TAILQ_EMPTY(&d->jobs))
		driver_free_job(TAILQ_FIRST(&d->jobs));
	ahead_clear(&d->ahead);
	child_free(d->publishing);
	child_free(d->telling);
	folder_watch_free(d->refusals);
	timer_free(d->tell);
	timer_free(d->step);
	timer_free(d->publish);
	free(d);
}
