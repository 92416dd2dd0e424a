import t from 'tap'
import type { BackgroundTask } from '../../src/manager/background.ts'
import type { Check } from '../../src/manager/health-handler.ts'
import { type Running } from '../../src/manager/running-parts.ts'
import { livenessChecks, readinessChecks } from '../../src/manager/readiness-and-liveness.ts'

const task = (state: BackgroundTask['state']): BackgroundTask => ({ state }) as BackgroundTask

function process(parts: Partial<Running> = {}): Running {
  return {
    client: {} as never,
    identities: new Map(),
    draining: false,
    controllers: new Map(),
    queues: new Map(),
    runnables: new Map(),
    operatorChecks: { healthz: [], readyz: [] },
    ...parts,
  }
}

const controllers = new Map([
  ['a', task('running')],
  ['b', task('ended')],
  ['c', task({ failed: new Error('no luck') })],
])

/** Returns each check as `NAME: PROBLEM`. A `~` marks a check that does not affect the result of the probe. */
const linesOf = (checks: readonly Check[]): string[] =>
  checks.map((check) => `${check.decides === false ? '~' : ''}${check.name}: ${String(check.problem())}`)

t.test('readiness lists all checks, and depends only on the webhooks and the stop', (t) => {
  t.strictSame(linesOf(readinessChecks(process(), false)), ['shutdown: undefined'])
  t.strictSame(linesOf(readinessChecks(process(), true)), ['shutdown: undefined', 'webhook: the webhook server does not listen yet'])
  const webhookCheck: Check = { name: 'webhook', problem: () => 'no answer' }
  const status = () => [
    { type: 'pods', synced: true },
    { type: 'pods', view: 'labels app=web', synced: true },
    { type: 'nodes', synced: false },
    { type: 'things', synced: true, lastError: 'is away' },
  ]
  const running = process({ draining: true, webhookCheck, controllers, cache: { task: task('running'), status } })
  t.strictSame(linesOf(readinessChecks(running, true)), [
    'shutdown: the process is ending',
    'webhook: no answer',
    '~cache/pods: undefined',
    '~cache/pods (labels app=web): undefined',
    '~cache/nodes: not synced yet',
    '~cache/things: is away',
    '~controller/a: undefined',
    '~controller/b: has ended',
    '~controller/c: has failed: no luck',
  ])
  t.end()
})

t.test('a controller that has ended by itself fails the liveness, unless the process is stopping', (t) => {
  const names = ['controller/a', 'controller/b', 'controller/c']
  t.strictSame(linesOf(livenessChecks(process({ controllers }))), [
    `${names[0]}: undefined`,
    `${names[1]}: has ended`,
    `${names[2]}: has failed: no luck`,
  ])
  const running = process({ controllers })
  const checks = livenessChecks(running)
  running.draining = true
  t.strictSame(linesOf(checks), names.map((name) => `${name}: undefined`)) // prettier-ignore
  t.end()
})

t.test('runnables are part of the liveness, and the checks of operators follow those of the process', async (t) => {
  const runnables = new Map([['import', task({ failed: new Error('no luck') })]])
  const database: Check = { name: 'database', problem: () => 'no answer' }
  const queue: Check = { name: 'queue', decides: false, problem: () => 'long' }
  const running = process({ runnables, operatorChecks: { healthz: [database], readyz: [queue] } })
  t.strictSame(linesOf(readinessChecks(running, false)), ['shutdown: undefined', '~queue: long'])
  t.strictSame(linesOf(livenessChecks(running)), ['runnable/import: has failed: no luck', 'database: no answer'])
  running.draining = true
  t.strictSame(linesOf(livenessChecks(running)), ['runnable/import: undefined', 'database: undefined'])
})

t.test('every background task that has failed or ended by itself fails the liveness', async (t) => {
  const failed = task({ failed: new Error('no luck') })
  const running = process({
    cache: { task: failed, status: () => [] },
    certificates: { task: task('running'), source: {} as never },
    injection: task('ended'),
  })
  t.strictSame(linesOf(livenessChecks(running)), ['cache: has failed: no luck', 'certificates: undefined', 'ca-bundle: has ended'])
  running.draining = true
  t.strictSame(linesOf(livenessChecks(running)), ['cache: undefined', 'certificates: undefined', 'ca-bundle: undefined'])
})
