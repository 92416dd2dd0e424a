/**
 * A simulation of three replicas, each with its own clock. Requests and responses are delayed or lost in the network. When the reconciler
 * of a new leader has sent its first request, the reconciler of the previous leader must not send any more requests in its old term.
 */
import t from 'tap'
import { ProreusError } from '../../src/api/errors.ts'
import { LeaderElector } from '../../src/leader-election/leader-elector.ts'
import { sleep } from '../../src/runtime/waiting.ts'
import { silentLogger } from '../../src/telemetry/logger.ts'
import { FakeClock } from '../../src/testing/fake-clock.ts'
import { LeaseServer, type Network } from '../support/leader-election/lease-server.ts'
import { SkewedClock } from '../support/leader-election/skewed-clock.ts'
import { fc } from '../support/property.ts'

const identities = ['a', 'b', 'c'] as const
type Identity = (typeof identities)[number]

type Action =
  | { readonly kind: 'wait'; readonly ms: number }
  | { readonly kind: 'cut' | 'heal' | 'losesResponses' | 'suspend' | 'resume' | 'resign'; readonly who: Identity }
  | { readonly kind: 'delay'; readonly who: Identity; readonly ms: number }
  | { readonly kind: 'delete' }

const who = fc.constantFrom(...identities)
const actions: fc.Arbitrary<Action> = fc.oneof(
  { arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 1, max: 25_000 }) }), weight: 6 },
  { arbitrary: fc.record({ kind: fc.constantFrom('cut' as const, 'heal', 'losesResponses', 'suspend', 'resume'), who }), weight: 5 },
  { arbitrary: fc.record({ kind: fc.constant('delay' as const), who, ms: fc.integer({ min: 0, max: 12_000 }) }), weight: 2 },
  { arbitrary: fc.record({ kind: fc.constant('resign' as const), who }), weight: 1 },
)
/**
 * An action that deletes the Lease. After a deletion, two replicas can be leaders at the same time: a candidate that has never seen the
 * Lease does not know that there is a leader.
 */
const deletions = fc.constant({ kind: 'delete' as const })

/**
 * The speed of a clock relative to real time. Leader election tolerates far larger differences in speed, because `renewDeadlineMs` is a
 * third shorter than `leaseDurationMs`.
 */
const rate = fc.double({ min: 0.98, max: 1.02, noNaN: true })
const offsetMs = fc.integer({ min: -86_400_000, max: 86_400_000 })
const machines = fc.tuple(...identities.map(() => fc.record({ rate, offsetMs })))

interface Sent {
  readonly who: Identity
  readonly term: number
}

async function simulate(script: readonly Action[], skews: readonly { rate: number; offsetMs: number }[]): Promise<Sent[]> {
  const base = new FakeClock()
  const server = new LeaseServer()
  const sent: Sent[] = []
  let terms = 0
  const stop = new AbortController()
  const replicas = identities.map((identity, index) => {
    const clock = new SkewedClock(base, skews[index])
    const state = { cut: false, losesResponses: false, delayMs: 0 }
    const network: Network = {
      watches: true,
      carry: async (action) => {
        const failure = new ProreusError('PRO_API_UNREACHABLE', 'lost')
        await sleep(base, state.delayMs)
        if (state.cut) throw failure
        const result = action()
        if (state.losesResponses) throw failure
        return result
      },
    }
    const elector = new LeaderElector({
      client: server.client(network),
      lease: { namespace: 'ns', name: 'it' },
      identity,
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      clock,
      logger: silentLogger(),
      events: { event: () => undefined },
      metrics: { leading: () => undefined, slowpath: () => undefined },
      random: () => 0.5,
    })
    // This reconciler ignores its signal, and sends requests until the simulation ends.
    const reconcile = async (): Promise<void> => {
      while (!stop.signal.aborted) {
        const term = await elector.term(stop.signal).catch(() => undefined)
        if (term === undefined) return
        const number = ++terms
        while (!stop.signal.aborted) {
          if (!clock.suspended) {
            try {
              elector.guard()
            } catch {
              break
            }
            sent.push({ who: identity, term: number })
          }
          await sleep(clock, 250, stop.signal).catch(() => undefined)
        }
      }
    }
    return { elector, clock, network, state, done: Promise.all([elector.run(stop.signal), reconcile()]) }
  })
  const of = (identity: Identity): (typeof replicas)[number] => replicas[identities.indexOf(identity)]!
  for (const action of script) {
    if (action.kind === 'wait') await base.advance(action.ms)
    else if (action.kind === 'delete') server.delete()
    else {
      const { state, clock, network, elector } = of(action.who)
      if (action.kind === 'cut') Object.assign(state, { cut: true }, (network.watches = false))
      if (action.kind === 'heal') Object.assign(state, { cut: false, losesResponses: false, delayMs: 0 }, (network.watches = true))
      if (action.kind === 'losesResponses') state.losesResponses = true
      if (action.kind === 'delay') state.delayMs = action.ms
      if (action.kind === 'suspend') clock.suspend()
      if (action.kind === 'resume') clock.resume()
      if (action.kind === 'resign') void elector.resign()
    }
    await base.advance(0)
  }
  for (const { clock } of replicas) clock.resume()
  stop.abort(new Error('the simulation is over'))
  await base.advance(60_000)
  await Promise.all(replicas.map(({ done }) => done))
  return sent
}

t.test('a deposed leader sends nothing after the next one has begun', async (t) => {
  let changes = 0
  await fc.assert(
    fc.asyncProperty(fc.array(actions, { minLength: 10, maxLength: 60 }), machines, async (script, skews) => {
      const sent = await simulate(script, skews)
      const over = new Set<number>()
      for (const [index, { who: sender, term }] of sent.entries()) {
        const before = sent[index - 1]
        if (before !== undefined && before.who !== sender) {
          over.add(before.term)
          changes += 1
        }
        if (over.has(term)) throw new Error(`${sender} sent a request after it was deposed`)
      }
    }),
    { numRuns: 250 },
  )
  t.ok(changes > 80, `${changes} changes of the leader`)
})

t.test('after all faults are over, there is a leader', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof({ arbitrary: actions, weight: 10 }, { arbitrary: deletions, weight: 1 }), { maxLength: 30 }),
      machines,
      async (script, skews) => {
        const faults = script.filter(({ kind }) => kind !== 'resign')
        const healing = identities.flatMap((each): Action[] => [
          { kind: 'resume', who: each },
          { kind: 'heal', who: each },
        ])
        const sent = await simulate([...faults, ...healing, { kind: 'wait', ms: 60_000 }], skews)
        const last = sent.at(-1)
        const count = sent.filter(({ term }) => term === last?.term).length
        if (count < 60) throw new Error(`the last leader sent ${count} requests in the last minute`)
      },
    ),
    { numRuns: 50 },
  )
})
