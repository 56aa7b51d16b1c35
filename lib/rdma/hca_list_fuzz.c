/* SPDX-License-Identifier: Apache-2.0 */
/* hca_list_fuzz.c: feeds lists to the reader; a list or its opposite selects each port, never both.
 */
#include "lib/rdma/hca_list.h"
#include "lib/testing/fuzz.h"

FUZZ(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *opposite = malloc(size + 2);

	MUST(opposite);
	opposite[0] = '^';
	(void)strcpy(opposite + 1, text);
	MUST(*text == '^' ||
	     hca_list_selects(text, "mlx5_1", 1) != hca_list_selects(opposite, "mlx5_1", 1));
	free(opposite);
	free(text);
	return 0;
}
