# One image for all services of the project: filler, api, state, devchain and the one-shots.
# Exact tags only; the compose file pins the others.

# What is built is the same for every architecture.
FROM --platform=$BUILDPLATFORM node:24.21.0-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# Parts for one process on one machine (embedded PostgreSQL) stay out of the image.
RUN npm ci --omit=optional --ignore-scripts
COPY tsconfig.json tsconfig.build.json ./
COPY services services
COPY scripts scripts
RUN npm run build && npm prune --omit=dev --omit=optional --ignore-scripts
# What runs and no more: no sources, types, tests, benches, nor the maps and pages of packages. Licences stay, and so do
# the maps of the project itself: with them an error names the line of the source.
RUN rm -rf dist/scripts dist/.tsbuildinfo node_modules/@types node_modules/.package-lock.json \
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
# Programs that only a build needs go; directories that volumes start from belong to the user of the services.
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
# docker build --build-arg REVISION=$(git rev-parse HEAD): answers then have it in X-Revision.
ARG REVISION=
RUN if [ -n "$REVISION" ]; then printf '%s' "$REVISION" > REVISION; fi
# Messages then advise what to do with the containers.
ENV NODE_ENV=production PRONGHORN_MODE=appliance
USER node
STOPSIGNAL SIGTERM
# By its path: an .env may hold a PATH.
ENTRYPOINT ["/usr/local/bin/node", "--enable-source-maps", "/pronghorn/dist/services/cli/main.js"]
CMD ["--help"]
