# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# again.sh: which failures are repeated. Sourced by the harnesses whose cases the machine can disturb: guest, cluster, interop, attach, agent.
#
# A case fails because of the machine if its first failure is an exceeded limit of time. With AGAIN=1, as `make check` sets it,
# such a case runs a second time and the second verdict counts. A line "# repeated: CASE: REASON" reports it; tools/check.sh
# counts these lines and shows them at the end. Any other failure is final, and so is a second one.

# Messages of harnesses, guests and our programs after an exceeded limit of time.
IN_VAIN='not (running )?within [0-9]+ ?s|did not end|stopped after [0-9]+ s|in time and was killed|no client connected within [0-9]+ ms'
IN_VAIN+='|printed nothing for [0-9]+ s|(silent|came over RDMA) for [0-9]+ ms|no answer within [0-9]+ ms|Timeout was reached|killed the call after [0-9.]+ s|[Tt]imed out|deadline exceeded|DeadlineExceeded'

# in_vain FILE: prints the reason why the failure whose evidence this is may be repeated; status 1: there is none.
in_vain()
{
	[ -n "${AGAIN-}" ] && grep -m 1 -E "$IN_VAIN" "$1" | sed 's/^[ #]*//' | cut -c1-160 | grep .
}

# twice NAME ATTEMPT...: run a case. The attempt writes its failures to $W/evidence, the first one on the first line; an empty file
# is a success. If the first failure is an exceeded limit of time, it is reported, and a second attempt follows, with TRY=2.
# start_over, if the harness has it, first cleans up after the first attempt.
twice()
{
	local name=$1 why TRY=1
	shift
	"$@"
	[ -s "$W/evidence" ] && head -n 1 "$W/evidence" >"$W/first" && why=$(in_vain "$W/first") || return 0
	echo "# repeated: $name: $why"
	head -n 20 "$W/evidence" | cut -c1-500 | sed 's/^/  # /'
	TRY=2
	! declare -F start_over >/dev/null || start_over
	"$@"
}

# first_failure FILE: of TAP output, the first case that failed with what is said of it.
first_failure()
{
	awk '/^not ok / { if (seen++) exit; on = 1; print; next } /^ok / { on = 0 } on' "$1"
}
