import { InvalidArgumentError } from 'commander'

/** Creates a parser for an option that is a whole number. */
export function wholeNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : NaN
    if (value >= min && value <= max) return value
    throw new InvalidArgumentError(`Allowed: a whole number from ${min} to ${max}.`)
  }
}

/** Creates a parser for an option that is a number, with or without decimals. */
export function decimalNumber(min: number, max: number): (text: string) => number {
  return (text) => {
    const value = /^\d{1,15}(\.\d{1,15})?$/.test(text) ? Number(text) : NaN
    if (value >= min && value <= max) return value
    throw new InvalidArgumentError(`Allowed: a number from ${min} to ${max}.`)
  }
}
