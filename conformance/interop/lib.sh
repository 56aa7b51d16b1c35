# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# lib.sh: evidence, and what the recorder saw. Sourced by run.sh.
#
# A case is a function test_X: see ../harness/cases.sh. A case waits for conditions, at most
# LONG seconds.
# shellcheck disable=SC2034 # PATIENCE is for cases.sh

LONG=120
PATIENCE=$LONG

# --- evidence ----------------------------------------------------------------------------------

# A program that hangs is killed; functions bound what they run themselves.
bounded()
{
	if declare -F "$1" >/dev/null; then "$@"; else timeout -k 5 "$LONG" "$@"; fi
}
# like WHAT TEXT PATTERN: a regular expression, for the whole text.
like() { [[ $2 =~ ^($3)$ ]] || fail "$1: '${2:0:400}' is not like '$3'"; }

# --- what the recorder saw ---------------------------------------------------------------------

# numbers [PLUGIN [VERB]]: of the calls, in order.
numbers()
{
	local f n
	for f in "$CALLS"/*.name; do
		[ -e "$f" ] || continue
		n=${f##*/}
		n=${n%.name}
		[ -z "${1-}" ] || [ "$(<"$f")" = "$1" ] || continue
		[ -z "${2-}" ] || [ "$(var "$n" CNI_COMMAND)" = "$2" ] || continue
		echo "$n"
	done
}
# var N NAME: an environment variable of a call; "(unset)" is not the same as empty.
var()
{
	local line
	line=$(grep -m1 "^$2=" "$CALLS/$1.env") || {
		echo '(unset)'
		return
	}
	echo "${line#*=}"
}
# input N FILTER: from its configuration.
input() { jq -rc "$2" "$CALLS/$1.in"; }
output() { jq -rc "$2" "$CALLS/$1.out"; }
first() { numbers "$@" | head -n 1; }
last() { numbers "$@" | tail -n 1; }
count() { numbers "$@" | grep -c .; }

# commands PLUGIN [-COMMAND]: the commands that it got, in order, on one line; without that command.
commands()
{
	local n verb line=
	for n in $(numbers "$1"); do
		verb=$(var "$n" CNI_COMMAND)
		[ "-$verb" = "${2-}" ] || line+=" $verb"
	done
	echo "${line# }"
}

# arg N KEY: a value in CNI_ARGS, whose order is not the same from call to call.
arg() { var "$1" CNI_ARGS | tr ';' '\n' | sed -n "s/^$2=//p"; }
arg_keys() { var "$1" CNI_ARGS | tr ';' '\n' | cut -d= -f1 | sort | tr '\n' ' '; }

# calls: a line each, for people.
calls()
{
	local n
	for n in $(numbers); do
		echo "$n $(<"$CALLS/$n.name") $(var "$n" CNI_COMMAND) id=$(var "$n" CNI_CONTAINERID)" \
			"netns=$(var "$n" CNI_NETNS) if=$(var "$n" CNI_IFNAME) args=$(var "$n" CNI_ARGS)" \
			"exit=$(cat "$CALLS/$n.rc" 2>/dev/null) $(tr -s ' \n' ' ' <"$CALLS/$n.out" | head -c 300)"
	done
}

# replay N: the same call once more, past the recorder.
replay()
{
	local line env=()
	while IFS= read -r line; do
		[[ $line =~ ^CNI_[A-Z]+= ]] && env+=("$line")
	done <"$CALLS/$1.env"
	timeout "$LONG" env -i "PATH=$PATH" "${env[@]}" "/opt/cni/real/$(<"$CALLS/$1.name")" <"$CALLS/$1.in"
}

# again PLUGIN: its last DEL twice more must be a success that says nothing.
again()
{
	local n i
	n=$(last "$1" DEL)
	[ -n "$n" ] || fail "$1 was never called with DEL" || return
	for i in second third; do
		is "the $i DEL" replay_to "$W/replayed" "$n"
		[ ! -s "$W/replayed" ] || fail "the $i DEL printed $(head -c 300 "$W/replayed")"
	done
}
replay_to() { replay "$2" >"$1"; }

# Of whatever a client called: only ADD may fail, and only ADD, VERSION and an error say anything.
calls_are_sane()
{
	local n verb rc
	for n in $(numbers); do
		verb=$(var "$n" CNI_COMMAND)
		rc=$(cat "$CALLS/$n.rc" 2>/dev/null)
		case $verb in
		ADD | VERSION)
			jq -es 'length == 1 and (.[0] | type == "object")' "$CALLS/$n.out" >/dev/null 2>&1 ||
				fail "$(<"$CALLS/$n.name") $verb printed no object: $(head -c 300 "$CALLS/$n.out")"
			;;
		*)
			[ "$rc" = 0 ] || fail "$(<"$CALLS/$n.name") $verb, call $n, ended with '$rc': $(head -c 300 "$CALLS/$n.out")"
			[ ! -s "$CALLS/$n.out" ] || [ "$rc" != 0 ] ||
				fail "$(<"$CALLS/$n.name") $verb, call $n, printed $(head -c 300 "$CALLS/$n.out")"
			;;
		esac
	done
}
