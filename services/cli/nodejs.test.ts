import { expect, it } from 'vitest'
import { checkNodejs } from './nodejs.ts'

it.each(['18.20.8', '20.9.0', '20.11.1', '8.0.0'])('Node.js %s is refused', (version) => {
  expect(() => {
    checkNodejs(version)
  }).toThrow(`Node.js ${version} runs this program, but 20.19 or later is required`)
})

it.each(['20.19.0', '22.0.0', '24.3.1', '100.0.0'])('Node.js %s is allowed', (version) => {
  checkNodejs(version)
})
