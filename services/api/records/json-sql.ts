/** SQL that writes JSON text. Expressions are column names of this program, never input. */

/** `"123"`, or `null`. For numbers and for account names, which need no escaping. */
export function quoted(expression: string): string {
  return `coalesce('"' || ${expression} || '"', 'null')`
}

/** A JSON string of any text, or `null`. */
export function jsonText(expression: string): string {
  return `coalesce(to_json(${expression})::text, 'null')`
}

/** Attributes; `{}` for none. */
export function jsonData(expression: string): string {
  return `coalesce(${expression}::text, '{}')`
}

/** Members of an object without its braces: `{a: quoted('t.a')}` gives an expression for `"a":"1"`. */
export function jsonMembers(members: Readonly<Record<string, string>>): string {
  const parts = Object.entries(members).map(
    ([name, expression], index) => `'${index === 0 ? '' : ','}"${name}":', ${expression}`,
  )
  return `concat(${parts.join(', ')})`
}

/** A JSON array; `[]` for none. */
export function jsonList(expression: string): string {
  return `coalesce(${expression}::text, '[]')`
}
