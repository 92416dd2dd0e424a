/**
 * Tests of the observability guide: the metrics and labels in the guide exist, and each TypeScript example is equal to the file whose path
 * the guide states above the example.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { repository } from '../support/process/process.ts'

const guide = readFileSync(join(repository, 'docs/guides/observability.md'), 'utf8')
const manifests = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, text]) => parse(text!) as { kind: string; spec: object })

interface Rules {
  readonly groups: readonly { readonly rules: readonly { readonly alert: string; readonly expr: string }[] }[]
}

const metrics = new Metrics()
metrics.collectProcess()
const labelsOf = new Map<string, readonly string[]>()
for (const metric of metrics.registry.getMetricsAsArray() as unknown as { name: string; type: string; labelNames: string[] }[]) {
  const { name, type, labelNames } = metric
  labelsOf.set(name, labelNames)
  if (type === 'histogram') for (const suffix of ['bucket', 'sum', 'count']) labelsOf.set(`${name}_${suffix}`, [...labelNames, 'le'])
}

/** Labels that Prometheus adds to every series of a scrape. */
const targetLabels = ['pod']
const ours = /\b(?:proreus_|controller_runtime_|workqueue_|rest_client_|nodejs_|process_)\w+/g

t.test('metrics in the guide exist', async (t) => {
  const named = new Set(guide.match(ours))
  t.ok(named.size > 10)
  for (const name of named) t.ok(labelsOf.has(name), name)
})

t.test('labels in queries and alerts exist', async (t) => {
  const rules = manifests.find(({ kind }) => kind === 'PrometheusRule')!.spec as Rules
  const alerts = rules.groups.flatMap((group) => group.rules)
  t.ok(alerts.length > 8)
  const queries = [...guide.matchAll(/\| `([^`\n]+)` \|$/gm)].map(([, query]) => query!)
  for (const query of [...alerts.map(({ expr }) => expr), ...queries]) {
    const known = new Set([...targetLabels, ...(query.match(ours) ?? []).flatMap((name) => labelsOf.get(name) ?? [])])
    const grouped = [...query.matchAll(/(?:by|on) \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(/, */))
    const selected = [...query.matchAll(/\{([^}]*)\}/g)].flatMap(([, labels]) =>
      labels!.split(/, */).map((each) => each.split(/[=!]/, 1)[0]!),
    )
    for (const label of [...grouped, ...selected]) t.ok(known.has(label), `${label} in ${query}`)
  }
})

t.test('examples match their files', async (t) => {
  const blocks = [...guide.matchAll(/<!-- (\S+) -->\n```ts\n([\s\S]*?)```/g)]
  t.ok(blocks.length > 0)
  for (const [, file, source] of blocks) t.equal(source, readFileSync(join(repository, file!), 'utf8'), file!)
})

t.test('the PodMonitor selects the Pods of the Deployment', async (t) => {
  const monitor = manifests.find(({ kind }) => kind === 'PodMonitor')!
  const deployment = parse(readFileSync(join(repository, 'config/manager/deployment.yaml'), 'utf8')) as {
    spec: { template: { metadata: { labels: object }; spec: { containers: { ports: { name: string }[] }[] } } }
  }
  const { metadata, spec } = deployment.spec.template
  const { selector, podMetricsEndpoints } = monitor.spec as { selector: { matchLabels: object }; podMetricsEndpoints: { port: string }[] }
  t.match(metadata.labels, selector.matchLabels)
  t.ok(spec.containers[0]!.ports.some(({ name }) => name === podMetricsEndpoints[0]!.port))
})
