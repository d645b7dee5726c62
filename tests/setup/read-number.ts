/** Reads a number from an environment variable. @throws Error unless it is a number from `least` to `most`. */
export function readNumber(name: string, standard: number, least: number, most: number): number {
  const text = process.env[name] ?? ''
  if (text === '') return standard
  const value = Number(text)
  if (value >= least && value <= most) return value
  throw new Error(`${name} is ${text}: allowed are numbers from ${least} to ${most}`)
}
