const { readdirSync } = require('node:fs')

/** Folders that have a door: an `index.ts` through which everything outside the folder enters. */
function doors(folder) {
  const entries = readdirSync(folder, { withFileTypes: true })
  const below = entries
    .filter((entry) => entry.isDirectory())
    .flatMap((entry) => doors(`${folder}/${entry.name}`))
  return entries.some((entry) => entry.name === 'index.ts') ? [folder, ...below] : below
}

const TEST = '\\.test\\.ts$'

/** Import rules: no circles, folders with a door are entered through it, processes never import each other. */
module.exports = {
  forbidden: [
    { name: 'no-circles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'core-imports-no-process',
      severity: 'error',
      from: { path: '^services/core/' },
      to: { path: '^services/', pathNot: '^services/core/' },
    },
    {
      name: 'processes-stay-apart',
      comment: 'filler, api, state and devchain meet in core; only standalone and cli compose them.',
      severity: 'error',
      from: { path: '^services/(filler|api|state|devchain)/' },
      to: { path: '^services/', pathNot: ['^services/$1/', '^services/core/'] },
    },
    ...doors('services').map((folder) => ({
      name: `door-of-${folder}`,
      severity: 'error',
      from: { pathNot: [`^${folder}/`, '^tests/', TEST] },
      to: { path: `^${folder}/`, pathNot: [`^${folder}/index\\.ts$`, `^${folder}/.+/index\\.ts$`] },
    })),
    {
      name: 'services-are-entered-by-their-door',
      comment:
        'Code outside a service imports only the index.ts of the service, and also the index.ts of the import and of the replay, which the command line runs.',
      severity: 'error',
      from: { path: '^(scripts|services/([^/]+))/', pathNot: [TEST, '^scripts/lab/'] },
      to: {
        path: '^services/',
        pathNot: [
          '^services/$2/',
          '^services/[^/]+/index\\.ts$',
          '^services/core/.+/index\\.ts$',
          '^services/filler/(import|replay)/index\\.ts$',
        ],
      },
    },
    {
      name: 'product-needs-no-test-code',
      severity: 'error',
      from: { path: '^(services|scripts)/', pathNot: TEST },
      to: { path: '^tests/' },
    },
    {
      name: 'product-needs-no-scripts',
      severity: 'error',
      from: { path: '^services/' },
      to: { path: '^scripts/' },
    },
    {
      name: 'scripts-stay-apart',
      comment:
        'Folders of scripts share only scripts/lab and scripts/answers. Other code that two folders need is in core, other data in a file.',
      severity: 'error',
      from: { path: '^scripts/([^/]+)/' },
      to: { path: '^scripts/', pathNot: ['^scripts/$1/', '^scripts/(lab|answers)/index\\.ts$'] },
    },
    {
      name: 'laboratory-is-made-of-devchain',
      comment: 'scripts/lab builds blocks and nodes of parts that the index.ts of devchain does not export.',
      severity: 'error',
      from: { path: '^scripts/lab/' },
      to: {
        path: '^services/',
        pathNot: ['^services/devchain/index\\.ts$', '^services/devchain/.+/index\\.ts$'],
      },
    },
    {
      name: 'no-dev-dependency',
      severity: 'error',
      from: { path: '^services/', pathNot: TEST },
      to: { dependencyTypes: ['npm-dev'], pathNot: '@types/' },
    },
  ],
  options: {
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '^(dist|node_modules)/' },
  },
}
