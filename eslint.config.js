import tseslint from 'typescript-eslint'
import { assertions } from './scripts/lint/assertions.ts'

/**
 * The arrows of the architecture: which folders under src/ a folder may import from.
 * Arrows point down this list only; `devcluster` and `testing` stand beside it, and nothing in production imports them.
 */
const arrows = {
  api: [],
  'builtin-schemas': ['api'],
  formats: [],
  cel: ['api', 'formats'],
  schema: ['api', 'builtin-schemas', 'formats', 'cel'],
  telemetry: ['api'],
  client: ['api', 'schema', 'telemetry'],
  certs: ['api', 'client', 'telemetry'],
  cache: ['api', 'client', 'telemetry'],
  conversion: ['api', 'schema', 'telemetry'],
  webhook: ['api', 'cel', 'schema', 'conversion', 'client', 'cache', 'certs', 'telemetry'],
  controller: ['api', 'client', 'cache', 'telemetry'],
  manager: ['api', 'schema', 'conversion', 'client', 'cache', 'certs', 'webhook', 'controller', 'telemetry'],
  manifests: ['api', 'schema', 'conversion', 'client', 'webhook', 'manager'],
  // As a user would: from 'proreus' alone.
  operators: [],
  testing: [
    'api',
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
  devcluster: ['api', 'formats', 'cel', 'schema', 'client', 'cache', 'certs', 'controller', 'telemetry'],
  cli: [
    'api',
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

/** The layers of the embedded API server, from the bottom: a folder may import from those before it. */
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
  'pki',
  'http',
]

/** Refuses imports from folders that are not below this one; `allowed` is for the message. */
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

const arrowRules = [
  ...Object.entries(arrows).map(([folder, allowed]) => arrowRule(folder, allowed, [refusedBy(folder)])),
  ...layers.map((layer, index) =>
    // The files directly in src/devcluster put the layers together.
    arrowRule(`devcluster/${layer}`, layers.slice(0, index), [
      refusedBy('devcluster'),
      `^(\\.\\./)+(${layers
        .slice(index + 1)
        .concat('dev-cluster', 'bootstrap', 'bootstrap-roles')
        .join('|')})[/.]`,
    ]),
  ),
]

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
      // Those that are for the compiler alone.
      '@typescript-eslint/no-namespace': ['error', { allowDeclarations: true }],
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
      'no-console': 'error',
      eqeqeq: 'error',
    },
  },
  {
    // tap's `t.test` returns a promise that the parent test already waits for.
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
    // What runners give for a test need not be waited for.
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
)
