/**
 * Tests of the times and thresholds of probes. The tests run the probes of one container on a fake clock, and compare the log of the probes
 * with the expected log.
 */
import { PassThrough } from 'node:stream'
import type { Duplex } from 'node:stream'
import t from 'tap'
import type { ContainerSpec, ProbeKind, ProbesOptions } from '../../../../src/devcluster/controllers/kubelet/container-runtime.ts'
import { ProcessProbes } from '../../../../src/devcluster/pods/probes/process-probes.ts'
import { FakeClock } from '../../../../src/testing/fake-clock.ts'

/** Each kind of probe has a different port. The port of a connection therefore shows which probe connects. */
const ports: Readonly<Record<ProbeKind, number>> = { startup: 1, liveness: 2, readiness: 3 }
const kindOf = (port: number): ProbeKind => (Object.keys(ports) as ProbeKind[]).find((kind) => ports[kind] === port)!
/** Returns an object with the field `startupProbe`, `livenessProbe` or `readinessProbe`. The probe connects to the port `ports[kind]`. */
const probe = (kind: ProbeKind, fields: object = {}): object => ({ [`${kind}Probe`]: { tcpSocket: { port: ports[kind] }, ...fields } })

const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

interface WorldOptions {
  /** Returns true when the probe fails at this second. Seconds are counted from the start of the container. */
  readonly fails?: (kind: ProbeKind, second: number) => boolean
  readonly known?: NonNullable<ProbesOptions['known']>
  /** The number of seconds from the start of the container to the creation of its probes. Default: 0. */
  readonly age?: number
  /** Resolves when a probe is connected. Default: resolves immediately. */
  readonly connect?: (kind: ProbeKind) => Promise<Duplex>
}

/** The probes of one run of a container. The log has a line for each connection, failure, Event, kill and change of state. */
class World {
  readonly clock = new FakeClock()
  readonly probes: ProcessProbes
  readonly log: string[] = []
  readonly #startedAt: number
  #shown = ''

  constructor(spec: object, { fails = () => false, known, age = 0, connect = async () => new PassThrough() }: WorldOptions = {}) {
    this.#startedAt = this.clock.now() - age * 1000
    this.probes = new ProcessProbes({
      container: { name: 'main', ...spec } as ContainerSpec,
      target: {
        address: '10.0.0.1',
        connect: async (port) => {
          const kind = kindOf(port)
          this.#note(kind)
          if (fails(kind, this.#second)) throw refused
          return connect(kind)
        },
        execute: () => Promise.reject(new Error('no process')),
      },
      clock: this.clock,
      startedAt: this.#startedAt,
      now: this.clock.now(),
      ...(known !== undefined && { known }),
      wake: () => this.#step(),
      onFailure: (kind, output) => this.#note(`${kind} failed: ${output}`),
      record: ({ type, reason, message }) => this.#note(`${type} ${reason} ${message}`),
    })
    this.#show()
  }

  /** Advances the clock to `second`, and returns the log. Seconds are counted from the start of the container. */
  async until(second: number): Promise<readonly string[]> {
    await this.clock.advance(this.#startedAt + second * 1000 - this.clock.now())
    return this.log
  }

  get #second(): number {
    return (this.clock.now() - this.#startedAt) / 1000
  }

  #step(): void {
    if (this.probes.due > this.clock.now()) this.#note('woken for nothing')
    const killed = this.probes.step(this.clock.now())
    if (killed !== undefined) this.#note(`kill for ${killed}`)
    this.#show()
  }

  /** Adds a line to the log if `isStarted` or `isReady` has changed. */
  #show(): void {
    const { isStarted, isReady } = this.probes
    const shown = `${isStarted ? 'started' : 'not started'}, ${isReady ? 'ready' : 'unready'}`
    if (shown !== this.#shown) this.#note(shown)
    this.#shown = shown
  }

  #note(text: string): void {
    this.log.push(`${this.#second} ${text}`)
  }
}

const failed = (kind: ProbeKind): string => `${kind} failed: dial tcp 10.0.0.1:${ports[kind]}: connect: connection refused`

interface Case extends WorldOptions {
  readonly name: string
  readonly spec: object
  readonly until: number
  readonly expected: readonly string[]
}

const cases: readonly Case[] = [
  { name: 'a container without probes is ready at once', spec: {}, until: 100, expected: ['0 started, ready'] },
  {
    name: 'a readiness probe runs at the start and then in each period of ten seconds',
    spec: probe('readiness'),
    until: 25,
    expected: ['0 started, unready', '0 readiness', '0 started, ready', '10 readiness', '20 readiness'],
  },
  {
    name: 'an initial delay begins with the container',
    spec: probe('readiness', { initialDelaySeconds: 3, periodSeconds: 2 }),
    until: 6,
    expected: ['0 started, unready', '3 readiness', '3 started, ready', '5 readiness'],
  },
  {
    name: 'a readiness probe needs as many successes in a row as its threshold',
    spec: probe('readiness', { periodSeconds: 1, successThreshold: 3 }),
    fails: (_kind, second) => second === 2,
    until: 5,
    expected: [
      '0 started, unready',
      '0 readiness',
      '1 readiness',
      '2 readiness',
      `2 ${failed('readiness')}`,
      '3 readiness',
      '4 readiness',
      '5 readiness',
      '5 started, ready',
    ],
  },
  {
    name: 'a container becomes unready after as many failures in a row as the threshold, and ready again after a success',
    spec: probe('readiness', { periodSeconds: 1, failureThreshold: 2 }),
    fails: (_kind, second) => second > 0 && second < 3,
    until: 3,
    expected: [
      '0 started, unready',
      '0 readiness',
      '0 started, ready',
      '1 readiness',
      `1 ${failed('readiness')}`,
      '2 readiness',
      `2 ${failed('readiness')}`,
      '2 started, unready',
      '3 readiness',
      '3 started, ready',
    ],
  },
  {
    name: 'a liveness probe kills the container at its threshold, and ends',
    spec: probe('liveness', { failureThreshold: 3, periodSeconds: 2 }),
    fails: () => true,
    until: 20,
    expected: [
      '0 started, ready',
      '0 liveness',
      `0 ${failed('liveness')}`,
      '2 liveness',
      `2 ${failed('liveness')}`,
      '4 liveness',
      `4 ${failed('liveness')}`,
      '4 kill for liveness',
    ],
  },
  {
    name: 'a readiness probe continues after the liveness probe has failed',
    spec: { ...probe('liveness', { failureThreshold: 1 }), ...probe('readiness', { periodSeconds: 5 }) },
    fails: (kind) => kind === 'liveness',
    until: 6,
    expected: [
      '0 started, unready',
      '0 liveness',
      `0 ${failed('liveness')}`,
      '0 kill for liveness',
      '0 readiness',
      '0 started, ready',
      '5 readiness',
    ],
  },
  {
    name: 'a startup probe delays the others, and ends with its success',
    spec: {
      ...probe('startup', { periodSeconds: 2, failureThreshold: 3 }),
      ...probe('liveness', { initialDelaySeconds: 7 }),
      ...probe('readiness', { periodSeconds: 5 }),
    },
    fails: (kind, second) => kind === 'startup' && second < 4,
    until: 9,
    expected: [
      '0 not started, unready',
      '0 startup',
      `0 ${failed('startup')}`,
      '2 startup',
      `2 ${failed('startup')}`,
      '4 startup',
      '4 started, unready',
      '4 readiness',
      '4 started, ready',
      '7 liveness',
      '9 readiness',
    ],
  },
  {
    name: 'a startup probe kills the container at its threshold',
    spec: { ...probe('startup', { failureThreshold: 2, periodSeconds: 1 }), ...probe('readiness') },
    fails: () => true,
    until: 30,
    expected: [
      '0 not started, unready',
      '0 startup',
      `0 ${failed('startup')}`,
      '1 startup',
      `1 ${failed('startup')}`,
      '1 kill for startup',
    ],
  },
  {
    name: 'a container that was ready stays ready until its probe has failed often enough',
    spec: { ...probe('startup'), ...probe('readiness', { periodSeconds: 1, failureThreshold: 2 }) },
    known: { isStarted: true, isReady: true },
    age: 100,
    fails: () => true,
    until: 101,
    expected: [
      '100 started, ready',
      '100 readiness',
      `100 ${failed('readiness')}`,
      '101 readiness',
      `101 ${failed('readiness')}`,
      '101 started, unready',
    ],
  },
  {
    name: 'a probe that is still running in the next period does not run twice, and the next run follows at once',
    spec: probe('readiness', { periodSeconds: 2, timeoutSeconds: 5, failureThreshold: 1 }),
    connect: () => new Promise(() => undefined),
    until: 11,
    expected: [
      '0 started, unready',
      '0 readiness',
      '5 readiness failed: dial tcp 10.0.0.1:3: i/o timeout',
      '5 readiness',
      '10 readiness failed: dial tcp 10.0.0.1:3: i/o timeout',
      '10 readiness',
    ],
  },
  {
    name: 'a run without an outcome is tried three times, and counts neither as a success nor as a failure',
    spec: { livenessProbe: { exec: { command: ['true'] }, failureThreshold: 1 } },
    until: 10,
    expected: [
      '0 started, ready',
      '0 Warning Unhealthy Liveness probe errored and resulted in unknown state: no process',
      '10 Warning Unhealthy Liveness probe errored and resulted in unknown state: no process',
    ],
  },
  {
    name: 'a probe without a handler and a port without a number have no outcome',
    spec: { livenessProbe: { failureThreshold: 1 }, readinessProbe: { tcpSocket: { port: 'web' } } },
    until: 1,
    expected: [
      '0 started, unready',
      '0 Warning Unhealthy Liveness probe errored and resulted in unknown state: missing probe handler for main',
      '0 Warning Unhealthy Readiness probe errored and resulted in unknown state: strconv.Atoi: parsing "web": invalid syntax',
    ],
  },
]

for (const { name, spec, until, expected, ...options } of cases) {
  t.test(name, async (t) => {
    const world = new World(spec, options)
    t.strictSame(await world.until(until), expected)
    world.probes.end()
    await world.clock.advance(0)
    t.equal(world.clock.pending, 0, 'no timer is left')
  })
}

t.test('after stopKilling, only the readiness probe runs', async (t) => {
  const world = new World({ ...probe('liveness', { periodSeconds: 1 }), ...probe('readiness', { periodSeconds: 2 }) })
  await world.until(1.5)
  world.probes.stopKilling()
  t.strictSame((await world.until(4)).slice(-2), ['2 readiness', '4 readiness'])
})

t.test('stopKilling ends a startup probe, and the others do not begin', async (t) => {
  const world = new World({ ...probe('startup'), ...probe('readiness') }, { connect: () => new Promise(() => undefined) })
  await world.until(0.5)
  world.probes.stopKilling()
  t.strictSame(await world.until(60), ['0 not started, unready', '0 startup'])
  t.equal(world.probes.due, Number.POSITIVE_INFINITY)
  t.equal(world.clock.pending, 0)
})

t.test('a result that has not been applied is due since the end of the run, and the probe waits', async (t) => {
  const clock = new FakeClock()
  let wakes = 0
  let runs = 0
  const probes = new ProcessProbes({
    container: { name: 'main', ...probe('readiness', { periodSeconds: 1 }) } as ContainerSpec,
    target: {
      address: '10.0.0.1',
      connect: async () => {
        runs += 1
        return new PassThrough()
      },
      execute: () => Promise.reject(new Error('no process')),
    },
    clock,
    startedAt: clock.now(),
    now: clock.now(),
    wake: () => void (wakes += 1),
    onFailure: () => undefined,
    record: () => undefined,
  })
  const startedAt = clock.now()
  t.equal(probes.due, Number.POSITIVE_INFINITY)
  await clock.advance(5500)
  t.strictSame([probes.due, probes.isReady, wakes, runs], [startedAt, false, 1, 1])
  t.equal(probes.step(startedAt - 1), undefined)
  t.equal(probes.isReady, false, 'a step before the result does not apply it')
  t.equal(probes.step(clock.now()), undefined)
  t.equal(probes.isReady, true)
  await clock.advance(0)
  t.equal(runs, 2, 'the run of the periods that have passed follows')
  probes.step(clock.now())
  await clock.advance(499)
  t.equal(runs, 2)
  await clock.advance(1)
  t.equal(runs, 3, 'the periods themselves have not moved')
  probes.end()
})

t.test('the end of the container ends a running probe at once', async (t) => {
  const socket = Promise.withResolvers<Duplex>()
  const world = new World(probe('liveness'), { connect: () => socket.promise })
  await world.until(0.5)
  world.probes.end()
  await world.clock.advance(0)
  t.equal(world.clock.pending, 0)
  const late = new PassThrough()
  socket.resolve(late)
  await world.until(100)
  t.equal(late.destroyed, true, 'a connection that arrives too late is closed')
  t.strictSame(world.log, ['0 started, ready', '0 liveness'])
})
