/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c: create, update and remove. The API server answers 409 to a wrong uid and to a wrong
 * version, and words it in many ways: the object itself then says which of both it was.
 */
#include <stdio.h>
#include <string.h>

#include "cluster/kube/fault.h"
#include "cluster/kube/note.h"
#include "cluster/kube/priv.h"
#include "cluster/store/cluster_name.h"

/*
 * The revisions of objects that are created one after the other follow each other, with those of
 * other writes between them. That of an update says nothing about the object.
 */
static void write_tell_rank(struct cluster_call *c, const struct cluster_object *o,
			    struct cluster_also *also)
{
	also->ranked = c->rank && kube_revision(o->at.version, &also->rank);
	if (also->ranked)
		c->call.result.also = also;
}

static void on_written(struct cluster_call *c, const struct json *answer)
{
	auto_json struct json *tree = NULL;
	struct cluster_object object;
	struct cluster_also also = { 0 };

	/* it is written: only memory can be lacking */
	if (kube_object_read(answer, c->kind, &object, &tree, &c->call.result.err)) {
		call_end(&c->call, CLUSTER_AWAY, NULL);
		return;
	}
	write_tell_rank(c, &object, &also);
	call_end(&c->call, CLUSTER_OK, &object);
}

static void on_executed(struct cluster_call *c, const struct json *answer)
{
	(void)answer;
	call_end(&c->call, CLUSTER_OK, NULL);
}

/* ---- which precondition has failed ---- */

static void send_remove(struct cluster_call *c);
static void send_untested(struct cluster_call *c);

static void on_looked(struct cluster_call *c, const struct json *answer)
{
	auto_json struct json *tree = NULL;
	struct cluster_object now;
	struct err *e = &c->call.result.err;

	if (kube_object_read(answer, c->kind, &now, &tree, e)) {
		kube_fail(c, CLUSTER_AWAY);
	} else if (strcmp(now.at.uid, c->at.uid) != 0) {
		(void)err_set(e, ERR_NOTFOUND, 0, "Kubernetes: %s %s has uid %s, not %s",
			      kube_resource(c->kind)->plural, c->name, now.at.uid, c->at.uid);
		call_end(&c->call, CLUSTER_NOT_FOUND, NULL);
	} else if (strcmp(now.at.version, c->at.version) != 0) {
		(void)err_set(e, ERR_STATE, 0, "Kubernetes: %s %s has version %s, not %s",
			      kube_resource(c->kind)->plural, c->name, now.at.version,
			      c->at.version);
		call_end(&c->call, CLUSTER_CONFLICT, NULL);
	} else if (c->was && !kube_object_was(c->kind, now.value, c->was)) {
		(void)err_set(e, ERR_STATE, 0, "Kubernetes: %s %s has version %s, but another %s",
			      kube_resource(c->kind)->plural, c->name, now.at.version,
			      c->kind == CLUSTER_BLOCK ? "owner or asker" : "holder or count");
		(void)err_hint(e, "etcd was restored from a snapshot");
		call_end(&c->call, CLUSTER_CONFLICT, NULL);
	} else if (c->refused_as == CLUSTER_OK) {
		send_remove(c);
	} else if (c->untested) {
		send_untested(c);
	} else {
		*e = c->refused;
		call_end(&c->call, c->refused_as, NULL);
	}
}

void kube_look(struct cluster_call *c, enum cluster_outcome outcome)
{
	static const struct kube_ask ask = { .method = "GET", .verb = "get", .next = on_looked };

	c->looks = true;
	c->refused_as = outcome;
	c->refused = c->call.result.err;
	kube_send(c, &ask, kube_object_url(&kube_store(c)->place, c->kind, c->name), NULL);
}

/* ---- the table ---- */

/* A call for this object; it has ended (later) if the name or the node is bad. */
static struct cluster_call *kube_write_prepare(struct cluster_store *store,
					       const struct cluster_object *o, cluster_done_fn done,
					       void *arg)
{
	struct cluster_call *c = kube_call_new(store, kube_call_done, arg);

	if (!c)
		return NULL;
	c->done = done;
	c->kind = o->kind;
	c->at = o->at;
	if (kube_object_has_was(o))
		c->was = json_dup(o->was);
	if (kube_object_has_was(o) && !c->was) {
		(void)err_nomem(&c->call.result.err);
		call_end_later(&c->call, CLUSTER_REFUSED);
	} else if (!cluster_name_valid(o->name))
		call_bad_name(&c->call, o->name);
	else if (*o->node && !cluster_name_valid(o->node))
		call_bad_name(&c->call, o->node);
	else
		(void)snprintf(c->name, sizeof(c->name), "%s", o->name);
	return c;
}

/* Send a tree that rc says was made. */
static void send_tree(struct cluster_call *c, const struct kube_ask *ask, int rc,
		      const struct json *tree)
{
	const struct kube_place *place = &kube_store(c)->place;

	if (rc)
		call_end_later(&c->call, CLUSTER_REFUSED);
	else
		kube_send(c, ask, kube_object_url(place, c->kind, ask->changes ? c->name : NULL),
			  json_print(tree, false));
}

struct cluster_call *kube_create(struct cluster_store *store, const struct cluster_object *object,
				 cluster_done_fn done, void *arg)
{
	static const struct kube_ask ask = {
		.method = "POST", .verb = "create", .type = "application/json", .next = on_written
	};
	struct cluster_call *c = kube_write_prepare(store, object, done, arg);
	auto_json struct json *tree = NULL;

	if (c && *c->name) {
		c->rank = object->beside && object->beside->rank;

		int rc = kube_object_json(object, &tree, &c->call.result.err);

		send_tree(c, &ask, rc, tree);
	}
	return c;
}

static const struct kube_ask patch_ask = { .method = "PATCH",
					   .verb = "patch",
					   .type = "application/json-patch+json",
					   .changes = true,
					   .next = on_written };

/* Another program has written the value of the heartbeat in another form, and changed nothing. */
static void send_untested(struct cluster_call *c)
{
	c->looks = false;
	kube_send(c, &patch_ask, kube_object_url(&kube_store(c)->place, c->kind, c->name),
		  TAKE_PTR(c->untested));
}

static int keep_untested(struct cluster_call *c, const struct cluster_object *object)
{
	struct cluster_object o = *object;
	auto_json struct json *tree = NULL;

	o.was = NULL;
	if (kube_patch_json(&o, &tree, &c->call.result.err))
		return -1;
	c->untested = json_print(tree, false);
	return c->untested ? 0 : err_nomem(&c->call.result.err);
}

struct cluster_call *kube_update(struct cluster_store *store, const struct cluster_object *object,
				 cluster_done_fn done, void *arg)
{
	struct cluster_call *c = kube_write_prepare(store, object, done, arg);
	auto_json struct json *tree = NULL;

	if (c && *c->name) {
		int rc = kube_patch_json(object, &tree, &c->call.result.err);

		if (!rc && c->was && c->kind == CLUSTER_HEARTBEAT)
			rc = keep_untested(c, object);
		send_tree(c, &patch_ask, rc, tree);
	}
	return c;
}

static void send_remove(struct cluster_call *c)
{
	static const struct kube_ask ask = { .method = "DELETE",
					     .verb = "delete",
					     .type = "application/json",
					     .changes = true,
					     .next = on_executed };

	c->looks = false;
	kube_send(c, &ask, kube_object_url(&kube_store(c)->place, c->kind, c->name),
		  kube_remove_body(&c->at));
}

/*
 * A deletion can only name uid and version. So it looks first: an etcd that was restored before the
 * look is noticed by the value, and one that is restored after it ends the connection.
 */
struct cluster_call *kube_remove(struct cluster_store *store, const struct cluster_object *object,
				 cluster_done_fn done, void *arg)
{
	struct cluster_call *c = kube_write_prepare(store, object, done, arg);

	if (!c || !*c->name)
		return c;
	if (c->was)
		kube_look(c, CLUSTER_OK);
	else
		send_remove(c);
	return c;
}

/* The API server takes only the status of what is sent there. */
struct cluster_call *kube_report(struct cluster_store *store, const struct cluster_object *object,
				 cluster_done_fn done, void *arg)
{
	static const struct kube_ask ask = { .method = "PATCH",
					     .verb = KUBE_REPORTS,
					     .type = "application/json-patch+json",
					     .changes = true,
					     .next = on_written };
	struct cluster_call *c = kube_write_prepare(store, object, done, arg);
	auto_json struct json *tree = NULL;

	if (!c || !*c->name)
		return c;
	if (kube_status_json(object, &tree, &c->call.result.err))
		call_end_later(&c->call, CLUSTER_REFUSED);
	else
		kube_send(c, &ask, kube_status_url(&kube_store(c)->place, c->kind, c->name),
			  json_print(tree, false));
	return c;
}

struct cluster_call *kube_tell(struct cluster_store *store, const struct cluster_event *event,
			       cluster_done_fn done, void *arg)
{
	static const struct kube_ask ask = { .method = "POST",
					     .verb = "create",
					     .type = "application/json",
					     .resource = &kube_note_resource,
					     .next = on_executed };
	struct cluster_call *c = kube_call_new(store, kube_call_done, arg);
	auto_json struct json *tree = NULL;

	if (!c)
		return NULL;
	c->done = done;
	if (kube_note_json(event, &tree, &c->call.result.err))
		call_end_later(&c->call, CLUSTER_REFUSED);
	else
		kube_send(c, &ask, kube_note_url(&kube_store(c)->place, event),
			  json_print(tree, false));
	return c;
}
