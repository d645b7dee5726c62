/** SQL that writes JSON text. Expressions are column names of this program, never input. */

/** `"123"`, or `null`. For numbers and for account names, which need no escaping. */
export function quoted(expression: string): string {
  return `coalesce('"' || ${expression} || '"', 'null')`
}

/** A JSON string of any text, or `null`. */
export function jsonText(expression: string): string {
  return `coalesce(to_json(${expression})::text, 'null')`
}

/** Members of an object without its braces: `{a: quoted('t.a')}` gives an expression for `"a":"1"`. */
export function jsonMembers(members: Readonly<Record<string, string>>): string {
  const parts = Object.entries(members).map(
    ([name, expression], index) => `'${index === 0 ? '' : ','}"${name}":', ${expression}`,
  )
  return `concat(${parts.join(', ')})`
}

/**
 * The member `history_since_block`, with its comma, of a family whose rows began with the chain's present state; empty
 * where all history is there.
 */
export function historyMember(family: 'assets' | 'market' | 'tools'): string {
  return `coalesce((SELECT concat(',"history_since_block":"', i.history_since, '"') FROM chain.imports i
    JOIN chain.sources s ON s.reader = i.reader AND s.family = '${family}' WHERE i.history_since IS NOT NULL), '')`
}
