#!/usr/bin/env bash
# Writes the lists of what a release contains: the Python packages of the wheel in dist/, each with
# its licence (CycloneDX), and the Debian packages of the image. Run it with `make sbom`.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(sed -n 's/^version = "\(.*\)"/\1/p' pyproject.toml | head -n 1)
wheel=dist/talaria-$version-py3-none-any.whl image=talaria:$version
[ -e "$wheel" ] || { echo "There is no $wheel; \`make release-check\` builds it." >&2; exit 2; }
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# Licences are known only after an installation.
python3 -m venv "$dir/packages"
install() { "$dir/packages/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps "$@"; }
install --require-hashes -r requirements.lock
install "$wheel"
"$dir/packages/bin/python" -m pip uninstall --quiet --yes pip setuptools
.venv/bin/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible \
	--output-file "dist/talaria-$version.cdx.json" "$dir/packages/bin/python"
echo "Wrote dist/talaria-$version.cdx.json."
docker run --rm --network none --entrypoint dpkg-query "$image" --show >"$dir/debian.txt" ||
	{ echo "The Debian packages are not listed: there is no image $image." >&2; exit 1; }
mv "$dir/debian.txt" "dist/talaria-$version-debian.txt"
echo "Wrote dist/talaria-$version-debian.txt."
