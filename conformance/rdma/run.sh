#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run.sh BINDIR: rdma-probe's command line: what needs no RDMA device. The rest runs in a virtual machine:
# conformance/vm/suites/probe.sh.
#
# Prints ok / not ok lines; the last line is "N passed, N failed, N skipped". Exit 0: none failed.
set -u
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
P=${1:?usage: run.sh BINDIR}/rdma-probe
W=$(mktemp -d)
trap 'rm -rf "$W"' EXIT
# shellcheck source=conformance/vm/guest/lib.sh
. "$ROOT/conformance/vm/guest/lib.sh"
COMMANDS="list dmabuf serve connect job"

# wrong STATUS WORDS ARGUMENT...: it ends so, says so in one line, and nothing on standard output
wrong()
{
	local status=$1 words=$2 rc
	shift 2
	timeout 60 "$P" "$@" >"$W/out" 2>"$W/err" </dev/null
	rc=$?
	[ $rc = "$status" ] && grep -qE -- "$words" "$W/err" && [ "$(wc -l <"$W/err")" = 1 ] && [ ! -s "$W/out" ] ||
		{ echo "ended with $rc"; cat "$W/out" "$W/err"; false; }
}

# options COMMAND: those of its help without the global ones, each with "=" if it takes a value
options()
{
	"$P" "$1" --help | awk '/^options of every command/ { exit } /^  --/ { print $1 ($2 ~ /^[A-Z]/ ? "=" : "") }' | sort
}
completion()
{
	sed -n "s/^$1:\(--.*\)/\1/p" "$ROOT/packaging/bash-completion/rdma-probe" | tr ' ' '\n' | sort
}
completes() { options "$1" >"$W/a" && [ -s "$W/a" ] && completion "$1" | diff "$W/a" -; }

# The page's options of a command's section, with those of the section for devices where it names that.
page_options()
{
	awk -v want="rdma-probe $1" '
		/^\.S[hs] / { name = substr($0, 5); gsub(/"/, "", name) }
		/^\.It Fl -/ { list[name] = list[name] "-" $3 (NF > 3 ? "=" : "") "\n" }
		/^\.Sx Choosing a device/ { more[name] = 1 }
		name == "rdma-probe dmabuf" && /^\.Cm list/ { list[name] = list["rdma-probe list"] }
		END { printf "%s%s", list[want], want in more ? list["Choosing a device"] : "" }' "$ROOT/docs/man/rdma-probe.8" | sort
}
documented() { options "$1" >"$W/a" && page_options "$1" | diff "$W/a" -; }

complete_word() # WORD...: what the completion offers for the last one
{
	bash -c '. "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rdma_probe; printf "%s\n" "${COMPREPLY[@]}"' x \
		"$ROOT/packaging/bash-completion/rdma-probe" "$@" | tr '\n' ' '
}
is_linked_to_verbs() { ldd "$P" | grep -q libibverbs && ldd "$P" | grep -q librdmacm; }
version() { "$P" --version | grep -qx 'rdma-probe [0-9.]*' && "$P" --version --json | jq -e '.name == "rdma-probe"' >/dev/null; }

check "it is the dynamic program" is_linked_to_verbs
check "its version" version
for c in $COMMANDS; do
	check "completion of $c" completes "$c"
	check "manual page of $c" documented "$c"
	check "$c does not take what is not an option of its own" wrong 2 'unknown option --nosuch' "$c" --nosuch
done
check "the commands" is "$("$P" --help | awk '/^commands/ { on = 1 } /^$/ { on = 0 } on && /^  [a-z]/ { print $1 }' | tr '\n' ' ')" "$COMMANDS "
check "completion of commands" is "$(complete_word rdma-probe c)" 'connect '
check "completion of options" is "$(complete_word rdma-probe job --ra)" '--rank0 --rank --ranks '
check "completion of a value" is "$(complete_word rdma-probe job --memory c)" 'cuda '
check "no command" wrong 2 'needs a command; see "rdma-probe --help"'
check "a slip in a command" wrong 2 'did you mean "rdma-probe connect"' conect
check "a word too many" wrong 2 'one word too many' connect 10.0.0.1 10.0.0.2
check "connect to nobody" wrong 2 'connect needs ADDR' connect
check "a name is not an address" wrong 2 '"host" is not an address: 10.0.0.1' connect host
check "a size too large" wrong 2 '--size "65M" must be 1 to 64M bytes' connect 10.0.0.1 --size 65M
check "a server that is missing" wrong 1 'cannot connect to .*; is "rdma-probe serve" running there' connect 127.0.0.1:9
check "rank 700 of a job" wrong 2 'RAILHEAD_JOB_KEY' job --rank0 127.0.0.1:9 --rank 700 --ranks 800
busy() # a server has the port
{
	local pid rc
	"$P" serve --bind 127.0.0.1 --port 18777 >"$W/serve" 2>&1 &
	pid=$!
	eventually grep -q listening "$W/serve" && wrong 1 'TCP port 18777: Address already in use; .*perftest.*--port takes another' \
		serve --bind 127.0.0.1 --port 18777
	rc=$?
	kill $pid
	return $rc
}
check "a port that somebody has" busy
check "nobody serves" wrong 1 'TCP port 9: Connection refused; is "rdma-probe serve" running' connect 127.0.0.1:9
# told VALUE CLASS: how many lines say that NCCL makes this class of that value
told() { NCCL_IB_TC=$1 timeout 60 "$P" connect 127.0.0.1:9 2>&1 >/dev/null | grep -c "NCCL_IB_TC is \"$1\", .*: NCCL uses $2$"; }
check "a value of NCCL_IB_TC that is too large" is "$(told 256 0)" 1
check "a value of NCCL_IB_TC that is a word" is "$(told abc 0)" 1
check "a class in NCCL_IB_TC" is "$(told 0x6a .*)" 0
check "an address of somebody else's" wrong 1 '192.0.2.1 is not an address of this network namespace' connect 127.0.0.1 --bind 192.0.2.1
check "nor can it serve there" wrong 1 'cannot listen at 192.0.2.1' serve --bind 192.0.2.1
# sentinel STATUS: with which code the line of the page ends, if rdma-probe ends with this status
sentinel()
{
	local line
	line=$(sed -n '/^## As a check of NVSentinel/,/^## [^A]/s/^rdma-probe job .*/&/p' "$ROOT/docs/jobs.md")
	[ -n "$line" ] && RANK0=a RANK=0 RANKS=2 STATUS=$1 bash -uc "rdma-probe() { return \$STATUS; }; $line"
	echo $?
}
check "the codes of NVSentinel" is "$(for s in 0 7 8 4 2 1 137; do sentinel $s; done | xargs)" "0 1 2 2 2 2 2"
[ -d /sys/class/infiniband ] || for c in list dmabuf; do
	check "$c without a device" wrong 4 'there is no RDMA device here; /dev/infiniband is not there' $c
done
finish
