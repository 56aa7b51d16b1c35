# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# rdma.sh: pods attached by a chain that ends with the plugin rdma, and traffic between them by what `railctl rdma
# env` printed in each. A suite sources it behind lib.sh.
W=/run/work
rm -rf $W && mkdir -p $W/bin
# The emulated processor reads a program from the host's file system tenfold slower than from its own.
cp "$BIN"/* $W/bin
RB=$W/bin
DEVICES=/sys/class/infiniband

# conf TYPE NETWORK [KEYS]: one plugin's configuration; behind POD CONF: that, after what the plugins before it said.
conf() { printf '{"cniVersion":"1.1.0","name":"%s","type":"%s"%s}' "$2" "$1" "${3:+,$3}"; }
behind() { jq -c --slurpfile r "$W/prev.$1" '. + {prevResult: $r[0]}' <<<"$2"; }

# call VERB PLUGIN POD CONF: as Multus does, with the name of the pod, which is that of its container. The answer is in $W/out.POD. NETNS: another namespace than the pod's, or none. VIEW: what
# runs the plugin rdma, if that is to see another /sys.
VIEW=()
call()
{
	local view=()
	[ "$2" != rdma ] || view=("${VIEW[@]}")
	CNI_COMMAND=$1 CNI_CONTAINERID=$3 CNI_NETNS=${NETNS-/run/netns/$3} CNI_IFNAME=net1 CNI_PATH=$RB \
		CNI_ARGS="IgnoreUnknown=1;K8S_POD_NAMESPACE=ns;K8S_POD_NAME=$3" "${view[@]}" "$RB/$2" \
		<<<"$4" >"$W/out.$3" 2>"$W/log.$3" || { cat "$W/out.$3" "$W/log.$3" && false; }
}

# attach POD CONF [RDMA-KEYS]: the interface with a rxe device on it in place of the card's own, then the plugin rdma. rxe
# sends from its own interface's namespace, so that a pod cannot use that of the parent: with a card it would. In
# mode exclusive it begins on the host, as a VF's does. ATTACHED: what is to be done with the pod between the two.
interface() # POD CONF
{
	ip netns add "$1" && ip -n "$1" link set lo up && call ADD "$(jq -r .type <<<"$2")" "$1" "$2" && cp "$W/out.$1" "$W/prev.$1" &&
		ip netns exec "$1" rdma link add "rxe_$1" type rxe netdev net1 && ${ATTACHED-:} "$1"
}
device() { call ADD rdma "$1" "$(behind "$1" "$(conf rdma "$(jq -r .name <<<"$2")" "${3-}")")"; }
attach() { interface "$1" "$2" && device "$@"; }
detach() # POD CONF
{
	call DEL rdma "$1" "$(conf rdma "$(jq -r .name <<<"$2")")" && call DEL "$(jq -r .type <<<"$2")" "$1" "$2"
}
address() { jq -r '.ips[0].address | split("/")[0]' "$W/out.$1"; }

# env_of POD: the output of `railctl rdma env` there, kept in the form of a shell. with_env POD SCRIPT WORD...: run the script
# in the pod, with only the variables DEV, PORT and GID of it. in_env: INTO is that command. `with_env &` would start a shell
# that waits. A kill of that shell leaves the program in its pod, and the pod in the kernel.
env_of() { ip netns exec "$1" $RB/railctl rdma env >"$W/env.$1"; }
in_env()
{
	# shellcheck disable=SC2016 # for the shell in the pod
	INTO=(ip netns exec "$1" timeout -k 5 "$LAST_RESORT" env -i "PATH=$RB:$PATH" "E=$W/env.$1" bash -c '. "$E" && DEV=${NCCL_IB_HCA#=} PORT=${DEV#*:} \
		DEV=${DEV%:*} GID=$NCCL_IB_GID_INDEX; '"$2" x "${@:3}")
}
with_env() { in_env "$@" && "${INTO[@]}"; }
# ANSWER of the plugin and printed env are of one mind.
one_mind() # POD
{
	# shellcheck disable=SC2016
	[ "$(with_env "$1" 'echo "$DEV $PORT $GID"')" = "$(jq -r '.rdma | "\(.device) \(.port) \(.gids[0].index)"' "$W/out.$1")" ] ||
		{ cat "$W/env.$1" "$W/out.$1" && false; }
}

# ---- traffic ----

# listens POD PORT: somebody does, there.
listens() { ip netns exec "$1" grep -qi "$(printf ':%04X 0*:0000 0A' "$2")" /proc/net/tcp /proc/net/tcp6; }
ready() { ! kill -0 "$1" 2>/dev/null || listens "$2" "$3"; } # PID POD PORT: it listens, or has ended
# sent POD: packets that its RDMA device has sent.
sent() { cat "$DEVICES/rxe_$1/ports/1/hw_counters/sent_pkts" 2>/dev/null || ip netns exec "$1" rdma -j statistic show link "rxe_$1/1" | jq '.[0].sent_pkts'; }

# meet FROM TO PORT SCRIPT WORD...: INTO, from in_env, is a server at PORT of pod TO, and the script its client in pod FROM.
# Both end well. A server waits for its client without end: one whose client failed has ten seconds to say what it saw.
meet()
{
	local from=$1 to=$2 port=$3 pid rc
	: >"$W/run.$from"
	"${INTO[@]}" >"$W/serve.$to" 2>&1 &
	pid=$!
	eventually ready $pid "$to" "$port" && kill -0 $pid && with_env "$from" "${@:4}" >"$W/run.$from" 2>&1
	rc=$?
	[ $rc = 0 ] || LAST_RESORT=10 eventually isnt kill -0 $pid 2>/dev/null || kill $pid
	wait $pid && [ $rc = 0 ] || { cat "$W/run.$from" "$W/serve.$to" && false; }
}

# exchange FROM TO WORDS...: rdma-probe between two pods, by what env said in each.
exchange()
{
	# shellcheck disable=SC2016
	in_env "$2" 'exec rdma-probe serve --once --timeout '"$LAST_RESORT"' --device "$DEV:$PORT" --gid-index "$GID"'
	# shellcheck disable=SC2016
	meet "$1" "$2" 18515 'exec rdma-probe connect --timeout '"$LAST_RESORT"' --device "$DEV:$PORT" --gid-index "$GID" "$@"' \
		"$(address "$2")" --iterations 5 --size 16K --seed 1 "${@:3}"
}
# perftest PROGRAM FROM TO [OPTION...]: one of perftest's programs between two pods, by what env said in each. The rates
# that it prints may be 0: an emulated processor has no steady clock.
perftest()
{
	# shellcheck disable=SC2016
	local script='p=$1; shift; exec "$p" -d "$DEV" -i "$PORT" -x "$GID" -p 18600 -n 40 -s 4096 -F "$@"'
	in_env "$3" "$script" "$1" "${@:4}"
	meet "$2" "$3" 18600 "$script" "$1" "${@:4}" "$(address "$3")" &&
		grep -qE '^ *4096 +40 +[0-9.]+ +[0-9.]+' "$W/run.$2" || { cat "$W/run.$2" "$W/serve.$3" && false; }
}
