const others: Readonly<Record<string, string>> = {
  boolean: 'NOT $',
  jsonb: `CASE jsonb_typeof($) WHEN 'array' THEN $ || '["damaged"]' ELSE $ || '{"damaged": "1"}' END`,
  text: "$ || 'x'",
  bytea: "$ || '\\x00'",
  'text[]': "array_append($, 'damaged')",
  'bigint[]': 'array_append($, 7)',
  'integer[]': 'array_append($, 7)',
  'double precision': '$ + 0.001',
}

/** SQL expression whose value differs from the value of `expression`. @param type SQL type of the expression. */
export function otherValueOf(type: string, expression: string): string {
  return (others[type] ?? '$ + 1').replaceAll('$', () => expression)
}
