/**
 * Public images, with exact tags. `npm run docs:write` copies the tags into the compose files, the Dockerfile
 * and the documents.
 */
export const images = {
  node: 'node:24.21.0-bookworm-slim',
  postgres: 'postgres:14.24-bookworm',
  /** Image of PostgreSQL for new installations. If no setting names an image, the containers use version 14. */
  newPostgres: 'postgres:18.6-bookworm',
  redis: 'redis:7.2.16-bookworm',
  nginx: 'nginx:1.30.5-trixie',
  hasura: 'hasura/graphql-engine:v2.49.5',
  prometheus: 'prom/prometheus:v3.13.5',
  grafana: 'grafana/grafana:12.4.12',
} as const
