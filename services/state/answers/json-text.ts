/** JSON text of a response. 64-bit integers beyond the range of a double are written with every digit. */
export function toJsonText(value: unknown): string {
  if (typeof value === 'bigint') return value.toString()
  if (value instanceof RawJson) return value.text
  if (Array.isArray(value)) return `[${value.map(toJsonText).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
      .filter(([, member]) => member !== undefined)
      .map(([key, member]) => `${JSON.stringify(key)}:${toJsonText(member)}`)
    return `{${members.join(',')}}`
  }
  return JSON.stringify(value ?? null)
}

/** Marks a text as JSON, which is copied into a response as it is. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}
