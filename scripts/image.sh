# Sourced by scripts that run in the project's folder and need the appliance's image where Compose may not read .env: sets
# `image` to the name that PRONGHORN_IMAGE has in the environment or .env, else to that of the compose file.
own=$(sed -n 's/^  image: \${PRONGHORN_IMAGE:-\(.*\)}$/\1/p' docker-compose.yml)
# Compose resolves variables in the line. If Compose cannot read .env, the line itself is used.
image=$(printf 'services: {own: {image: "${PRONGHORN_IMAGE:-%s}"}}' "$own" | docker compose --project-name image --file - config --images 2>/dev/null) ||
  image=${PRONGHORN_IMAGE-$([ ! -f .env ] || [ ! -r .env ] || sed -n "s/^ *\(export \)\{0,1\} *PRONGHORN_IMAGE *= *[\"']\{0,1\}\([^\"' ]*\).*/\2/p" .env | tr -d '\r' | tail -n 1)}
image=${image:-$own}
