/**
 * Writes the pages under `docs/reference` that are generated from the code and the tests. With `--check`, exits with 1 when a page is out
 * of date.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { errorCodes } from '../src/api/errors.ts'
import { createProgram } from '../src/cli/main.ts'
import { Metrics } from '../src/telemetry/metrics.ts'
import { renderDifferences } from '../test/real/differential/render.ts'

const folder = join(import.meta.dirname, '../docs/reference')

/** Returns a Markdown table. Vertical bars in cells are escaped. */
function table(header: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`
  return line(header) + line(header.map(() => '---')) + rows.map(line).join('')
}

function commandSection(command: Command, path: string): string {
  const name = `${path} ${command.name()}`.trim()
  const options = command.options.map(({ flags, description, envVar, defaultValue, defaultValueDescription, argChoices }) => [
    `\`${flags}\``,
    description + (argChoices === undefined ? '' : ` (${argChoices.join(', ')})`),
    defaultValue === undefined || (Array.isArray(defaultValue) && defaultValueDescription === undefined)
      ? ''
      : `\`${defaultValueDescription ?? String(defaultValue)}\``,
    envVar === undefined ? '' : `\`${envVar}\``,
  ])
  const section = `## ${name}\n\n${command.description()}\n\n\`${name} ${command.usage()}\`\n${options.length === 0 ? '' : `\n${table(['flag', 'what it does', 'default', 'environment'], options)}`}\n`
  return section + command.commands.map((child) => commandSection(child, name)).join('')
}

async function cliPage(): Promise<string> {
  const program = await createProgram()
  return `# Command line\n\n${program.description()}\nA flag comes before its environment variable, that before the configuration file (\`proreus run --config\`), that before the default.\n\n${program.commands.map((command) => commandSection(command, 'proreus')).join('')}`
}

function errorsPage(): string {
  const rows = Object.entries(errorCodes).map(([code, meaning]) => [`\`${code}\``, meaning])
  return `# Error codes\n\nEvery error that Proreus itself reports is a \`ProreusError\` with one of these as its \`code\`.\n\n${table(['code', 'meaning'], rows)}`
}

/** The description of a registered metric. This file declares the interface, because the types of prom-client lack `labelNames`. */
interface DocumentedMetric {
  readonly name: string
  readonly type: string
  readonly help: string
  readonly labelNames: readonly string[]
}

const metricSections: readonly (readonly [title: string, prefixes: readonly string[]])[] = [
  ['Webhooks', ['controller_runtime_webhook_', 'proreus_webhook_']],
  ['Conversion', ['controller_runtime_conversion_webhook_', 'proreus_conversion_']],
  ['Controllers', ['controller_runtime_']],
  ['Work queues', ['workqueue_']],
  ['Cache', ['proreus_cache_']],
  ['Requests to the API server', ['rest_client_']],
  ['Others', ['']],
]

const labelMeanings: Readonly<Record<string, string>> = {
  webhook: 'path of the webhook, e.g. `/validate-apps-example-com-v1-widget`',
  code: 'HTTP status of the answer, or for which it was refused; for requests to the API server `<error>` when none came. A webhook that denies answers 200: see `outcome`',
  group: 'API group of what is reviewed; empty for the core group',
  kind: 'kind of what is reviewed',
  operation: '`CREATE`, `UPDATE`, `DELETE` or `CONNECT`',
  outcome:
    '`allowed`; `denied` by a verdict; `errored`: a handler threw; `timed_out`: no decision within the deadline; `abandoned`: the API server hung up before',
  resource: 'resource as `plural.group`, e.g. `deployments.apps`',
  version: 'API version of the resource',
  view: 'description of the view, e.g. `labels app=web`; empty for the whole resource',
  controller: 'name of the controller',
  result: 'of a reconcile `success`, `error`, `requeue` or `requeue_after`; of a conversion `success` or `failure`',
  reason: 'why something could not be done: `too_large` or `not_accepted`',
  name: 'name of the work queue: that of its controller',
  priority: 'priority of the entries; 0 is the usual one',
  method: 'HTTP method',
  host: 'host and port of the API server',
  verb: '`get`, `list`, `watch`, `create`, …',
}

function metricsPage(): string {
  const all = (new Metrics().registry.getMetricsAsArray() as unknown as readonly DocumentedMetric[]).toSorted((a, b) =>
    a.name < b.name ? -1 : 1,
  )
  const titleOf = ({ name }: DocumentedMetric): string =>
    metricSections.find(([, prefixes]) => prefixes.some((prefix) => name.startsWith(prefix)))![0]
  const labels = new Set(all.flatMap(({ labelNames }) => labelNames))
  const unexplained = [...labels].filter((label) => labelMeanings[label] === undefined)
  if (unexplained.length > 0) throw new Error(`what the labels mean is not said in scripts/docs.ts: ${unexplained.join(', ')}`)
  const sections = metricSections.map(([title]) => {
    const rows = all
      .filter((metric) => titleOf(metric) === title)
      .map(({ name, type, labelNames, help }) => [`\`${name}\``, type, labelNames.map((label) => `\`${label}\``).join(', '), help])
    return rows.length === 0 ? '' : `## ${title}\n\n${table(['metric', 'type', 'labels', 'what'], rows)}\n`
  })
  const explained = Object.entries(labelMeanings).filter(([label]) => labels.has(label))
  const rows = explained.map(([label, meaning]) => [`\`${label}\``, meaning])
  const intro =
    'Served at `/metrics` of `--metrics-bind-address`, in the text format of Prometheus. Those that controller-runtime has too have its names, labels and buckets. What to look at, and alerts: [Observability](../guides/observability.md).\n\nBeside them are those of the process and of Node.js, as prom-client names them: `process_*` (CPU, memory, file descriptors, start time) and `nodejs_*` (event loop lag, heap, garbage collection, handles, version).'
  return `# Metrics\n\n${intro}\n\n${sections.join('')}## Labels\n\n${table(['label', 'what'], rows)}`
}

const pages = {
  'cli.md': await cliPage(),
  'embedded-api-server.md': renderDifferences(),
  'errors.md': errorsPage(),
  'metrics.md': metricsPage(),
}
const check = process.argv.includes('--check')
for (const [name, text] of Object.entries(pages)) {
  const path = join(folder, name)
  const marked = `<!-- Generated by "npm run docs" from the code; do not edit. -->\n\n${text}`
  if (check) {
    let present = ''
    try {
      present = readFileSync(path, 'utf8')
    } catch {
      // A page that does not exist counts as out of date.
    }
    if (present !== marked) {
      process.stdout.write(`not up to date: docs/reference/${name}; run "npm run docs"\n`)
      process.exitCode = 1
    }
  } else {
    writeFileSync(path, marked)
  }
}
