# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# world.sh: two builds of the programs, a folder that stands for the container, a host's CNI folder, and pods. Sourced by run.sh.
#
# The second build is a copy of the first one with another ID. "Heads" are the first bytes of the programs: enough for the mark, and
# quick to copy where a test copies them a hundred times.

PLUGINS=$("$TOP/tools/plugins.sh")
NAMES="$PLUGINS railhead-ipam railhead-hook railctl rdma-probe"
ALL=$(wc -w <<<"$NAMES")
C=$W/c # the container
CHROOT=$(command -v chroot)
CNI=$C/host/opt/cni/bin
export LC_ALL=C

id_of() { grep -aom1 'railhead-build: [0-9a-f]*' "$1" | sed 's/.* //'; }

make_build() # FOLDER ID: the programs of BIN with that ID
{
	local from
	mkdir -p "$1" || return
	for program in $NAMES railhead railhead-install; do
		from=$BIN/$program
		[ "$program" != rdma-probe ] || from+=-static
		strip -o "$W/stripped" "$from" && sed "s/$ID_A/$2/g" "$W/stripped" >"$1/$program" && chmod 755 "$1/$program" || return
	done
}

make_heads() # FOLDER FROM
{
	mkdir -p "$1" || return
	for program in $NAMES railhead; do
		head -c 6000 "$2/$program" >"$1/$program" && chmod 755 "$1/$program" || return
	done
	ln -s "$2/railhead-install" "$1/railhead-install"
}

prepare()
{
	ID_A=$(id_of "$BIN/railhead-install")
	ID_B=$(echo "$ID_A" | tr 0-9a-f 1-9a-f0)
	make_build $W/a "$ID_A" && make_build $W/b "$ID_B" && make_heads $W/heads-a $W/a && make_heads $W/heads-b $W/b || return
	mkdir -p $W/sums
	for build in a b heads-a heads-b; do sums $W/$build >$W/sums/$build; done
	# This machine's last words are not ours.
	[ ! -e /dev/termination-log ] || mount --bind /dev/null /dev/termination-log || return
	ip link add m0 type veth peer name m1 && ip link set m0 up
}

fresh() # a container and a host without plugins
{
	mkdir -p "$CNI" $C/run/railhead $C/proc $C/dev $C/mnt $C/opt/railhead/cni $C/usr/sbin /run/railhead
	mount --bind /run/railhead $C/run/railhead
	mount --bind /proc $C/proc
	: >$C/dev/termination-log
	: >$W/out
	TRACE=()
}

clean()
{
	ip netns list | sed 's/ .*//' | while read -r pod; do ip netns del "$pod"; done
	umount $C/proc $C/run/railhead
	mountpoint -q "$CNI" && umount "$CNI"
	rm -rf $C /run/railhead /var/lib/railhead
}

image() # a|b: the image of that build is in the container from now on
{
	cp $W/"$1"/railhead-install $C/usr/sbin/ && rm -rf $C/opt/railhead/cni && cp -r $W/"$1" $C/opt/railhead/cni
}

start() # [VAR=VALUE...] [OPTION...]: the entry of the container
{
	local vars=()
	while [[ ${1-} == [A-Z]* ]]; do
		vars+=("$1")
		shift
	done
	[ ! -f $C/dev/termination-log ] || [ -L $C/dev/termination-log ] || : >$C/dev/termination-log
	env -i "${vars[@]}" "$CHROOT" $C /usr/sbin/railhead-install "$@" >$W/out 2>&1
}

whole() { traced "$W/$1" "${@:2}"; }       # a|b [OPTION...]: the same without chroot, under the command in TRACE
heads() { traced "$W/heads-$1" "${@:2}"; } # a|b [OPTION...]: the same with heads
traced() # SOURCE [OPTION...]
{
	local source=$1
	shift
	"${TRACE[@]}" "$source/railhead-install" --source "$source" --target "$CNI" --run-dir /run/railhead "$@" >$W/out 2>&1
}

# shellcheck disable=SC2086 # words
sums() { (cd "$1" && sha256sum $NAMES 2>/dev/null); } # FOLDER: of its programs

holds() # a|b [PREFIX]: every program is of that build, byte for byte, and nothing is left beside them
{
	sed -E "/  (rail(head|ctl)|rdma-probe)/!s/  /&${2-}/" "$W/sums/$1" >$W/sums/wanted
	(cd "$CNI" && sha256sum --quiet -c $W/sums/wanted && [ "$(cut -c67- $W/sums/wanted | xargs stat -c %a | sort -u)" = 755 ]) >>$W/out 2>&1 && tidy
}

tidy() { [ -z "$(find "$CNI" -name '.*' ! -name .railhead-install.json | tee -a $W/out)" ]; }
empty() { [ -z "$(ls -A "$CNI" | tee -a $W/out)" ]; }
says() { grep -qF -- "$1" $W/out; }

# The container's last words: one line, of at most 4096 bytes.
message_says()
{
	[ "$(wc -l <$C/dev/termination-log)" = 0 ] && [ "$(wc -c <$C/dev/termination-log)" -le 4096 ] && grep -qF -- "$1" $C/dev/termination-log
}

foreign() { echo "somebody else's" >"$CNI/$1"; }
is_foreign() { grep -q "somebody else's" "$CNI/$1"; }

# ---- pods ----

conf() # [TYPE]
{
	echo '{"cniVersion":"1.1.0","name":"rail0","type":"'"${1:-macvlan}"'","master":"m0",
		"ipam":{"type":"railhead-ipam","ranges":[[{"subnet":"10.1.0.0/24"}]]}}'
}

cni() # ADD|DEL POD [TYPE]
{
	env -i CNI_COMMAND="$1" CNI_CONTAINERID="$2" CNI_NETNS=/run/netns/"$2" CNI_IFNAME=net1 CNI_PATH="$CNI" \
		"$CNI/${3:-macvlan}" < <(conf "${3-}") >>$W/out 2>&1
}

pod() { ip netns add "$1" && cni ADD "$@"; } # POD [TYPE]
end() { cni DEL "$@" && ip netns del "$1"; } # POD [TYPE]

# Linux 6.11 and 6.12 let a process write to a program that runs. So they do not tell whether one runs.
need_deny_write()
{
	cp "$BASH" $W/shell
	# shellcheck disable=SC2016 # expanded by that shell
	! $W/shell -c ': >>"$0"' $W/shell 2>/dev/null || { echo "this kernel allows writing to a program that runs" >$W/skip && return 77; }
}

# begin_ADD POD: an ADD of macvlan runs, and waits for its configuration. end_ADD lets it go on, and has its status.
begin_ADD()
{
	ip netns add "$1" && mkfifo $W/stdin || return
	env -i CNI_COMMAND=ADD CNI_CONTAINERID="$1" CNI_NETNS=/run/netns/"$1" CNI_IFNAME=net1 CNI_PATH="$CNI" "$CNI/macvlan" <$W/stdin >$W/add 2>&1 &
	CHILD=$!
	exec 9>$W/stdin
	until [ "$(readlink /proc/$CHILD/exe)" = "$CNI/macvlan" ]; do
		kill -0 $CHILD && sleep 0.01 || return
	done
}

end_ADD()
{
	local rc
	conf >&9
	exec 9>&-
	wait $CHILD
	rc=$?
	cat $W/add >>$W/out
	rm $W/stdin
	return $rc
}
