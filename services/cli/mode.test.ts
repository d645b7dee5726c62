import { expect, it } from 'vitest'
import { chooseMode } from './mode.ts'

it.each([
  [['standalone'], {}, 'standalone'],
  [['keys', 'list', '--data', 'x'], {}, 'standalone'],
  [['keys', 'list', '--data=x'], { PRONGHORN_MODE: 'appliance' }, 'standalone'],
  [['devchain', '--data', 'x'], {}, 'process'],
  [['filler'], {}, 'process'],
  [['filler'], { PRONGHORN_MODE: 'appliance' }, 'appliance'],
  [['filler'], { PRONGHORN_MODE: 'other' }, 'process'],
  [[], {}, 'process'],
] as const)('the arguments %j in the environment %j select the mode %s', (args, env, mode) => {
  expect(chooseMode(args, env)).toBe(mode)
})
