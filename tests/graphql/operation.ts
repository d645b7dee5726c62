/** Value of an argument; an enum value is `{ enum: name }`. */
export type Value =
  string | number | boolean | null | { readonly enum: string } | readonly Value[] | ValueObject
/** Fields of an input object. */
export interface ValueObject {
  readonly fields: ReadonlyMap<string, Value>
}

/** A field with its arguments and its selection set. */
export interface Field {
  readonly alias: string
  readonly name: string
  readonly args: ReadonlyMap<string, Value>
  /** Selected fields; empty for a scalar field. */
  readonly fields: readonly Field[]
}

const TOKEN = /\s*(?:#[^\n]*\n\s*)*("(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?|\$?[A-Za-z_]\w*|[{}()[\]:!=]|$)/y

/**
 * Parses one GraphQL query with fields, aliases, arguments and variables. Fragments and directives are not supported.
 * @throws Error naming the expected token.
 */
export function parseOperation(
  text: string,
  variables: Readonly<Record<string, string | number>> = {},
): Field[] {
  const tokens = tokenize(text.replaceAll(',', ' '))
  let position = 0
  const peek = (): string => tokens[position] ?? ''
  const next = (): string => tokens[position++] ?? ''
  const expect = (wanted: string): void => {
    const found = next()
    if (found !== wanted) throw new Error(`expected ${wanted}, found ${found || 'the end'}`)
  }

  const readValue = (): Value => {
    const token = next()
    if (token.startsWith('$')) {
      const given = variables[token.slice(1)]
      if (given === undefined) throw new Error(`variable ${token} is not given`)
      return given
    }
    if (token === '[') {
      const items: Value[] = []
      while (peek() !== ']') items.push(readValue())
      expect(']')
      return items
    }
    if (token === '{') {
      const fields = readPairs('}')
      return { fields }
    }
    if (token.startsWith('"')) return JSON.parse(token) as string
    if (/^-?\d/.test(token)) return Number(token)
    if (token === 'true' || token === 'false') return token === 'true'
    return token === 'null' ? null : { enum: token }
  }
  const readPairs = (end: string): Map<string, Value> => {
    const pairs = new Map<string, Value>()
    while (peek() !== end) {
      const name = next()
      expect(':')
      pairs.set(name, readValue())
    }
    expect(end)
    return pairs
  }
  const readFields = (): Field[] => {
    expect('{')
    const fields: Field[] = []
    while (peek() !== '}') fields.push(readField())
    expect('}')
    return fields
  }
  const readField = (): Field => {
    const alias = next()
    if (!/^[A-Za-z_]\w*$/.test(alias)) throw new Error(`expected a field, found ${alias || 'the end'}`)
    let name = alias
    if (peek() === ':') {
      next()
      name = next()
    }
    let args: ReadonlyMap<string, Value> = new Map()
    if (peek() === '(') {
      next()
      args = readPairs(')')
    }
    return { alias, name, args, fields: peek() === '{' ? readFields() : [] }
  }

  if (peek() === 'query') {
    while (peek() !== '{' && peek() !== '') next()
  }
  const fields = readFields()
  if (position < tokens.length - 1) throw new Error(`expected the end, found ${peek()}`)
  return fields
}

function tokenize(text: string): string[] {
  const tokens: string[] = []
  TOKEN.lastIndex = 0
  while (TOKEN.lastIndex < text.length) {
    const at = TOKEN.lastIndex
    const token = TOKEN.exec(text)?.[1]
    if (token === undefined) throw new Error(`not GraphQL: ${text.slice(at, at + 20)}`)
    tokens.push(token)
    if (token === '') break
  }
  if (tokens.at(-1) !== '') tokens.push('')
  return tokens
}
