/* SPDX-License-Identifier: Apache-2.0 */
/*
 * login_server.h: a server in the loop of the test that speaks as much of etcd as a read with a
 * token needs. Its first answers to requests for a token are lost: the connection breaks. A real
 * etcd cannot be brought to that.
 *
 * For test programs only.
 */
#ifndef RAILHEAD_CLUSTER_TESTING_LOGIN_SERVER_H
#define RAILHEAD_CLUSTER_TESTING_LOGIN_SERVER_H

struct event_base;
struct login_server;

/* login_server_new - so many answers are lost. login_server_url - its endpoint, borrowed. */
struct login_server *login_server_new(struct event_base *base, int lost);
const char *login_server_url(const struct login_server *s);

/* login_server_free - how many requests for a token there were. */
int login_server_free(struct login_server *s);

#endif
