# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# suite.sh: how a suite that is a script takes its arguments, gets into a sandbox, and gets an /etc of its own. Sourced by run.sh.

# usage: ends the suite with the comment at its head
usage()
{
	sed -n '3,/^set -/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

# into_sandbox ARGUMENT...: run the suite again in a sandbox, unless it is there; inside, ARGS are its arguments.
into_sandbox()
{
	[ "${1-}" = --inside ] || exec "$(dirname "${BASH_SOURCE[0]}")/../sandbox.sh" "$0" --inside "$@"
	shift
	ARGS=("$@")
}

# take_options NAMES ARGUMENT...: --name VALUE sets the variable NAME, for the names in NAMES; the rest is in ARGS.
take_options()
{
	local names=" $1 " name
	shift
	while [[ ${1-} == --* ]]; do
		name=${1#--}
		[[ $names == *" $name "* && $# -gt 1 ]] || usage
		printf -v "${name^^}" %s "$2"
		shift 2
	done
	ARGS=("$@")
}

# etc_of_ours: in the sandbox, a copy of /etc in $W, with an empty /etc/railhead: neither does what the machine has there change a
# case, nor a case the machine.
etc_of_ours()
{
	cp -a /etc "$W/etc" && rm -rf "$W/etc/railhead" && mkdir "$W/etc/railhead" && mount --bind "$W/etc" /etc || exit 2
}
