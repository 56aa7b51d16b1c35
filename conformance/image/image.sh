# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# image.sh: cases of the images that `make image` made, run by crun. umoci unpacks them, skopeo copies them. Sourced by run.sh.

VERSION=$("$TOP/tools/version.sh")

# It wants a tmpfs or cgroup2 there, although it uses neither.
oci()
{
	[ "$(stat -fc %T /sys/fs/cgroup)" = tmpfs ] || mount -t tmpfs tmpfs /sys/fs/cgroup || return
	crun --cgroup-manager=disabled --root "$W/crun" "$@"
}

unpack() { rm -rf "${W:?}/$1" && umoci unpack --image "$IMAGE:$1" $W/"$1" >>$W/out 2>&1; } # NAME

# A container as the manifest has it: no capability, a read-only root, no network, and the mounts of FILTER.
container() # NAME FILTER [ARGUMENT...]: its entry with these arguments
{
	local name=$1 filter=$2
	shift 2
	unpack "$name" && cp $W/"$name"/config.json $W/"$name"/spec.json || return
	jq --arg args "$*" "$filter"' | .process.args += ($args / " ") | .process.terminal = false | .process.capabilities = {} | .process.noNewPrivileges = true |
		.root.readonly = true | .linux = {namespaces: [{type: "mount"}, {type: "pid"}, {type: "network"}, {type: "ipc"}, {type: "uts"}]} |
		.mounts |= map(select(.destination != "/sys/fs/cgroup" and .destination != "/sys"))' \
		<$W/"$name"/spec.json >$W/"$name"/config.json || return
	oci run --bundle $W/"$name" "image-$name" >$W/out 2>&1 </dev/null
}

MOUNTS='.mounts += [{destination: "/host/opt/cni/bin", type: "bind", source: "/run/work/c/host/opt/cni/bin", options: ["rbind", "rw"]},
	{destination: "/run/railhead", type: "bind", source: "/run/railhead", options: ["rbind", "rw"]},
	{destination: "/dev/termination-log", type: "bind", source: "/run/work/c/dev/termination-log", options: ["bind", "rw"]}]'

installs_from_the_image()
{
	container plugins "$MOUNTS" && holds a && message_says "$ALL written" && pod p1 &&
		! container plugins "$MOUNTS" --remove && message_says "rail0 p1 net1" && end p1 && container plugins "$MOUNTS" --remove && empty
}

names_a_missing_mount()
{
	! container plugins "$MOUNTS | .mounts |= map(select(.destination != \"/host/opt/cni/bin\"))" && message_says DirectoryOrCreate &&
		! container plugins "$MOUNTS | .mounts |= map(select(.destination != \"/run/railhead\"))" && message_says "mount the host's folder" && empty
}

variables_of_the_container_count()
{
	foreign macvlan
	! container plugins "$MOUNTS" && message_says PLUGIN_PREFIX &&
		container plugins "$MOUNTS"' | .process.env += ["PLUGIN_PREFIX=rh-"]' && holds a rh- && is_foreign macvlan
}

plugins_are_all_that_is_in_it()
{
	unpack plugins && (cd $W/plugins/rootfs && find . -type f | sort) >$W/files
	sort <<-FILES | diff - $W/files >>$W/out
	$(printf './opt/railhead/cni/%s\n' $NAMES railhead)
	./usr/local/sbin/railhead-install
	./usr/share/doc/railhead/LICENSE
	FILES
}

# Each library, also those that are opened while it runs, is in the image.
the_other_images_have_their_libraries()
{
	local driver program
	container agent . --version && says "railheadd $VERSION" && container probe . --version && says "rdma-probe $VERSION" || return
	for program in sbin/railhead-devices libexec/railhead/sm-ufm; do
		jq --arg program "/usr/local/$program" '.process.args = [$program, "--version"]' $W/agent/spec.json >$W/agent/other.json &&
			cp $W/agent/other.json $W/agent/config.json && oci_as_is agent && says "${program##*/} $VERSION" || return
	done
	for driver in $W/probe/rootfs/usr/lib/*/libibverbs/*.so; do
		chroot $W/probe/rootfs /usr/local/bin/rdma-probe --version >/dev/null 2>>$W/out || return
		[ -z "$(readelf -d "$driver" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | while read -r library; do
			[ -n "$(find $W/probe/rootfs -name "$library")" ] || echo "$driver needs $library"
		done | tee -a $W/out)" ] || return
	done
}
oci_as_is()
{
	jq '.process.terminal = false | .linux = {namespaces: [{type: "mount"}, {type: "pid"}, {type: "uts"}]} |
		.mounts |= map(select(.destination != "/sys/fs/cgroup" and .destination != "/sys"))' $W/"$1"/config.json >$W/"$1"/next.json &&
		mv $W/"$1"/next.json $W/"$1"/config.json && oci run --bundle $W/"$1" "as-is-$1" >$W/out 2>&1 </dev/null
}

# Another umask, time zone, language and time of the files change no byte. The sandbox has no list of packages, for the SPDX.
the_same_programs_give_the_same_images()
{
	mkdir -p $W/again && cp -r "${BIN%/*}/libraries.tsv" $W/again/ && cp -rL "$BIN" $W/again/bin && find $W/again -exec touch -d 2001-01-01 {} + &&
		(cd "$TOP" && umask 077 && TZ=Asia/Tokyo LANG=de_DE.UTF-8 tools/image.sh $W/again $W/second) >>$W/out 2>&1 &&
		diff -r -x "*.spdx" "$IMAGE" $W/second >>$W/out
	local rc=$?
	rm -rf $W/again $W/second
	return $rc
}

# skopeo checks each digest and size, and would send this to a registry.
a_registry_takes_them()
{
	local name
	for name in plugins agent probe; do
		skopeo --tmpdir $W copy --insecure-policy "oci:$IMAGE:$name" "dir:$W/copy" >>$W/out 2>&1 && rm -rf $W/copy || return
	done
	skopeo inspect --config "oci:$IMAGE:plugins" >$W/out && [ "$(jq -r .architecture $W/out)" = "$(dpkg --print-architecture)" ] &&
		[ "$(jq -r .created $W/out)" = "$(date -u -d "@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)" ]
}

# The second folder is a copy that says another machine.
one_tag_serves_two_machines()
{
	rm -rf $W/other && cp -r "$IMAGE" $W/other && sed -i 's/"architecture":"[a-z0-9]*"/"architecture":"riscv64"/g' $W/other/index.json &&
		"$TOP/tools/image-index.sh" $W/joined "$IMAGE" $W/other >>$W/out 2>&1 &&
		skopeo --tmpdir $W --insecure-policy copy --all "oci:$W/joined:plugins" "dir:$W/copy" >>$W/out 2>&1 &&
		[ "$(skopeo inspect --raw "oci:$W/joined:plugins" | jq -c '[.manifests[].platform.architecture]')" = "[\"$(dpkg --print-architecture)\",\"riscv64\"]" ] &&
		[ "$(skopeo inspect "oci:$W/joined:agent" | jq -r .Architecture)" = "$(dpkg --print-architecture)" ] &&
		[ "$(find $W/joined -name '*.spdx' | wc -l)" = 6 ]
	local rc=$?
	rm -rf $W/other $W/joined $W/copy
	return $rc
}

the_contents_name_each_file()
{
	local name file sum
	for name in plugins agent probe; do
		[ -d $W/$name ] || unpack $name || return
		find $W/$name/rootfs -type f ! -name '*.driver' ! -name LICENSE | while read -r file; do
			sum=$(sha256sum <"$file")
			grep -q "SHA256: ${sum%% *}" "$IMAGE/railhead-$name.spdx" || echo "$file is not in railhead-$name.spdx"
		done >$W/out
		[ ! -s $W/out ] || return
	done
}

CASES+=(
	"installs_from_the_image|the image installs and removes, without capabilities, on a read-only root"
	"names_a_missing_mount|a missing mount is named"
	"variables_of_the_container_count|PLUGIN_PREFIX of the container counts"
	"plugins_are_all_that_is_in_it|the image of the plugins has nothing but static programs"
	"the_other_images_have_their_libraries|the other images have their libraries"
	"the_same_programs_give_the_same_images|the same programs give the same images, byte for byte"
	"a_registry_takes_them|skopeo copies them"
	"one_tag_serves_two_machines|one tag serves nodes of two machines"
	"the_contents_name_each_file|the contents (SPDX) name each file"
)
