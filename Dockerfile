# One image for all services of the project: filler, api, state, devchain and the one-shots.
# Base images have exact tags. The compose file pins the images of the other services.

# The build output is the same for every architecture, so the build runs on the architecture of the builder.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY tsconfig.json rolldown.config.ts ./
COPY services services
# Optional packages, such as the embedded PostgreSQL of `npm start`, are left out of the image. The packages that the bundle
# contains stay, because their folders have their licences and scanners look for known vulnerabilities there.
RUN npm run bundle && npm prune --omit=dev --omit=optional --ignore-scripts
# Removes everything that is not needed to run: sources, types, tests, benchmarks, and the source maps and documents of
# packages. Licences stay. The source maps of the project stay, so that an error names the line of the source.
RUN rm -rf node_modules/@types node_modules/.package-lock.json \
 && find services dist -type f \( -name '*.ts' -o -name '*.md' \) -delete \
 && find node_modules -type f \( -name '*.ts' -o -name '*.mts' -o -name '*.cts' -o -name '*.map' -o -name '*.flow' -o -name '*.tsbuildinfo' -o -name '*.test.js' -o -name test.js -o \( -name '*.md' ! -iname 'licen[cs]e*' ! -iname 'notice*' \) \) -delete \
 && find node_modules -regextype posix-extended -type d -regex '(.*/)?node_modules/(@[^/]+/)?[^/]+/(tests?|__tests__|docs?|examples?|bench|benchmarks?|coverage|\.github)' -prune -exec rm -rf {} + \
 && find node_modules/swagger-ui-dist -name '*es-bundle*' -delete && rm -f node_modules/swagger-ui-dist/swagger-ui.js node_modules/swagger-ui-dist/swagger-ui-standalone-preset.js* \
 && find services dist node_modules -type d -empty -delete

FROM node:24.21.0-bookworm-slim
LABEL org.opencontainers.image.title="Pronghorn" \
      org.opencontainers.image.version="1.0.0" \
      org.opencontainers.image.description="Self-hosted appliance for Antelope chains: state history in, NFT data in PostgreSQL, REST and live data out." \
      org.opencontainers.image.licenses="MIT"
# Removes programs that only a build needs. Creates the directories with which new volumes are initialized, with the user of
# the service as owner.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /usr/local/bin/corepack /opt/yarn* \
 && for each in secrets filler api state nginx certificates challenges acme postgres redis hasura prometheus grafana; do install -d -o node -g node -m 755 "/rendered/$each"; done \
 && install -d -o node -g node -m 755 /data \
 && install -d -o 999 -g 999 -m 700 /volumes/postgres /volumes/postgres-replica /volumes/backup-scratch
WORKDIR /pronghorn
COPY --from=build /build/node_modules node_modules
COPY --from=build /build/dist dist
COPY package.json LICENSE ./
COPY --from=build /build/services services
COPY config-templates config-templates
COPY infra/hasura infra/hasura
COPY infra/probe.sh infra/probe.sh
# With docker build --build-arg REVISION=$(git rev-parse HEAD), answers have the revision in the header X-Revision.
ARG REVISION=
RUN if [ -n "$REVISION" ]; then printf '%s' "$REVISION" > REVISION; fi
# With this mode, messages advise commands for the containers.
ENV NODE_ENV=production PRONGHORN_MODE=appliance
USER node
STOPSIGNAL SIGTERM
# Node.js by its path, because an .env may set PATH.
ENTRYPOINT ["/usr/local/bin/node", "--enable-source-maps", "/pronghorn/dist/services/cli/main.js"]
CMD ["--help"]
