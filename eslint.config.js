import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import tseslint from 'typescript-eslint'
import { assertions } from './scripts/lint/assertions.ts'
import { sources } from './scripts/lint/sources.ts'

/**
 * The folders under src/ from which each folder under src/ may import (CONTRIBUTING.md, "The arrows"). A folder imports only from folders
 * that are listed before it, except that `testing` imports `devcluster`. Only `testing` and `cli` import `devcluster`, and no folder
 * imports `testing`.
 */
const arrows = {
  api: [],
  runtime: ['api'],
  'builtin-schemas': ['api'],
  formats: [],
  cel: ['api', 'formats'],
  schema: ['api', 'builtin-schemas', 'formats', 'cel'],
  telemetry: ['api', 'runtime'],
  client: ['api', 'runtime', 'schema', 'telemetry'],
  certs: ['api', 'runtime', 'client', 'telemetry'],
  cache: ['api', 'runtime', 'client', 'telemetry'],
  conversion: ['api', 'runtime', 'schema', 'telemetry'],
  webhook: ['api', 'runtime', 'formats', 'cel', 'schema', 'conversion', 'client', 'cache', 'certs', 'telemetry'],
  controller: ['api', 'runtime', 'client', 'cache', 'telemetry'],
  'leader-election': ['api', 'runtime', 'client', 'telemetry'],
  writes: ['api', 'runtime', 'client', 'cache'],
  manager: ['api', 'runtime', 'schema', 'conversion', 'client', 'cache', 'certs', 'webhook', 'controller', 'leader-election', 'telemetry'],
  manifests: ['api', 'runtime', 'schema', 'conversion', 'client', 'webhook', 'manager'],
  // Operators import only from the package `proreus`, as users do.
  operators: [],
  testing: [
    'api',
    'runtime',
    'schema',
    'conversion',
    'client',
    'cache',
    'certs',
    'webhook',
    'controller',
    'manager',
    'manifests',
    'telemetry',
    'devcluster',
  ],
  devcluster: ['api', 'runtime', 'formats', 'cel', 'schema', 'client', 'cache', 'certs', 'controller', 'writes', 'telemetry'],
  cli: [
    'api',
    'runtime',
    'schema',
    'conversion',
    'client',
    'cache',
    'certs',
    'webhook',
    'controller',
    'manager',
    'manifests',
    'operators',
    'telemetry',
    'devcluster',
  ],
}

/** The layers of the embedded API server, the lowest first: a folder may import only from the folders that are listed before it. */
const layers = [
  'apimachinery',
  'protobuf',
  'types',
  'rest',
  'storage',
  'patch',
  'resources',
  'access',
  'admission',
  'conversion-webhooks',
  'apply',
  'registry',
  'crd',
  'controllers',
  'pods',
  'state',
  'http',
]

/** The layers of the CEL engine, the lowest first. The files directly in src/cel use the layers to evaluate rules and match conditions. */
const celLayers = ['types', 'syntax', 'library', 'plan', 'check']

/** The layers of the webhook server, the lowest first. The files directly in src/webhook combine the layers. */
const webhookLayers = ['definition', 'review', 'body', 'http', 'evaluation', 'handlers']

/**
 * Returns a rule that rejects imports in the files of `src/FOLDER` if their path matches one of `patterns`. `allowed` are the permitted
 * folders, which the error message lists.
 */
function arrowRule(folder, allowed, patterns) {
  const below = allowed.join(', ') || (folder === 'operators' ? "'proreus'" : 'no other folder')
  const message = `src/${folder} may import from ${below} only (see CONTRIBUTING.md, "The arrows").`
  return {
    files: [`src/${folder}/**/*.ts`],
    rules: { 'no-restricted-imports': ['error', { patterns: patterns.map((regex) => ({ regex, message })) }] },
  }
}

function refusedBy(folder) {
  const refused = Object.keys(arrows).filter((other) => other !== folder && !arrows[folder].includes(other))
  return `^(\\.\\./)+(${[...refused, 'index'].join('|')})[/.]`
}

/**
 * Returns the import rules for the layers of `src/FOLDER`: a layer may import only from layers before it. It may not import from files
 * directly in `folder`, because these combine the layers. `limits.ts` is an exception, because it only contains constants.
 */
function layerRules(folder, names) {
  const files = readdirSync(join(import.meta.dirname, 'src', folder)).filter((name) => name.endsWith('.ts') && name !== 'limits.ts')
  const onTop = files.map((name) => name.replace('.', '\\.')).join('|')
  return names.map((layer, index) => {
    const above = names.slice(index + 1).map((name) => `${name}/`)
    const patterns = [refusedBy(folder), `^(\\.\\./)+(${[...above, `(${onTop})$`].join('|')})`]
    return arrowRule(`${folder}/${layer}`, names.slice(0, index), patterns)
  })
}

const arrowRules = [
  ...Object.entries(arrows).map(([folder, allowed]) => arrowRule(folder, allowed, [refusedBy(folder)])),
  ...layerRules('cel', celLayers),
  ...layerRules('devcluster', layers),
  ...layerRules('webhook', webhookLayers),
]

/**
 * The folders that a simulation can run with its own time and random numbers: there, both come only from parameters, and turns of the event
 * loop only from `TimeSlices` and `endOfTurn`.
 */
const simulated = ['cache', 'client', 'controller', 'devcluster', 'leader-election', 'manager', 'telemetry', 'writes']

const simulationRule = { files: simulated.map((folder) => `src/${folder}/**/*.ts`), rules: sources }

export default tseslint.config(
  { ignores: ['node_modules', 'dist', '.tap', '.proreus', 'coverage'] },
  ...tseslint.configs.recommended.map((config) => ({ ...config, files: ['**/*.ts'] })),
  {
    files: ['**/*.ts'],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/no-floating-promises': 'error',
      '@typescript-eslint/no-misused-promises': 'error',
      '@typescript-eslint/await-thenable': 'error',
      '@typescript-eslint/only-throw-error': 'error',
      '@typescript-eslint/no-explicit-any': 'error',
      // Namespaces that only declare types are allowed.
      '@typescript-eslint/no-namespace': ['error', { allowDeclarations: true }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    // The parent test waits for the promise that tap's `t.test` returns, so tests need not await it.
    files: ['test/**/*.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [],
          allowForKnownSafePromises: [{ from: 'package', name: 'PromiseWithSubtest', package: '@tapjs/core' }],
        },
      ],
      '@typescript-eslint/require-await': 'off',
    },
  },
  {
    files: ['test/**/*.ts', 'docs/examples/**/*.test.ts'],
    plugins: { proreus: { rules: { assertions } } },
    rules: { 'proreus/assertions': 'error' },
  },
  {
    // The test runners wait for the promises that `test`, `before` and `after` return, so tests need not await them.
    files: ['docs/examples/**/*.test.ts'],
    rules: {
      '@typescript-eslint/no-floating-promises': [
        'error',
        {
          allowForKnownSafeCalls: [{ from: 'package', name: ['after', 'before', 'test'], package: 'node:test' }],
          allowForKnownSafePromises: [{ from: 'package', name: 'PromiseWithSubtest', package: '@tapjs/core' }],
        },
      ],
    },
  },
  { files: ['src/**/*.ts'], rules: { 'no-restricted-exports': ['error', { restrictDefaultExports: { direct: true } }] } },
  ...arrowRules,
  simulationRule,
)
