/* SPDX-License-Identifier: Apache-2.0 */
/* railhead_hook.c: the program railhead-hook. */
#include "plugins/prepared/builtin.h"
#include "plugins/prepared/gate.h"

int main(int argc, char **argv)
{
	return gate_main(argc, argv, &prepared_rails);
}
