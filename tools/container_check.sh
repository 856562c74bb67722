#!/usr/bin/env bash
# Builds the image of the Dockerfile, starts it as compose.yaml does, and talks to it.
# Without a registry, the base image is made of Debian packages, which needs root and debootstrap.
# Where the image can't be built for want of something else than Talaria, it says what is skipped.
set -euo pipefail
cd "$(dirname "$0")/.."
base=$(sed -n 's/^FROM \([^ ]*\).*/\1/p' Dockerfile | head -n 1)
image=talaria-check name=talaria-check-$$
dir=$(mktemp -d)
trap 'docker rm --force --volumes "$name" >/dev/null 2>&1 || true; rm -rf "$dir"' EXIT
skip() {
	echo "The container image is not checked: $1." >&2
	exit 0
}
make_base() {
	debootstrap --variant=minbase --include=python3,python3-venv,python3-pip,ca-certificates \
		bookworm "$dir/root" >"$dir/log" 2>&1 || return
	ln -s python3 "$dir/root/usr/bin/python"
	# How this machine reaches packages is not in Debian's own.
	for file in /etc/pip.conf /etc/ssl/certs/ca-certificates.crt /etc/apt/sources.list \
		/etc/apt/sources.list.d /etc/apt/apt.conf.d; do
		[ ! -e "$file" ] || { rm -rf "$dir/root$file" && cp -R "$file" "$dir/root$file"; }
	done
	tar -C "$dir/root" -c . | docker import - "$base" >/dev/null
	rm -rf "$dir/root"
}

command -v docker >/dev/null && docker version >/dev/null 2>&1 || skip "no Docker engine answers"
if ! docker image inspect "$base" >/dev/null 2>&1 && ! timeout 60 docker pull --quiet "$base" >/dev/null 2>&1; then
	command -v debootstrap >/dev/null || skip "no registry has $base, and debootstrap is not installed"
	make_base || skip "no registry has $base, and debootstrap can't make it"
fi
docker run --rm --network host "$base" apt-get update >"$dir/log" 2>&1 ||
	skip "containers reach no Debian packages"
docker run --rm --network host "$base" pip download --quiet --no-deps --dest /tmp hatchling >"$dir/log" 2>&1 ||
	skip "containers reach no Python packages"
began=$SECONDS
docker build --quiet --network host --tag "$image" . >"$dir/log" 2>&1 || {
	tail -n 30 "$dir/log" >&2
	exit 1
}
echo "The container image is built in $((SECONDS - began)) s."
size() { docker image inspect --format '{{.Size}}' "$1"; }
echo "It is $((($(size "$image") - $(size "$base")) / 1000000)) MB larger than its base."
walls=(--network none --read-only --tmpfs /tmp --cap-drop ALL --security-opt no-new-privileges)
# Usage: try_as USER. Starts a container on a new volume, asks it something, backs it up, stops it,
# and restores the backup, as docs/always-on.md does with Compose.
try_as() {
	docker run --detach --name "$name" --user "$1" "${walls[@]}" "$image" >/dev/null
	for _ in $(seq 120); do
		! docker exec "$name" talaria check --live >/dev/null 2>&1 || break
		sleep 0.5
	done
	answer=$(docker exec --interactive "$name" talaria chat <<<"Hello! Who are you?") || answer=
	docker exec "$name" talaria backup /data/backups/mine.tar.gz >/dev/null
	docker cp "$name:/data/backups/mine.tar.gz" "$dir" >/dev/null
	docker stop --time 30 "$name" >/dev/null
	status=$(docker inspect --format '{{.State.ExitCode}}' "$name")
	if [ -z "$answer" ] || [ "$status" != 0 ]; then
		echo "The container of user $1 does not answer, or does not stop in order (status $status):" >&2
		docker logs "$name" 2>&1 | tail -n 30 >&2
		exit 1
	fi
	echo "The container of user $1 answers: ${answer%%$'\n'*}"
	docker run --rm --user "$1" --volumes-from "$name" "${walls[@]}" "$image" \
		restore /data/backups/mine.tar.gz >/dev/null
	docker rm --force --volumes "$name" >/dev/null
}
try_as talaria
try_as 1000660000:0 # OpenShift gives a container a random user id, and the group root
