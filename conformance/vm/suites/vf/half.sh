# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2154
# half.sh: what fails or is killed half-way.
up
vf create --pf "$A" --count 0
check "a driver that there is not" vf_fails "modprobe no-such" create --pf "$A" --count 2 --driver no-such
check "leaves no VFs" numvfs "$PA" 0
check "and the drivers as they were" autoprobe "$PA"
vf create --pf "$A" --count 2
check "also of those that had some" vf_fails "modprobe no-such" create --pf "$A" --count 3 --driver no-such
check "there are as many" numvfs "$PA" 2
check "with their MACs" macs "$A" 2
check "and the drivers as they were" autoprobe "$PA"

# Killed before its third and its fifth write: the number of VFs, and that drivers take VFs again.
vf create --pf "$B" --count 0
for nth in 3 5; do
	vf create --pf "$A" --count 0
	strace -qq -o /dev/null -e trace=write -e inject=write:signal=KILL:when=$nth "$RAILCTL" vf create --pf "$A" --count 3 >$W/killed 2>&1
	check "killed at write $nth: drivers take none" isnt autoprobe "$PA"
	[ $nth = 3 ] || check "the VFs are there" numvfs "$PA" 3
	check "again" vf create --pf "$A" --count 3
	check "they are there" numvfs "$PA" 3
	check "with their MACs" macs "$A" 3
	check "and the drivers as they were" autoprobe "$PA"
	check "and known" eval 'vf repair && said "3 well"'
done
