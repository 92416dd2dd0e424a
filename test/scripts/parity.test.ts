/** Tests that every name, flag, metric and path in docs/reference/parity.md exists. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import t from 'tap'
import ts from 'typescript'
import { errorCodes } from '../../src/api/errors.ts'
import { createProgram } from '../../src/cli/main.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { repository } from '../support/process/process.ts'

const page = readFileSync(join(repository, 'docs/reference/parity.md'), 'utf8')
const tables = page.slice(page.indexOf('\n## '))
const rows = tables
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.slice(2, -2).split(' | '))
  .filter(([first]) => !first!.startsWith('feature') && !first!.startsWith('---'))
const spans = [...new Set([...page.matchAll(/`([^`]+)`/g)].map(([, text]) => text!))]

const { config } = ts.readConfigFile(join(repository, 'tsconfig.json'), (path) => ts.sys.readFile(path)) as { config: object }
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, repository)
const entries = ['src/index.ts', 'src/testing/index.ts'].map((entry) => join(repository, entry))
const program = ts.createProgram(entries, { ...options, noEmit: true, noCheck: true })
const checker = program.getTypeChecker()

function exportsOf(module: ts.Symbol): [string, ts.Symbol][] {
  return checker.getExportsOfModule(module).map((symbol) => {
    const found = symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol
    return [symbol.name, found]
  })
}

const exported = new Map(entries.flatMap((entry) => exportsOf(checker.getSymbolAtLocation(program.getSourceFile(entry)!)!)))

/** The types of the values that an operator or a test gets from the library, keyed by the names of these values in parity.md. */
const instances: Readonly<Record<string, string>> = {
  client: 'Client',
  context: 'ReconcileContext',
  controlPlane: 'ControlPlane',
  proxy: 'FaultProxy',
}

/** Returns the type that the symbol declares. If the symbol declares no type, returns the type of its value. */
function typeOf(symbol: ts.Symbol): ts.Type {
  const isType = (symbol.flags & (ts.SymbolFlags.Interface | ts.SymbolFlags.TypeAlias | ts.SymbolFlags.Class)) !== 0
  return isType ? checker.getDeclaredTypeOfSymbol(symbol) : checker.getTypeOfSymbol(symbol)
}

function memberOf(symbol: ts.Symbol, name: string): ts.Symbol | undefined {
  const isNamespace = (symbol.flags & ts.SymbolFlags.ValueModule) !== 0
  const inNamespace = isNamespace ? new Map(exportsOf(symbol)).get(name) : undefined
  if (inNamespace !== undefined) return inNamespace
  // A name may be both a value and a namespace of types, e.g. `core`.
  const types = [typeOf(symbol), ...(symbol.valueDeclaration === undefined ? [] : [checker.getTypeOfSymbol(symbol)])]
  return types.map((type) => propertyOf(type, name)).find((found) => found !== undefined)
}

function propertyOf(type: ts.Type, name: string): ts.Symbol | undefined {
  const parts = type.isUnionOrIntersection() ? [type, ...type.types] : [type]
  return parts.map((part) => checker.getPropertyOfType(checker.getApparentType(part), name)).find((found) => found !== undefined)
}

function resolve(path: string): ts.Symbol | undefined {
  const [first = '', ...members] = path.split('.')
  let symbol = exported.get(instances[first] ?? first)
  for (const name of members) symbol &&= memberOf(symbol, name)
  return symbol
}

/** Returns true when the last parameter of the function has the option. */
function hasOption(symbol: ts.Symbol, name: string): boolean {
  const lastParameters = checker
    .getTypeOfSymbol(symbol)
    .getCallSignatures()
    .flatMap((signature) => signature.getParameters().slice(-1))
  return lastParameters.some((parameter) => propertyOf(checker.getTypeOfSymbol(parameter), name) !== undefined)
}

/** Returns the problem of a name such as `core.pod`, or of a function with options such as `run({ drainDelayMs })`. */
function problemOfName(text: string): string | undefined {
  const [, path, names] = /^([\w.]+)(?:\(\{ (\w+(?:, \w+)*) \}\))?$/.exec(text) ?? []
  if (path === undefined) return 'is neither a name, a flag, a metric nor a path'
  const symbol = resolve(path)
  if (symbol === undefined) return 'is not exported'
  const unknown = (names?.split(', ') ?? []).filter((name) => !hasOption(symbol, name))
  return unknown.length === 0 ? undefined : `has no option ${unknown.join(', ')}`
}

const commands = (await createProgram()).commands.flatMap((command: Command) => [command, ...command.commands])
const commandNames = commands.map((command) => `proreus ${command.name()}`)
const flags = new Set(commands.flatMap((command) => command.options.map(({ long }) => long)))
const metrics = new Metrics()
metrics.collectProcess()
const metricNames = new Set(metrics.registry.getMetricsAsArray().map(({ name }) => name))

const sources = readdirSync(join(repository, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => readFileSync(join(repository, 'src', path), 'utf8'))
  .join('\n')

/** These names are fields of objects, results and schemas, or functions of JavaScript. The library does not export them. */
const fields = new Set([
  ...['apiVersion', 'kind', 'name', 'uid', 'metadata.resourceVersion', 'data', 'caBundle'],
  ...['requeueAfterMs', 'requeue', 'priority', 'rules', 'default', 'reconcile', 'Retry-After', 'JSON.parse', 'slice'],
])

function problemOf(text: string): string | undefined {
  if (fields.has(text)) return undefined
  const isKnown = (known: boolean, what: string): string | undefined => (known ? undefined : `is no ${what}`)
  if (/^(?:test|docs|src|config)\//.test(text)) return isKnown(existsSync(join(repository, text)), 'path')
  if (text.startsWith('--')) return isKnown(flags.has(text), 'flag')
  if (text.startsWith('proreus ')) return isKnown(commandNames.includes(text), 'command')
  if (text.startsWith('PRO_')) return isKnown(text in errorCodes, 'error code')
  if (/^[a-z]+_\w+$/.test(text)) return isKnown(metricNames.has(text), 'metric')
  if (text.startsWith('/') || /^[A-Z]+_[A-Z_]+$/.test(text)) return isKnown(sources.includes(text), 'text of the sources')
  return problemOfName(text)
}

t.test('everything that the page names in code font exists', async (t) => {
  t.ok(spans.length > 300, `${spans.length} names`)
  t.strictSame(
    spans.flatMap((text) => (problemOf(text) === undefined ? [] : [`${text} ${problemOf(text)}`])),
    [],
  )
})

t.test('a name, an option, a flag, a metric or a path that does not exist is found', async (t) => {
  const wrong = ['defineThing', 'client.got', 'core.pot', 'predicates.none', 'source.nothing', 'Metrics.regist', 'ListOptions.limits']
  const wrongOptions = ['run({ drain })', 'defineController({ owns, watch })', 'client.patch({ kind })', 'run({})']
  const wrongTexts = [
    '--no-flag',
    'proreus go',
    'PRO_NOTHING',
    'workqueue_nothing',
    'test/none.test.ts',
    '/debug/none',
    'KUBE_NOTHING',
    'a b',
  ]
  for (const text of [...wrong, ...wrongOptions, ...wrongTexts]) t.type(problemOf(text), 'string', text)
})

t.test('each row has a feature, what it is here, and the tests that show it', async (t) => {
  t.ok(rows.length > 250, `${rows.length} rows`)
  const problems = rows.flatMap(([feature, here, tests, ...more]) => {
    if (feature === undefined || here === undefined || tests === undefined || more.length > 0) return [`${feature}: needs three cells`]
    if (feature.includes('`')) return [`${feature}: the names of others are not in code font`]
    const mayLackTest = /^(?:No|Not in this version)\b/.test(here)
    if (tests === '–') return mayLackTest ? [] : [`${feature}: has no test`]
    return /^`test\/\S+\.test\.ts`$/.test(tests) ? [] : [`${feature}: "${tests}" is not the path of a test`]
  })
  t.strictSame(problems, [])
})

t.test('each table is listed at the beginning, and nothing is promised', async (t) => {
  const listed = [...page.matchAll(/^- \[(.+)\]\(#(.+)\)$/gm)].map(([, title]) => title)
  t.strictSame(
    listed,
    [...page.matchAll(/^## (.+)$/gm)].map(([, title]) => title),
  )
  t.strictSame(page.match(/\b(?:later|planned|soon|roadmap|upcoming|TODO|part \d+)\b/gi) ?? [], [])
})
