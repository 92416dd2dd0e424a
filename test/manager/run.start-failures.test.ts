/** Tests of a start that fails or is stopped. Everything that has started must be stopped, and nothing more may start. */
import assert from 'node:assert'
import t from 'tap'
import { defineKind } from '../../src/api/kind.ts'
import { Type } from '../../src/api/type.ts'
import type { CertificateSource } from '../../src/certs/serving-certificate.ts'
import { defineOperator } from '../../src/manager/operator.ts'
import { runWith, type Parts, type RunOptions } from '../../src/manager/run.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { Metrics } from '../../src/telemetry/metrics.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { defineWebhook } from '../../src/webhook/definition/definition.ts'
import { FakeCache } from '../support/controller/fakes.ts'

const kind = defineKind({ group: 'example.com', kind: 'Thing', versions: [{ name: 'v1', spec: Type.Object({}) }] })
const operator = defineOperator({ name: 'thing', kinds: [kind], webhooks: [defineWebhook(kind)] })

interface Steps {
  /** Called when the webhook server starts to listen. */
  readonly listen?: () => void
  readonly onServing?: () => void
  readonly onStarted?: () => void
}

/** Calls `run` with components that log their steps. Resolves when `run` has ended. */
async function run(steps: Steps, signal: AbortSignal): Promise<{ log: string[]; error: unknown; pending: number }> {
  const log: string[] = []
  const clock = new FakeClock()
  const untilAborted = (name: string) => async (stop: AbortSignal) => {
    await new Promise((resolve) => stop.addEventListener('abort', resolve, { once: true }))
    log.push(`${name} ends`)
  }
  const source: CertificateSource = {
    current: () => ({ cert: '', key: '', caBundle: '', notAfter: new Date(0) }),
    onChange: () => () => undefined,
    start: untilAborted('certificates'),
  }
  const parts: Parts = {
    createTransport: () => ({
      request: () => Promise.reject(new Error('nothing is requested')),
      stream: () => Promise.reject(new Error('nothing is streamed')),
      close: async () => void log.push('client closes'),
    }),
    checkPermissions: async () => void log.push('permissions'),
    openCertificates: async () => (log.push('certificates open'), source),
    createWebhookServer: (() => ({
      async start() {
        log.push('webhooks listen')
        steps.listen?.()
        return { port: 1, url: 'https://localhost:1' }
      },
      beginDrain: () => undefined,
      stop: async () => void log.push('webhooks stop'),
    })) as unknown as Parts['createWebhookServer'],
    injectCaBundle: (_options, stop) => untilAborted('injection')(stop),
    createCache: () => Object.assign(new FakeCache(), { start: untilAborted('cache'), status: () => [] }),
    createElector: () => assert.fail('leader election is off'),
  }
  const options: RunOptions = {
    connection: { server: 'https://127.0.0.1:1', describe: 'a test' },
    signal,
    drainDelayMs: 10_000,
    probeBindAddress: '0',
    metricsBindAddress: '0',
    logger: silentLogger(),
    clock,
    metrics: new Metrics(),
    onServing() {
      log.push('serving')
      steps.onServing?.()
    },
    onStarted() {
      log.push('started')
      steps.onStarted?.()
    },
  }
  const error = await runWith(parts, [operator], options).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  return { log, error, pending: clock.pending }
}

t.test('a process whose signal has aborted before starts nothing', async (t) => {
  t.strictSame(await run({}, AbortSignal.abort()), { log: ['client closes'], error: undefined, pending: 0 })
})

t.test('a stop while the webhook server starts does not install, and stops it', async (t) => {
  const stop = new AbortController()
  const { log, error } = await run({ listen: () => stop.abort() }, stop.signal)
  t.strictSame(log, ['permissions', 'certificates open', 'webhooks listen', 'webhooks stop', 'certificates ends', 'client closes'])
  t.equal(error, undefined)
})

t.test('a webhook server that cannot listen is stopped, because it may have threads', async (t) => {
  const failure = new Error('no port')
  const fail = (): never => {
    throw failure
  }
  const { log, error, pending } = await run({ listen: fail }, new AbortController().signal)
  t.strictSame(log, ['permissions', 'certificates open', 'webhooks listen', 'webhooks stop', 'certificates ends', 'client closes'])
  t.equal(error, failure)
  t.equal(pending, 0)
})

t.test('an error of onStarted stops everything', async (t) => {
  const failure = new Error('not with me')
  const fail = (): never => {
    throw failure
  }
  const { log, error } = await run({ onStarted: fail }, new AbortController().signal)
  t.strictSame(log.slice(4), ['started', 'webhooks stop', 'injection ends', 'certificates ends', 'client closes'])
  t.equal(error, failure)
})
