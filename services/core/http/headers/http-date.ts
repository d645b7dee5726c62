let second = 0
let text = ''

/** Current time in HTTP header format; formatted once a second. */
export function httpDate(): string {
  const now = Math.floor(Date.now() / 1_000)
  if (now !== second) {
    second = now
    text = new Date(now * 1_000).toUTCString()
  }
  return text
}
