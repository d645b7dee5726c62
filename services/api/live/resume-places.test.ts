import { expect, it } from 'vitest'
import { ResumePlaces } from './resume-places.ts'

/** Asks for a place; `order` gets the name when it is given. */
async function ask(
  places: ResumePlaces,
  order: string[],
  name: string,
  address: string,
  left = new AbortController().signal,
): Promise<() => void> {
  const leave = await places.enter(address, left)
  order.push(leave ? name : `${name} left`)
  return leave ?? (() => undefined)
}

/** Runs all pending callbacks. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

it('one address never has all places, and what it waits for does not hold others up', async () => {
  const places = new ResumePlaces()
  const order: string[] = []
  const first = ask(places, order, 'a1', 'a')
  for (const name of ['a2', 'a3', 'a4']) void ask(places, order, name, 'a')
  for (const name of ['b', 'c', 'd']) void ask(places, order, name, name)
  await settle()
  expect(order).toEqual(['a1', 'a2', 'b', 'c'])
  const leave = await first
  leave()
  leave()
  await settle()
  // In the order of arrival, as far as the address allows.
  expect(order).toEqual(['a1', 'a2', 'b', 'c', 'a3'])
})

it('a place that an address may not take goes to the next one', async () => {
  const places = new ResumePlaces()
  const order: string[] = []
  for (const name of ['a1', 'a2']) void ask(places, order, name, 'a')
  const b = ask(places, order, 'b', 'b')
  void ask(places, order, 'c', 'c')
  void ask(places, order, 'a3', 'a')
  void ask(places, order, 'd', 'd')
  ;(await b)()
  await settle()
  expect(order).toEqual(['a1', 'a2', 'b', 'c', 'd'])
})

it('a client that leaves while it waits is forgotten, and its place goes to others', async () => {
  const places = new ResumePlaces()
  const order: string[] = []
  const first = ask(places, order, 'a1', 'a')
  void ask(places, order, 'a2', 'a')
  const leaving = new AbortController()
  void ask(places, order, 'a3', 'a', leaving.signal)
  void ask(places, order, 'a4', 'a')
  await settle()
  leaving.abort()
  void ask(places, order, 'a5', 'a', leaving.signal)
  await settle()
  expect(order).toEqual(['a1', 'a2', 'a3 left', 'a5 left'])
  ;(await first)()
  await settle()
  expect(order).toEqual(['a1', 'a2', 'a3 left', 'a5 left', 'a4'])
})
