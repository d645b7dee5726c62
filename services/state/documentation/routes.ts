import type { Context } from 'koa'
import { createFileAnswer, createViewer, textFile } from '../../core/documentation/index.ts'
import type { Endpoint } from '../endpoints/index.ts'
import { createOpenApiDocument } from './openapi.ts'
import type { ServerInfo } from './openapi.ts'

/** Path of the OpenAPI document, below the path of the API version: the proxy forwards `/openapi.json` to the api. */
const DOCUMENT_PATH = '/v0/openapi.json'
const DOCS_PATH = '/v0/docs'

/** Routes of the OpenAPI document and of the page that shows it. */
export function documentationRoutes(
  endpoints: readonly Endpoint[],
  info: ServerInfo,
): Map<string, (context: Context) => Promise<void> | void> {
  const document = JSON.stringify(createOpenApiDocument(endpoints, info))
  const files = createViewer({ title: 'Pronghorn state API', documentPath: DOCUMENT_PATH, path: DOCS_PATH })
  files.set(DOCUMENT_PATH, textFile('application/json; charset=utf-8', document))
  const redirect = (context: Context): void => context.redirect(DOCS_PATH)
  return new Map<string, (context: Context) => Promise<void> | void>([
    ['/', redirect],
    ['/docs', redirect],
    ...[...files].map(([path, file]) => [path, createFileAnswer(file)] as const),
  ])
}
