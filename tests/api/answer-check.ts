import { Ajv2020 } from 'ajv/dist/2020.js'
import type { OpenApiDocument } from '../../scripts/compare/document.ts'

/**
 * Creates a check of answers against their schemas in the OpenAPI document. Returns the first deviation as text, or
 * undefined. Undocumented members are deviations.
 */
export function createAnswerCheck(
  document: OpenApiDocument,
): (path: string, status: number, body: unknown) => string | undefined {
  const ajv = new Ajv2020({ strict: false, allErrors: false })
  ajv.addSchema(closeObjects(document) as object, 'document')
  return (path, status, body) => {
    const response = document.paths[path]?.get.responses[status]
    if (response === undefined) return `status ${status} is not documented`
    const pointer = `#/paths/${escapePointer(path)}/get/responses/${status}`
    const place =
      typeof response === 'object' && response !== null && '$ref' in response
        ? String(response.$ref)
        : pointer
    const reference = `document${place}/content/application~1json/schema`
    const validate = ajv.getSchema(reference) ?? ajv.compile({ $ref: reference })
    if (validate(body) === true) return undefined
    const [error] = validate.errors ?? []
    return `${error?.instancePath ?? ''} ${error?.message ?? ''} ${JSON.stringify(error?.params)}`
  }
}

function escapePointer(path: string): string {
  return path.replaceAll('~', '~0').replaceAll('/', '~1')
}

/** Copies schemas so that objects with documented members allow no others. */
function closeObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closeObjects)
  if (typeof value !== 'object' || value === null) return value
  const closed = Object.fromEntries(Object.entries(value).map(([key, each]) => [key, closeObjects(each)]))
  const isClosed = closed.type === 'object' && 'properties' in closed && !('additionalProperties' in closed)
  return isClosed ? { ...closed, additionalProperties: false } : closed
}
