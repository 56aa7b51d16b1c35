/* SPDX-License-Identifier: Apache-2.0 */
/*
 * devices.c: railhead-devices, what the kubelet calls: the device plugin, and the driver of claims.
 * It is a program beside railheadd, so that neither ends with the other, or waits for it.
 */
#include <event2/event.h>
#include <signal.h>
#include <unistd.h>

#include "lib/cli/cmd.h"
#include "plugins/prepared/builtin.h"
#include "railheadd/claims/driver.h"
#include "railheadd/conf/agent_files.h"
#include "railheadd/devices/plugins.h"
#include "railheadd/devices/status.h"

struct devices_program {
	const struct ctx *ctx;
	struct event_base *base;
	int lock; /* of this node's device plugin; -1: not taken */
	struct agent_files files;
	struct device_plugins *plugins; /* NULL: none */
	struct claims_driver *claims;   /* NULL: none */
	struct event *signals[2];
};

static void asked_to_end(evutil_socket_t number, short what, void *arg)
{
	(void)number;
	(void)what;
	(void)event_base_loopbreak(arg);
}

/* SIGALRM: see BLOCKED_S. */
static void blocked_too_long(int number)
{
	static const char text[] = "railhead-devices: a driver or a disk did not answer in time; "
				   "this program ends, and is to be begun again\n";

	(void)number;
	(void)!write(STDERR_FILENO, text, sizeof(text) - 1);
	_exit(1);
}

static int wait_for_signals(struct devices_program *p, struct err *e)
{
	static const int numbers[] = { SIGTERM, SIGINT };

	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
		p->signals[i] = evsignal_new(p->base, numbers[i], asked_to_end, p->base);
		if (!p->signals[i] || event_add(p->signals[i], NULL))
			return err_nomem(e);
	}
	/* A peer that has gone is seen where it is written to. */
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGALRM, blocked_too_long);
	return 0;
}

/* A status that cannot be written is missed by the agent alone. */
static void tell_agent(void *arg)
{
	const struct devices_program *p = arg;
	auto_json struct json *status = json_new_object();
	struct err e;

	if (!status || device_plugins_status(p->plugins, status))
		(void)err_nomem(&e);
	else if (devices_status_put(p->ctx, status, &e) == 0)
		return;
	log_error(&p->ctx->log, "the status for the agent: %s", e.msg);
}

static int start_plugins(struct devices_program *p, struct err *e)
{
	const struct agent_conf_devices *c = &p->files.conf.devices;
	const struct device_plugins_conf conf = {
		.base = p->base,
		.ctx = p->ctx,
		.folder = c->resources,
		.kubelet = c->kubelet,
		.bin = c->bin,
		.rails = &prepared_rails,
		.claims = p->files.conf.claims.kubelet,
		.changed = tell_agent,
		.arg = p,
	};

	return c->kubelet ? device_plugins_new(&conf, &p->plugins, e) : 0;
}

static int start_claims(struct devices_program *p, struct err *e)
{
	const struct agent_conf *c = &p->files.conf;
	const struct claims_driver_conf conf = {
		.base = p->base,
		.kubelet = c->claims.kubelet,
		.place = { p->ctx, &c->kube, p->files.node, c->claims.bin, &prepared_rails,
			   &c->claims.groups, c->fabric_every > 0 },
	};

	return c->claims.kubelet ? claims_driver_new(&conf, &p->claims, e) : 0;
}

static int main_serve(struct devices_program *p, struct err *e)
{
	const struct agent_conf *c = &p->files.conf;

	if (!c->devices.kubelet && !c->claims.kubelet) {
		log_info(&p->ctx->log,
			 "agent.json: devicePlugin is false, and there is no claims: nothing to "
			 "do");
		return 0;
	}
	p->lock = devices_lock(p->ctx, e);
	if (p->lock < 0 || wait_for_signals(p, e) || start_plugins(p, e) || start_claims(p, e))
		return -1;
	if (event_base_dispatch(p->base) < 0)
		return err_set(e, ERR_IO, 0, "the event loop ended");
	devices_status_end(p->ctx);
	return 0;
}

static void main_stop(struct devices_program *p)
{
	claims_driver_free(p->claims);
	device_plugins_free(p->plugins);
	for (size_t i = 0; i < ARRAY_SIZE(p->signals); i++) {
		if (p->signals[i])
			event_free(p->signals[i]);
	}
	agent_files_clear(&p->files);
	if (p->base)
		event_base_free(p->base);
	if (p->lock >= 0)
		(void)close(p->lock);
}

static int devices_main_run(struct cmd_run *r, struct err *e)
{
	struct devices_program p = { .ctx = &r->ctx, .base = event_base_new(), .lock = -1 };
	int rc = -1;

	r->ctx.log.level = opt_is_set(&r->opts, "debug") ? LOG_LEVEL_DEBUG : LOG_LEVEL_INFO;
	if (!p.base)
		(void)err_nomem(e);
	else if (agent_files_load(&r->ctx, opt_get(&r->opts, "config"), false, &p.files, e) == 0)
		rc = main_serve(&p, e);
	main_stop(&p);
	return rc;
}

static const struct opt options[] = {
	{ "config", "FILE", "read this file, not /etc/railhead/agent.json", 0 },
	{ "debug", NULL, "log more", 0 },
	{ NULL, NULL, NULL, 0 },
};

static const char *const examples[] = {
	"railhead-devices",
	"railhead-devices --config /etc/railhead/agent.json",
	NULL,
};

static const struct cmd root = {
	.name = "railhead-devices",
	.summary = "offer this node's network functions to the kubelet",
	.about = "railhead-devices is the device plugin of this node, and with the key claims of "
		 "/etc/railhead/agent.json its driver of ResourceClaims. It runs until SIGTERM. "
		 "The resources of the device plugin are configured in "
		 "/etc/railhead/resources.d.",
	.examples = examples,
	.opts = { options },
	.run = devices_main_run,
};

static const struct opt globals[] = {
	CMD_OPT_JSON, CMD_OPT_NO_COLOR, CMD_OPT_HELP, CMD_OPT_VERSION, { NULL, NULL, NULL, 0 },
};

int main(int argc, char **argv)
{
	static const struct cmd_program program = { &root, globals, NULL, NULL, true };

	(void)argc;
	return cmd_main(&program, argv, NULL);
}
