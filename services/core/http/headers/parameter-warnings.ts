/** Maximum characters of a parameter name that a message repeats. */
const MAX_NAME_SHOWN = 60

/** Shortens a parameter name for messages. */
export function shownName(name: string): string {
  return name.slice(0, MAX_NAME_SHOWN)
}

/** Warning for a parameter that the endpoint does not have. */
export function unreadParameter(name: string): string {
  return `this endpoint has no parameter ${shownName(name)}; it is ignored`
}

/** Warning for a repeated parameter that takes one value. */
export function repeatedParameter(name: string): string {
  return `${shownName(name)} was given several times; the last value counts`
}
