import js from '@eslint/js'
import tseslint from 'typescript-eslint'
import { pronghornRules } from './eslint-rules.js'

/** Syntax that is refused everywhere, in tests too. */
const refusedInTests = [
  {
    selector:
      ':matches(PropertyDefinition, MethodDefinition[kind!="constructor"])[accessibility=/^(private|protected)$/]',
    message: 'Private members are #names.',
  },
]

/** Syntax that the product and its scripts have nowhere. */
const refused = [
  ...refusedInTests,
  { selector: 'ExportDefaultDeclaration', message: 'No default exports: a name says what a thing is.' },
  {
    selector: "MemberExpression[object.name='process'][property.name='env']",
    message: 'process.env is read in services/core/config/environment/environment.ts alone.',
  },
]

/** Casts of the data of events, which have the types that the family declares in its contract.ts. */
const eventCasts = [
  "TSAsExpression > MemberExpression.expression[property.name='data']",
  "TSAsExpression > CallExpression.expression[callee.property.name='value']",
].map((selector) => ({ selector, message: 'An event has the type that contract.ts declares for its name.' }))

export default tseslint.config(
  { ignores: ['dist/', 'node_modules/', 'coverage/', '.data/', 'tests/fixtures/', 'docs/'] },
  js.configs.recommended,
  ...tseslint.configs.strictTypeChecked,
  {
    languageOptions: {
      parserOptions: {
        projectService: { allowDefaultProject: ['*.js', '*.cjs'] },
        tsconfigRootDir: import.meta.dirname,
      },
    },
    rules: {
      // The length of today's longest file. It may only fall.
      'max-lines': ['error', { max: 510 }],
      // The most branches of one function today; a switch counts as one. It may only fall.
      complexity: ['error', { max: 21, variant: 'modified' }],
      '@typescript-eslint/no-explicit-any': 'error',
      '@typescript-eslint/ban-ts-comment': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/restrict-template-expressions': [
        'error',
        {
          allowNumber: true,
          allowBoolean: true,
          allowNullish: false,
          allow: [{ name: 'bigint', from: 'lib' }],
        },
      ],
      '@typescript-eslint/no-non-null-assertion': 'off',
      '@typescript-eslint/no-confusing-void-expression': [
        'error',
        { ignoreArrowShorthand: true, ignoreVoidReturningFunctions: true },
      ],
      '@typescript-eslint/no-unused-vars': [
        'error',
        { argsIgnorePattern: '^_', varsIgnorePattern: '^_', ignoreRestSiblings: true },
      ],
      '@typescript-eslint/no-unnecessary-condition': ['error', { allowConstantLoopConditions: true }],
      'no-restricted-syntax': ['error', ...refused],
      // More of them are an options object.
      'max-params': ['error', { max: 4 }],
    },
  },
  {
    // Scripts of the browser: the compiler knows the names that are global there.
    files: ['services/api/console/page/*.js'],
    rules: { 'no-undef': 'off' },
  },
  {
    files: ['services/filler/handlers/**'],
    rules: { 'no-restricted-syntax': ['error', ...refused, ...eventCasts] },
  },
  { files: ['services/core/config/environment/environment.ts'], rules: { 'no-restricted-syntax': 'off' } },
  {
    files: ['services/**/*.ts', 'scripts/**/*.ts', 'tests/**/*.ts'],
    plugins: { pronghorn: pronghornRules },
    rules: { 'pronghorn/constant-style': 'error' },
  },
  {
    files: ['services/**/index.ts', 'scripts/**/index.ts'],
    plugins: { pronghorn: pronghornRules },
    rules: { 'pronghorn/door-names': 'error' },
  },
  {
    files: ['*.js', '*.cjs', '*.config.ts'],
    ...tseslint.configs.disableTypeChecked,
    rules: {
      ...tseslint.configs.disableTypeChecked.rules,
      '@typescript-eslint/no-require-imports': 'off',
      'no-restricted-syntax': 'off',
      'no-undef': 'off',
    },
  },
  {
    files: ['tests/**', '**/*.test.ts'],
    // Rows of `it.each` are parameters of a test.
    rules: {
      'no-restricted-syntax': ['error', ...refusedInTests],
      'max-lines': ['error', { max: 583 }],
      'max-params': 'off',
    },
  },
)
