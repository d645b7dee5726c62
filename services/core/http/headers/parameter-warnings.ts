/** Characters of a parameter's name that a message repeats. */
const MAX_NAME_SHOWN = 60

/** The name of a parameter as messages repeat it. */
export function shownName(name: string): string {
  return name.slice(0, MAX_NAME_SHOWN)
}

/** The warning for a parameter that the endpoint does not read. */
export function unreadParameter(name: string): string {
  return `this endpoint has no parameter ${shownName(name)}; it is ignored`
}

/** The warning for several values of a parameter that takes one. */
export function repeatedParameter(name: string): string {
  return `${shownName(name)} was given several times; the last value counts`
}
