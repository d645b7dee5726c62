import { expect, it } from 'vitest'
import { countOf, formatAge, formatBytes, formatCount, formatDuration, formatRate } from './format.js'

it('the console page formats bytes in the largest unit that fits', () => {
  expect([0, 999, 1_000, 8_192, 12_324_187, 999_600, 1.5e9, 2e12, 7e15].map(formatBytes)).toEqual([
    '0 bytes',
    '999 bytes',
    '1 kB',
    '8.2 kB',
    '12 MB',
    '1 MB',
    '1.5 GB',
    '2 TB',
    '7 PB',
  ])
})

it('the console page formats durations in a readable unit', () => {
  expect([0, 0.42, 9.9, 10.4, 119, 120, 7_199, 7_200, 170_000, 172_800].map(formatDuration)).toEqual([
    '0 s',
    '0.4 s',
    '9.9 s',
    '10 s',
    '119 s',
    '2 min',
    '120 min',
    '2 h',
    '47 h',
    '2 days',
  ])
  expect([0, 1.9, 30].map(formatAge)).toEqual(['just now', 'just now', '30 s ago'])
})

it('the console page formats counts and rates in few characters', () => {
  expect([0, 9_999, 12_345, 4_200_000].map(formatCount)).toEqual(['0', '9,999', '12.3K', '4.2M'])
  expect([0, 2.04, 99.95, 485.9, 12_345].map(formatRate)).toEqual(['0', '2', '100', '486', '12,345'])
  expect([0, 1, 1_000].map((value) => countOf(value, 'block'))).toEqual([
    '0 blocks',
    '1 block',
    '1,000 blocks',
  ])
})
