/** Plans of network faults for the unplugging test, and the function that executes a plan. A seed determines each plan. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault, FaultProxy, ProxiedConnection } from '../../../src/testing/index.ts'

/**
 * Returns a random number generator (mulberry32): a function that returns the next number, in [0, 1), on each call. The seed determines the
 * sequence of the numbers.
 */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The kinds of faults that `mixedFaults` plans. A kind that is listed several times is more frequent. */
const kinds = ['cut', 'cut', 'cut', 'away', 'halfOpen', 'halfOpen', 'blackHole', 'delay', 'delay', 'answer'] as const
/** `forget` leaves connections half-open forever, as when a firewall loses its connection table. */
export type FaultKind = (typeof kinds)[number] | 'forget'

export interface PlannedFault {
  readonly kind: FaultKind
  readonly atMs: number
  readonly forMs: number
  /** The seed of the random choices that are made when the fault begins, such as the choice of the affected connections. */
  readonly seed: number
}

/** Returns a plan with all kinds of faults except `forget`, on average one fault every 0.7 s. */
export function mixedFaults(seed: number, seconds: number): PlannedFault[] {
  const random = randomOf(seed)
  const plan: PlannedFault[] = []
  for (let atMs = 300; atMs < seconds * 1000; atMs += 200 + random() * 1000) {
    const kind = kinds[Math.floor(random() * kinds.length)]!
    const longest = { cut: 0, away: 2000, halfOpen: 5000, blackHole: 2000, delay: 3000, answer: 2000 }[kind]
    plan.push({ kind, atMs, forMs: random() * longest, seed: Math.floor(random() * 2 ** 32) })
  }
  return plan
}

/**
 * Returns a plan in which the connections that exist after three seconds become silent forever. The proxy does not close them, so only the
 * clients can detect the silence.
 */
export function forgottenConnections(seed: number): PlannedFault[] {
  return [{ kind: 'forget', atMs: 3000, forMs: 0, seed }]
}

/**
 * Executes the plan, and resolves with the number of faults of each kind. The promise resolves when all faults have begun, and all faults
 * except those of the kind `forget` have ended. A `forget` fault never ends.
 */
export async function playFaults(proxy: FaultProxy, plan: readonly PlannedFault[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {}
  const started = performance.now()
  const running = plan.map(async ({ kind, atMs, forMs, seed }) => {
    await delay(Math.max(0, atMs - (performance.now() - started)))
    counts[kind] = (counts[kind] ?? 0) + 1
    const fault = start(proxy, kind, seed)
    if (kind === 'forget') return
    await delay(forMs)
    fault.end()
  })
  await Promise.all(running)
  return counts
}

function start(proxy: FaultProxy, kind: FaultKind, seed: number): Fault {
  const random = randomOf(seed)
  /** Returns a random selection of the connections, sometimes all of them. */
  const some = (): ProxiedConnection[] => {
    const share = 0.2 + random()
    return proxy.connections.filter(() => random() < share)
  }
  const direction = (['both', 'toServer', 'toClient'] as const)[Math.floor(random() * 3)]!
  switch (kind) {
    case 'cut':
      return proxy.cut({ only: some() })
    case 'away':
      return proxy.cut({ alsoNew: true })
    case 'halfOpen': {
      const only = some()
      const fault = proxy.halfOpen({ only, direction })
      // Half of these faults end like a cable that is plugged in again: the connections continue. The other half end with a reset of the
      // connections.
      return random() < 0.5 ? fault : { end: () => (proxy.cut({ only }), fault.end()) }
    }
    case 'blackHole':
      return proxy.halfOpen({ alsoNew: true })
    case 'forget':
      return proxy.halfOpen()
    case 'delay':
      return proxy.delay({ toServerMs: random() * 80, toClientMs: random() * 80 })
    case 'answer': {
      const watches = random() < 0.5
      const fault = proxy.answer(([429, 500, 503] as const)[Math.floor(random() * 3)]!, {
        count: 1 + Math.floor(random() * 5),
        ...(watches ? { match: ({ query }) => query.get('watch') === 'true' } : {}),
        ...(random() < 0.5 ? { retryAfterSeconds: 1 } : {}),
      })
      // A fault that affects only watch requests does not affect watches that are already open. Therefore, all connections are cut: the
      // client must then open every watch again, and the fault rejects some of these requests.
      if (watches) proxy.cut()
      return fault
    }
  }
}
