import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { StaticFile } from './static-file.ts'
import { COLOURS, NAMES, PIECES, STYLES } from './viewer-files.ts'

export interface ViewerOptions {
  /** Title of the page. */
  readonly title: string
  /** Path of the OpenAPI document on the same server, for example `/openapi.json`. */
  readonly documentPath: string
  /** Path of the page, for example `/docs`; its files are below it. */
  readonly path: string
}

const WEEK_SECONDS = 7 * 24 * 3600

/**
 * Content security policy: the page may contact this server only. Inline styles are allowed, because Swagger UI sets
 * inline styles on its elements. Inline scripts are not allowed.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'self'",
].join('; ')

const pageHeaders = { 'Content-Security-Policy': POLICY, 'Referrer-Policy': 'no-referrer' }

/** Files of the package swagger-ui-dist that the documentation page loads, with content types. */
const packaged = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'favicon-32x32.png': 'image/png',
} as const

/** Creates the files of a page that shows an OpenAPI document, by path. The page contacts no other host. */
export function createViewer(options: ViewerOptions): Map<string, StaticFile> {
  const { path } = options
  const files = new Map<string, StaticFile>([
    [path, textFile('text/html; charset=utf-8', page(options), pageHeaders)],
    [`${path}/start.js`, textFile('text/javascript; charset=utf-8', startScript(options.documentPath))],
    [`${path}/colours.js`, textFile('text/javascript; charset=utf-8', COLOURS)],
    [`${path}/names.js`, textFile('text/javascript; charset=utf-8', NAMES)],
    [`${path}/pieces.js`, textFile('text/javascript; charset=utf-8', PIECES)],
    [`${path}/page.css`, textFile('text/css; charset=utf-8', STYLES)],
  ])
  for (const [name, type] of Object.entries(packaged)) {
    files.set(`${path}/${name}`, { type, load: () => readPackaged(name), maxAgeSeconds: WEEK_SECONDS })
  }
  return files
}

/** Creates a file from generated text. Clients revalidate the file each time. */
export function textFile(
  type: string,
  text: string,
  headers: Readonly<Record<string, string>> = {},
): StaticFile {
  return { type, load: () => Buffer.from(text, 'utf8'), maxAgeSeconds: 0, headers }
}

function readPackaged(name: string): Buffer {
  return readFileSync(createRequire(import.meta.url).resolve(`swagger-ui-dist/${name}`))
}

function page({ title, path, documentPath }: ViewerOptions): string {
  return `<!doctype html>
<html lang="en">
  <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <title>${escapeHtml(title)}</title>
    <link rel="icon" type="image/png" href="${path}/favicon-32x32.png">
    <script src="${path}/colours.js"></script>
    <link rel="stylesheet" href="${path}/swagger-ui.css">
    <link rel="stylesheet" href="${path}/page.css">
  </head>
  <body>
    <div id="viewer"></div>
    <noscript>This page needs JavaScript; the document itself is at <a href="${documentPath}">${documentPath}</a>.</noscript>
    <script src="${path}/swagger-ui-bundle.js"></script>
    <script src="${path}/names.js"></script>
    <script src="${path}/pieces.js"></script>
    <script src="${path}/start.js"></script>
  </body>
</html>
`
}

function startScript(documentPath: string): string {
  const settings = {
    url: documentPath,
    dom_id: '#viewer',
    deepLinking: true,
    docExpansion: 'none',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    filter: true,
    // Syntax highlighting is off: highlighting a response with one page of a list takes a browser several seconds.
    syntaxHighlight: { activated: false },
    // The page contacts no other host, and the validator badge would be loaded from another host.
    validatorUrl: null,
  }
  return `window.viewer = SwaggerUIBundle({ ...${JSON.stringify(settings, null, 2)}, plugins: [piecesPlugin], responseInterceptor: textOnly })\n`
}

function escapeHtml(text: string): string {
  const named: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replaceAll(/[&<>"']/g, (character) => named[character]!)
}
