import { createFileAnswer, createViewer, textFile } from '../../core/documentation/index.ts'
import type { Mount, RootRoute } from '../http/index.ts'
import { createOpenApiDocument, documentTitle } from './openapi.ts'
import type { ServerInfo } from './openapi.ts'

const DOCUMENT_PATH = '/openapi.json'
const DOCS_PATH = '/docs'

/**
 * Routes `/openapi.json`, and `/docs` with its files. The document is built once, because the mounted namespaces do not
 * change.
 */
export function documentationRoutes(
  mounts: readonly Mount[],
  roots: readonly RootRoute[],
  info: ServerInfo,
): RootRoute[] {
  const document = JSON.stringify(createOpenApiDocument(mounts, roots, info))
  const files = createViewer({
    title: documentTitle(info),
    documentPath: DOCUMENT_PATH,
    path: DOCS_PATH,
  })
  files.set(DOCUMENT_PATH, textFile('application/json; charset=utf-8', document))
  return [...files].map(([path, file]) => ({
    paths: [path],
    isLimited: true,
    answer: createFileAnswer(file),
  }))
}
