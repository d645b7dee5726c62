import type { AppConfig } from '../../core/config/index.ts'
import type { Values } from './resolved.ts'
import { fillTemplate } from './template.ts'

/** Paths of the proxy's certificate and key. */
const certificates = {
  selfsigned: '/etc/pronghorn/certificates',
  acme: '/etc/pronghorn/certificates',
  files: '/etc/pronghorn/files',
} as const

const SECOND_MS = 1_000
/** Burst of a GraphQL client, in seconds of the client's request rate. */
const GRAPHQL_BURST_SECONDS = 2

/**
 * Renders the configuration of the proxy.
 * @param server settings of the api behind the proxy.
 * @param isGraphqlExpected whether the profile with Hasura is certainly on. If not, the proxy answers the path of
 * Hasura as an unknown path while Hasura does not answer.
 */
export function renderNginx(values: Values, server: AppConfig['server'], isGraphqlExpected: boolean): string {
  const readTimeout = Math.max(90, Math.ceil(server.max_query_time_ms / SECOND_MS) + 10)
  const failures = fillTemplate('nginx-failures.conf', {
    ERROR_PAGES: errorPages('    '),
    FAILURE_HEADERS: failureHeaders(values, server.cors),
  })
  const routes = fillTemplate('nginx-routes.conf', {
    READ_TIMEOUT_S: readTimeout,
    API_PORT: server.server_port,
    FAILURES: failures,
    GRAPHQL_ERROR_PAGES: isGraphqlExpected ? '' : errorPages('      ', { 502: '@unknown', 503: '@unknown' }),
    // If Hasura is off, the host name of Hasura does not resolve, and nginx would log an error for each GraphQL
    // request.
    GRAPHQL_LOG: isGraphqlExpected ? '' : '      error_log /dev/stderr crit;',
    GRAPHQL_ADMIN: graphqlAdmin(values.GRAPHQL_CONSOLE),
    CORS_HEADERS: server.cors.length === 0 ? '' : replacedHeaders(values),
    GRAPHQL_BURST: values.GRAPHQL_RATE_LIMIT * GRAPHQL_BURST_SECONDS,
  })
  return fillTemplate('nginx.conf', {
    READ_TIMEOUT_S: readTimeout,
    GRAPHQL_RATE: values.GRAPHQL_RATE_LIMIT,
    CORS_ORIGINS: mapOrigins(server.cors),
    REAL_ADDRESS: realAddress(values.TRUSTED_PROXIES),
    HTTP_LISTEN_6: values.IPV6 ? '    listen [::]:8080 default_server;' : '',
    HTTP_ROUTES: values.TLS_MODE === 'off' ? routes : `${failures}${redirect(values.HTTPS_PORT)}`,
    HTTPS_SERVER: values.TLS_MODE === 'off' ? '' : renderHttps(values, values.TLS_MODE, routes),
  })
}

function renderHttps(values: Values, mode: keyof typeof certificates, routes: string): string {
  return fillTemplate('nginx-https.conf', {
    CERTIFICATE: `${certificates[mode]}/fullchain.pem`,
    PRIVATE_KEY: `${certificates[mode]}/privkey.pem`,
    HTTPS_PORT: values.HTTPS_PORT,
    HTTPS_LISTEN_6: values.IPV6 ? '    listen [::]:8443 ssl http2 default_server;' : '',
    SECURITY_HEADERS: strictTransport(mode, '    '),
    ROUTES: routes,
  })
}

/** Error pages of the proxy. A location with an `error_page` of its own inherits none, so each location repeats all. */
function errorPages(indent: string, own: Readonly<Record<number, string>> = {}): string {
  return [
    'error_page 400 405 408 413 414 500 /.failure;',
    'error_page 494 =400 /.failure;',
    'error_page 429 = @busy;',
    ...[502, 503, 504].map((status) => `error_page ${status} = ${own[status] ?? '@unavailable'};`),
  ]
    .map((line) => indent + line)
    .join('\n')
}

/** HSTS only with a verifiable certificate: browsers would insist on TLS for a year. */
function strictTransport(mode: Values['TLS_MODE'], indent: string): string {
  if (mode === 'selfsigned' || mode === 'off') return ''
  return `${indent}add_header Strict-Transport-Security "max-age=31536000" always;`
}

/** CORS headers of the proxy's own errors, equal to the api's headers. A location with `add_header` inherits none. */
function failureHeaders(values: Values, cors: readonly string[]): string {
  return [
    ...(cors.length === 0 ? corsHeaders('*', '*') : [...corsHeaders('$cors_origin', '$cors_headers'), VARY]),
    '      add_header Access-Control-Allow-Methods GET,HEAD,POST always;',
    strictTransport(values.TLS_MODE, '      '),
  ]
    .filter((line) => line !== '')
    .join('\n')
}

const VARY = '      add_header Vary Origin always;'
/** nginx directives for CORS headers. nginx leaves a header out if its value is empty. */
const corsHeaders = (origin: string, headers: string): string[] => [
  `      add_header Access-Control-Allow-Origin ${origin} always;`,
  `      add_header Access-Control-Allow-Headers ${headers} always;`,
]

/**
 * nginx directives that remove the CORS headers of a service, and add the configured CORS headers. The service itself
 * allows every origin.
 */
function replacedHeaders(values: Values): string {
  return [
    ...['Origin', 'Headers', 'Credentials'].map(
      (name) => `      proxy_hide_header Access-Control-Allow-${name};`,
    ),
    ...corsHeaders('$cors_origin', '$cors_headers'),
    VARY,
    strictTransport(values.TLS_MODE, '      '),
  ]
    .filter((line) => line !== '')
    .join('\n')
}

/** Regular expression syntax with the same meaning in JavaScript and nginx (PCRE). */
const PORTABLE = /^(?:[\w:/.^$*+?()|{},-]|\[\^?[\w:/.*-]+\]|\\[dws.\-/^$*+?()|[\]{}\\])+$/

/** Patterns of origins that nginx may not understand. nginx refuses a configuration with such a pattern. */
export function unportableOrigins(cors: readonly string[]): readonly string[] {
  return cors.filter((pattern) => !PORTABLE.test(pattern) || pattern.includes('(?'))
}

/** nginx map: the origin of a request if a pattern matches it, else empty. */
function mapOrigins(cors: readonly string[]): string {
  if (cors.length === 0) return ''
  const unportable = unportableOrigins(cors)
  const patterns = cors.filter((pattern) => !unportable.includes(pattern))
  return [
    '  map $http_origin $cors_origin {',
    ...patterns.map((pattern) => `    "~${pattern.replaceAll('\\', String.raw`\\`)}" $http_origin;`),
    '  }',
    "  map $cors_origin $cors_headers {\n    default '*';\n    '' '';\n  }",
  ].join('\n')
}

/** Matches a location of the nginx configuration, except `location /`. */
const LOCATION = /^ *location (?:(=|~) )?(\/\S+|\^\S+) \{$/gm

/** Whether a location of the proxy handles requests at or below a path, so that the api does not get them. */
export function takesPath(configuration: string, path: string): boolean {
  const wanted = path.toLowerCase()
  const isWithin = (inner: string, outer: string): boolean => `${inner}/`.startsWith(`${outer}/`)
  return [...configuration.matchAll(LOCATION)].some(([, kind, text = '']) => {
    if (kind === '~') return ['', '/', '/v1/'].some((end) => new RegExp(text, 'i').test(wanted + end))
    const taken = text.replace(/\/$/, '')
    return isWithin(taken, wanted) || (kind === undefined && isWithin(wanted, taken))
  })
}

function redirect(httpsPort: number): string {
  const suffix = httpsPort === 443 ? '' : `:${httpsPort}`
  return [
    '    location = /nginx-health {',
    '      access_log off;',
    '      default_type text/plain;',
    '      return 200 "ok";',
    '    }',
    '    location / {',
    `      return 308 https://$host${suffix}$request_uri;`,
    '    }',
  ].join('\n')
}

function realAddress(proxies: string): string {
  if (proxies === '') return ''
  const lines = proxies.split(',').map((proxy) => `  set_real_ip_from ${proxy};`)
  return [...lines, '  real_ip_header X-Forwarded-For;', '  real_ip_recursive on;', ''].join('\n')
}

function graphqlAdmin(isOpen: boolean): string {
  if (!isOpen) {
    return `      default_type application/json;\n      return 404 '{"success":false,"message":"Endpoint not found"}';`
  }
  return '      set $graphql http://hasura:8080;\n      proxy_pass $graphql;'
}
