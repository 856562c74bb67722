#!/usr/bin/env bash
# A Docker engine for tests where there is none: Debian's docker.io on a socket of its own.
# It has no bridge and changes no firewall, so containers have the network "none" or "host".
#   docker_engine.sh start DIR   starts it, and prints `export DOCKER_HOST=...`
#   docker_engine.sh stop DIR    ends it
set -euo pipefail
verb=${1:?start or stop} dir=$(realpath -m "${2:?a folder}")
export DOCKER_HOST="unix://$dir/docker.sock"
case "$verb" in
start)
	mkdir -p "$dir"
	# The engine chooses how it stores layers: overlay2 where the file system allows it.
	setsid dockerd --iptables=false --ip6tables=false --bridge=none \
		--data-root "$dir/data" --exec-root "$dir/exec" --host "$DOCKER_HOST" --pidfile "$dir/pid" \
		>"$dir/log" 2>&1 </dev/null &
	for _ in $(seq 60); do
		docker version >/dev/null 2>&1 && break
		sleep 0.5
	done
	docker version >/dev/null 2>&1 || {
		tail -n 3 "$dir/log" >&2
		exit 1
	}
	echo "export DOCKER_HOST=$DOCKER_HOST"
	;;
stop)
	[ ! -e "$dir/pid" ] || kill "$(cat "$dir/pid")"
	;;
*)
	sed -n 2,5p "$0" >&2
	exit 2
	;;
esac
