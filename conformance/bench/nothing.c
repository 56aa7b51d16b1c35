/* SPDX-License-Identifier: Apache-2.0 */
/* nothing.c: what a static process costs that does nothing at all. */
int main(void)
{
	return 0;
}
