/** Tests of the shipped operators when the CustomResourceDefinition of one kind is missing. Only the controller of this kind must wait. */
import t from 'tap'
import type { Test } from 'tap'
import { customResourceDefinition } from '../../src/api/builtin.ts'
import { groupResourceOf } from '../../src/api/group-version-kind.ts'
import { run } from '../../src/manager/run.ts'
import type { Endpoints } from '../../src/manager/run-options.ts'
import { installKinds } from '../../src/manifests/install.ts'
import { shippedOperators } from '../../src/operators/index.ts'
import { systemClock } from '../../src/runtime/clock.ts'
import type { Logger } from '../../src/telemetry/logger.ts'
import { until } from '../../src/testing/until.ts'
import { conformanceControlPlane, needsOwnControlPlane } from '../support/conformance/backends.ts'
import { find } from '../support/devcluster/client.ts'
import type { ShippedKind, ShippedObject } from '../support/operators/shipped.ts'
import { createShipped, shippedKinds, untilConverged, withoutWebhooks } from '../support/operators/shipped.ts'
import { recordingLogger } from '../support/recording-logger.ts'

t.setTimeout(900_000)

/**
 * Time limit in milliseconds within which the log and the readiness must show whether the CustomResourceDefinition of a kind is missing.
 */
const saidMs = 120_000

const namespaceOf = ({ name }: ShippedKind): string => `missing-${name}`
const controlPlane = await conformanceControlPlane(t, { namespaces: shippedKinds.map(namespaceOf) })
const { client } = controlPlane

/** Creates an object of each kind. Resolves when all have converged. */
async function converge(kinds: readonly ShippedKind[], name: string): Promise<void> {
  const keys = kinds.map((kind) => ({ kind, key: { namespace: namespaceOf(kind), name } }))
  await Promise.all(keys.map(({ kind, key }) => createShipped(client, kind, key)))
  for (const { kind, key } of keys) await untilConverged(client, kind, key)
}

/**
 * Checks that the operators wait only for the kind `missing`. Then installs this kind, and checks that the objects of this kind are
 * reconciled.
 */
async function prove(t: Test, missing: ShippedKind, { probes }: Endpoints, lines: readonly string[], prefix: string): Promise<void> {
  const resource = groupResourceOf(missing.type)
  const others = shippedKinds.filter((kind) => kind !== missing)
  const read = async (path: string): Promise<{ readonly ok: boolean; readonly body: string }> => {
    const answer = await fetch(`http://127.0.0.1:${probes!.port}${path}`)
    return { ok: answer.ok, body: await answer.text() }
  }
  const waits = new RegExp(`^warn: The API server does not serve ${resource} in version .*: install its CustomResourceDefinition`)
  await until('the log names the kind', () => lines.some((line) => waits.test(line)), saidMs)
  const waitingFor = ({ body }: { readonly body: string }): string => String(body.match(/(?<=^\[~\])[^:]+/gm) ?? '')
  const ready = await until(
    'the readiness names this kind only',
    async () => {
      const found = await read('/readyz?verbose')
      return waitingFor(found) === `cache/${resource}` && found
    },
    saidMs,
  )
  t.ok(ready.ok, 'the process is ready')
  t.ok((await read('/healthz')).ok)
  const name = `${prefix}-${missing.name}`
  await converge(others, name)
  await installKinds(client, shippedOperators(), systemClock, { name: 'shipped' })
  await converge([missing], name)
  await until('the readiness names no kind', async () => waitingFor(await read('/readyz?verbose')) === '', saidMs)
}

async function removeDefinition({ type }: ShippedKind): Promise<void> {
  const key = { name: groupResourceOf(type) }
  await client.delete(customResourceDefinition, key)
  // In some tests, no operator runs. Therefore, this function removes the finalizers of the objects.
  await until(
    `${key.name} is gone`,
    async () => {
      const { items } = await client.list(type).catch(() => ({ items: [] as ShippedObject[] }))
      for (const { metadata } of items) await client.patch(type, metadata, { metadata: { finalizers: null } }).catch(() => undefined)
      return (await find(client, customResourceDefinition, key)) === undefined
    },
    saidMs,
  )
}

/** Starts the operators without installing anything. */
async function startAll(logger: Logger): Promise<{ readonly endpoints: Endpoints; stop(): Promise<void> }> {
  const stop = new AbortController()
  const started = Promise.withResolvers<Endpoints>()
  const ended = run(shippedOperators().map(withoutWebhooks), {
    name: 'shipped',
    connection: controlPlane.connection,
    signal: stop.signal,
    probeBindAddress: '127.0.0.1:0',
    metricsBindAddress: '127.0.0.1:0',
    drainDelayMs: 0,
    saveMemory: false,
    logger,
    onStarted: started.resolve,
  })
  ended.catch(started.reject)
  const end = async (): Promise<void> => {
    stop.abort()
    await ended
  }
  return { endpoints: await started.promise, stop: end }
}

// These tests come first, because they run without webhooks. The last test installs webhooks and does not remove them.
for (const kind of shippedKinds)
  t.test(`a definition that is missing when the operators start: ${groupResourceOf(kind.type)}`, needsOwnControlPlane, async (t) => {
    await installKinds(client, shippedOperators(), systemClock, { name: 'shipped' })
    await removeDefinition(kind)
    const { logger, lines } = recordingLogger()
    const operators = await startAll(logger)
    t.teardown(operators.stop)
    await prove(t, kind, operators.endpoints, lines, 'started-without')
    await operators.stop()
  })

t.test('a definition that is deleted while the operators run', needsOwnControlPlane, async (t) => {
  const { logger, lines } = recordingLogger()
  const { endpoints } = await controlPlane.startOperator(shippedOperators(), { name: 'shipped', logger })
  await converge(shippedKinds, 'first')
  for (const kind of shippedKinds)
    await t.test(groupResourceOf(kind.type), async (t) => {
      await removeDefinition(kind)
      await prove(t, kind, endpoints, lines, 'without')
    })
})
