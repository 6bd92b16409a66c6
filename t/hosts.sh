#!/bin/bash
# Run a command beside hosts of its own: network namespaces with an sshd each. For tests, in a
# network and a mount namespace that is given up afterwards:
#
#     unshare -nm t/hosts.sh 2 parallel -S host1,host2 ...
#
# lose_host N, in the command, ends a host.
set -e
hosts=$1
shift
dir=$(mktemp -d)
mount --make-rprivate /
mount -t tmpfs hosts /run
mkdir -p /run/sshd /run/netns
end() {
	cat "$dir"/pid* 2>/dev/null | xargs -r kill 2>/dev/null
	rm -rf "$dir"
}
trap end EXIT

ip link set lo up
ssh-keygen -q -t ed25519 -N '' -f "$dir/key"
ssh-keygen -q -t ed25519 -N '' -f "$dir/host"
cp "$dir/key.pub" "$dir/authorized"
chmod 755 "$dir"
chmod 600 "$dir/authorized"
for ((i = 1; i <= hosts; i++)); do
	ip netns add "host$i"
	ip link add "veth$i" type veth peer name eth0 netns "host$i"
	ip addr add "10.77.$i.1/24" dev "veth$i"
	ip link set "veth$i" up
	ip -n "host$i" addr add "10.77.$i.2/24" dev eth0
	ip -n "host$i" link set eth0 up
	cat >"$dir/sshd$i" <<-END
		ListenAddress 10.77.$i.2
		HostKey $dir/host
		AuthorizedKeysFile $dir/authorized
		PidFile $dir/pid$i
		StrictModes no
		UsePAM no
		PermitRootLogin yes
		SetEnv PATH=$PATH
		MaxStartups 100
	END
	ip netns exec "host$i" /usr/sbin/sshd -f "$dir/sshd$i"
	cat >>"$dir/ssh" <<-END
		Host host$i
		HostName 10.77.$i.2
		IdentityFile $dir/key
		StrictHostKeyChecking no
		UserKnownHostsFile /dev/null
		LogLevel ERROR
		ConnectTimeout 3
	END
done

lose_host() {
	kill "$(cat "$HOSTS_DIR/pid$1")"
}
export -f lose_host
export HOSTS_DIR=$dir PARALLEL_SSH="ssh -F $dir/ssh" RSYNC_RSH="ssh -F $dir/ssh"
"$@"
