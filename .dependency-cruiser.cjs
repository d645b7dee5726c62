/** Import rules: no circles, one door per folder, processes never import each other. */
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
    {
      name: 'one-door-per-service',
      severity: 'error',
      from: { path: '^services/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: {
        path: '^services/([^/]+)/',
        pathNot: ['^services/$1/', '^services/[^/]+/index\\.ts$', '^services/core/[^/]+/index\\.ts$'],
      },
    },
    {
      name: 'one-door-per-folder',
      comment: 'A folder below a service is entered by its index.ts, from other folders ...',
      severity: 'error',
      from: { path: '^services/([^/]+)/([^/]+)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^services/$1/[^/]+/.+', pathNot: ['^services/$1/$2/', '/index\\.ts$'] },
    },
    {
      name: 'one-door-per-folder-from-above',
      comment: '... and from files above it.',
      severity: 'error',
      from: { path: '^services/([^/]+)/[^/]+\\.ts$', pathNot: '\\.test\\.ts$' },
      to: { path: '^services/$1/[^/]+/.+', pathNot: '/index\\.ts$' },
    },
    {
      name: 'scripts-and-tests-use-doors',
      severity: 'error',
      from: { path: '^scripts/' },
      to: { path: '^services/', pathNot: ['/index\\.ts$'] },
    },
    {
      name: 'product-needs-no-test-code',
      severity: 'error',
      from: { path: '^(services|scripts)/', pathNot: '\\.test\\.ts$' },
      to: { path: '^tests/' },
    },
    {
      name: 'no-dev-dependency',
      severity: 'error',
      from: { path: '^services/', pathNot: '\\.test\\.ts$' },
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
