import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { createFileAnswer } from '../../core/documentation/index.ts'
import type { StaticFile } from '../../core/documentation/index.ts'
import { RequestError, sendJson } from '../../core/http/index.ts'
import { packageRoot } from '../../core/paths/index.ts'
import { refuseUnknownPath, successBody } from '../http/index.ts'
import type { RootRoute } from '../http/index.ts'
import type { HistoryRange } from './data.ts'

/** Path prefix of the data and the files of the console page. */
const PATH = '/status'

/**
 * Content-Security-Policy of the console page: requests go to this server only, and inline scripts and styles are
 * blocked.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ')

const pageHeaders = {
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'no-referrer',
  'X-Frame-Options': 'DENY',
}

const types = {
  html: 'text/html; charset=utf-8',
  css: 'text/css; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  svg: 'image/svg+xml',
} as const

/** Files of the console page. A build copies them next to the compiled modules. */
const ownFiles = [
  'chain-text.js',
  'chart.js',
  'dom.js',
  'event-text.js',
  'events.js',
  'feed.js',
  'format.js',
  'guard.js',
  'icon.svg',
  'main.js',
  'notice.js',
  'page.css',
  'readers.js',
  'states.js',
  'storage.js',
  'summary.js',
  'theme-button.js',
  'theme.js',
] as const

const packagedFiles = { 'uplot.js': 'uPlot.iife.min.js', 'uplot.css': 'uPlot.min.css' } as const

/** Returns the JSON text that the console page polls. */
export type DataText = (range: HistoryRange) => string

/**
 * Routes of the console page `/`, of its files and of its data.
 * @param onPage called when a browser loads the page.
 */
export function pageRoutes(dataText: DataText, onPage: () => void): RootRoute[] {
  const page = createFileAnswer(ownFile('index.html', pageHeaders))
  return [
    {
      paths: ['/'],
      answer: (context) => {
        context.vary('Accept')
        // Clients that do not accept HTML get 404 at `/`. The replaced system answers 404 there.
        if (context.accepts('json', 'html') !== 'html') refuseUnknownPath()
        onPage()
        return page(context)
      },
    },
    {
      paths: [`${PATH}/data.json`],
      answer: (context) => {
        context.set('Cache-Control', 'no-store')
        sendJson(context, 200, successBody(dataText(readRange(context.query.history)), Date.now()))
      },
    },
    ...ownFiles.map((name) => fileRoute(name, ownFile(name))),
    ...Object.entries(packagedFiles).map(([name, file]) => fileRoute(name, packagedFile(file))),
  ]
}

function fileRoute(name: string, file: StaticFile): RootRoute {
  return { paths: [`${PATH}/${name}`], answer: createFileAnswer(file) }
}

function ownFile(name: string, headers: Readonly<Record<string, string>> = {}): StaticFile {
  const path = join(packageRoot, 'services/api/console/page', name)
  return { type: typeOf(name), load: () => readFileSync(path), maxAgeSeconds: 0, headers }
}

function packagedFile(name: string): StaticFile {
  const path = createRequire(import.meta.url).resolve(`uplot/dist/${name}`)
  return { type: typeOf(name), load: () => readFileSync(path), maxAgeSeconds: 0 }
}

function typeOf(name: string): string {
  return types[name.slice(name.lastIndexOf('.') + 1) as keyof typeof types]
}

function readRange(value: string | string[] | undefined): HistoryRange {
  if (value === undefined || value === 'recent') return 'recent'
  if (value === 'day') return 'day'
  throw new RequestError(400, 'Invalid value for parameter history')
}
