/* SPDX-License-Identifier: Apache-2.0 */
/*
 * api_server.h: an API server in a child of the test, which ends with it. It answers each GET with
 * the file /mnt/answer, and anything else with {}. If there is /mnt/fail, it removes it and answers
 * 500 once. Call it behind testing_dir().
 */
#ifndef RAILHEAD_RAILHEADD_TESTING_API_SERVER_H
#define RAILHEAD_RAILHEADD_TESTING_API_SERVER_H

/* api_server_begin - the path of a kubeconfig for it. */
const char *api_server_begin(void);

/* api_server_asked - the requests since the last call: "GET /PATH\n" for each. Borrowed. */
const char *api_server_asked(void);

#endif
