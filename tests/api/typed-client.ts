import ts from 'typescript'
import type { JsonSchema, OpenApiDocument } from '../../scripts/compare/document.ts'

const FILE = 'client.ts'

/**
 * Generates TypeScript types from an OpenAPI document: one for each record, and `Answers[path]` for `data` of each
 * path.
 */
export function generateTypes(document: OpenApiDocument): string {
  const records = Object.entries(document.components.schemas).map(
    ([name, schema]) => `export type ${identifier(name)} = ${typeText(schema)}`,
  )
  const answers = Object.entries(document.paths).map(([path, { get }]) => {
    const text = JSON.stringify(get.responses['200'])
    const data = text.includes('application/json') ? dataSchema(get.responses['200']) : {}
    return `  ${JSON.stringify(path)}: ${typeText(data)}`
  })
  return [...records, 'export interface Answers {', ...answers, '}', ''].join('\n')
}

function dataSchema(response: unknown): JsonSchema {
  const { content } = response as { content: { 'application/json': { schema: JsonSchema } } }
  return content['application/json'].schema.properties?.data ?? {}
}

function identifier(name: string): string {
  return name.replaceAll(/\W/g, '_')
}

function typeText(schema: JsonSchema): string {
  if (typeof schema.$ref === 'string') return identifier(schema.$ref.replace('#/components/schemas/', ''))
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as JsonSchema[]).map(typeText).join(' | ')
  if ('const' in schema) return JSON.stringify(schema.const)
  if (schema.enum) return schema.enum.map((each) => JSON.stringify(each)).join(' | ')
  if (schema.type === undefined) return 'unknown'
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type
  return types.map((type) => ofType(type, schema)).join(' | ')
}

function ofType(type: string, schema: JsonSchema): string {
  if (type === 'integer') return 'number'
  if (type === 'array') return `Array<${typeText((schema.items ?? {}) as JsonSchema)}>`
  if (type !== 'object') return type
  if (!schema.properties)
    return `Record<string, ${typeText((schema.additionalProperties ?? {}) as JsonSchema)}>`
  const required = (schema.required ?? []) as readonly string[]
  const members = Object.entries(schema.properties).map(
    ([name, each]) => `${JSON.stringify(name)}${required.includes(name) ? '' : '?'}: ${typeText(each)}`,
  )
  return `{ ${members.join('; ')} }`
}

/**
 * Type-checks code that uses the generated types.
 * @returns the compiler's errors.
 */
export function checkClient(types: string, use: readonly string[]): string[] {
  const text = `${types}\n${use.join('\n')}\n`
  const options: ts.CompilerOptions = {
    strict: true,
    noEmit: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    types: [],
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2022.d.ts'],
  }
  const host = ts.createCompilerHost(options)
  const read = host.getSourceFile.bind(host)
  host.getSourceFile = (name, target, ...more) =>
    name === FILE ? ts.createSourceFile(name, text, target) : read(name, target, ...more)
  const program = ts.createProgram([FILE], options, host)
  return ts.getPreEmitDiagnostics(program).map(({ messageText, file, start = 0 }) => {
    const line = file ? file.getLineAndCharacterOfPosition(start).line : 0
    return `${ts.flattenDiagnosticMessageText(messageText, ' ')}: ${text.split('\n')[line]!.slice(0, 200)}`
  })
}
