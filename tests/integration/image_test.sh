#!/usr/bin/env bash
# Builds the image, runs it with every privilege taken away, and reads rows from it with the tool of
# build/bin. With a Docker engine: in that. Else, as root, in podman on storage that is thrown away,
# from a base image made of Debian's packages, so that no image registry is needed.
set -uo pipefail # and not -e: a check that fails does not end the others
cd "$(dirname "$(readlink -f "$0")")/../.." || exit 1

readonly phasor=build/bin/phasor
scratch=$(mktemp -d)
readonly scratch tag=localhost/phasor:image-test base=localhost/debian:bookworm-slim
passed=0 failed=0

check() { # check WHAT COMMAND...: fails with it
  local what=$1
  shift
  if "$@"; then
    echo "ok: $what"
    ((passed += 1))
  else
    echo "FAILED: $what"
    ((failed += 1))
    return 1
  fi
}

finish() {
  printf '%d passed, %d failed, %d skipped\n' "$passed" "$failed" "${1:-0}"
  exit $((failed > 0))
}

if docker info >/dev/null 2>&1; then
  engine=docker
  readonly compose=(docker compose)
elif [[ $EUID -eq 0 ]] && command -v podman buildah mmdebstrap podman-compose >/dev/null; then
  engine=podman
  readonly compose=(podman-compose)
else
  echo "skipped: neither a Docker engine nor, as root, podman, buildah, mmdebstrap, podman-compose"
  finish 1
fi
readonly engine

clean_up() {
  if [[ $engine == docker ]]; then
    docker rm -f phasor-image-test phasor-other-user >/dev/null 2>&1 || :
    docker rmi -f "$tag" "$tag-sources" >/dev/null 2>&1 || :
  elif [[ -v CONTAINERS_STORAGE_CONF ]]; then # ours: never the machine's own containers
    podman rm -af >/dev/null 2>&1 || :
    podman network rm -f phasor_default docker_default >/dev/null 2>&1 || :
    awk -v under="$scratch/" 'index($2, under) == 1 { print $2 }' /proc/mounts | sort -r |
      xargs -r umount -l || :
  fi
  rm -rf "$scratch"
}
trap clean_up EXIT

make_base() { # make_base FILE: a minimal Debian 12
  local sources=/etc/apt/sources.list.d/debian.sources
  [[ -f $sources ]] || sources=/etc/apt/sources.list
  mmdebstrap --quiet --mode=root --variant=minbase --components=main bookworm "$1" "$sources"
}

build() { # build TAG ARGUMENTS...
  local name=$1
  shift
  if [[ $engine == docker ]]; then
    docker build --quiet -f docker/Dockerfile -t "$name" "$@" \
      --build-arg BASE_IMAGE="${BASE_IMAGE:-debian:bookworm-slim}" .
  else
    # The compiler is the same package, and so is what it made of these sources before.
    mkdir -p "${CCACHE_DIR:-$HOME/.cache/ccache}"
    buildah bud --isolation=chroot --network=host --format=docker --pull-never --layers \
      --volume "${CCACHE_DIR:-$HOME/.cache/ccache}:/root/.cache/ccache" \
      --build-arg BASE_IMAGE="$base" -f docker/Dockerfile -t "$name" "$@" .
  fi
}

set_up_podman() {
  export CONTAINERS_STORAGE_CONF=$scratch/storage.conf CONTAINERS_CONF=$scratch/containers.conf
  export DISABLE_HC_SYSTEMD=true # health checks are run below, not by systemd's timers
  printf '[storage]\ndriver = "overlay"\ngraphroot = "%s/graph"\nrunroot = "%s/run"\n' \
    "$scratch" "$scratch" >"$CONTAINERS_STORAGE_CONF"
  # Inside a container without CAP_SYS_RESOURCE limits cannot be raised, and crun wants cgroups v2.
  cat >"$CONTAINERS_CONF" <<'CONF'
[containers]
default_ulimits = ["nofile=4096:4096", "nproc=4096:4096"]
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
[network]
network_backend = "netavark"
CONF
  make_base "$scratch/base.tar" || return
  podman import -q -c 'CMD ["bash"]' \
    -c 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
    "$scratch/base.tar" "$base" || return
  rm "$scratch/base.tar"
}

is_healthy() { # is_healthy NAME
  if [[ $engine == docker ]]; then
    [[ $(docker inspect -f '{{.State.Health.Status}}' "$1") == healthy ]]
  else
    podman healthcheck run "$1" >/dev/null 2>&1
  fi
}

wait_healthy() { # wait_healthy NAME: at most 30 s
  local deadline=$((SECONDS + 30))
  until is_healthy "$1"; do
    ((SECONDS < deadline)) || return 1
    sleep 0.2
  done
}

start() { # start NAME ARGUMENTS...
  local name=$1
  shift
  "$engine" run -d --name "$name" --publish 127.0.0.1::50051 --read-only --cap-drop=ALL \
    --security-opt=no-new-privileges "$@" "$tag" >/dev/null
}

address() { # address NAME: where the host reaches it
  "$engine" port "$1" 50051/tcp
}

same_rows() { # same_rows ADDRESS SCHEME FLAGS...: the container's rows are those computed here
  local server=$1 verb
  shift
  for verb in rows export; do
    "$phasor" "$verb" "$@" --format=raw --server="$server" --output="$scratch/served" || return
    "$phasor" "$verb" "$@" --format=raw --local --output="$scratch/local" || return
    [[ -s $scratch/local ]] && cmp "$scratch/served" "$scratch/local" || return
  done
}

check_rows() { # check_rows ADDRESS
  check "sinusoidal rows" same_rows "$1" sinusoidal --width=512 --start=1000 --count=300
  check "16-bit rows far out" same_rows "$1" sinusoidal --width=64 --type=bfloat16 \
    --start=9007199254740000 --count=100
  check "seeded rows" same_rows "$1" learned_init --max_positions=2048 --width=96 --seed=7 \
    --count=2048
}

inspect() { # inspect KIND NAME TEMPLATE WANTED
  local found
  found=$("$engine" inspect --type "$1" -f "$3" "$2") || return
  [[ $found == "$4" ]] || {
    echo "$3 is $found, not $4"
    return 1
  }
}

stops_well() { # stops_well NAME: SIGTERM ends it with exit status 0
  "$engine" stop -t 40 "$1" >/dev/null && inspect container "$1" '{{.State.ExitCode}}' 0
}

announced() { # announced NAME
  "$engine" logs "$1" 2>&1 | grep -q '^phasord ready on '
}

build_both() {
  [[ $engine == docker ]] || set_up_podman || return
  build "$tag-sources" --target build && build "$tag"
}
built=true
build_both >"$scratch/build.log" 2>&1 || built=false
check "the image builds" $built
if ! $built; then
  tail -n 40 "$scratch/build.log"
  finish
fi

# The build stage is a fresh Debian with what ./dev installed, and the sources: a newcomer's.
newcomer() {
  "$engine" run --rm --network=none "$tag-sources" ./dev run --once >"$scratch/newcomer.log" 2>&1 &&
    grep -q '0.84147' "$scratch/newcomer.log"
}
check "./dev run --once on a fresh machine, without a network" newcomer ||
  cat "$scratch/newcomer.log"
check "an unprivileged user" inspect image "$tag" '{{.Config.User}}' 65532:65532
check "the entry point is the server itself" inspect image "$tag" '{{json .Config.Entrypoint}}' \
  '["phasord"]'
check "the tool is in it" "$engine" run --rm --entrypoint phasor "$tag" --version

name="phasor-image-test"
check "starts, read-only and without capabilities" start "$name"
check "becomes healthy" wait_healthy "$name"
check "says that it serves" announced "$name"
check_rows "$(address "$name")"
check "SIGTERM ends it with 0" stops_well "$name"

name="phasor-other-user"
check "starts as another user" start "$name" --user 12345:54321
check "becomes healthy as another user" wait_healthy "$name"
check_rows "$(address "$name")"
check "SIGTERM ends it with 0 as another user" stops_well "$name"

PHASOR_PORT=$(/usr/bin/python3 -c \
  'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
export PHASOR_PORT PHASOR_IMAGE=$tag
up() { "${compose[@]}" -f docker/compose.yaml up -d --no-build >/dev/null 2>"$scratch/compose.log"; }
down() { "${compose[@]}" -f docker/compose.yaml down >/dev/null 2>>"$scratch/compose.log"; }
check "compose starts it" up || cat "$scratch/compose.log"
check "rows through compose's port" same_rows "127.0.0.1:$PHASOR_PORT" sinusoidal --width=128 \
  --count=100
check "compose stops it" down

finish
