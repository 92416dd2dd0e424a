/** Plans of network faults for the unplugging test, each determined by a seed, and their player. */
import { setTimeout as delay } from 'node:timers/promises'
import type { Fault, FaultProxy, ProxiedConnection } from '../../../src/testing/index.ts'

/** Returns a generator (mulberry32) of numbers in [0, 1) that are determined by the seed. */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** `forget` leaves connections half-open for good, as when a firewall loses its connection table. */
const kinds = ['cut', 'cut', 'cut', 'away', 'halfOpen', 'halfOpen', 'blackHole', 'delay', 'delay', 'answer'] as const
export type FaultKind = (typeof kinds)[number] | 'forget'

export interface PlannedFault {
  readonly kind: FaultKind
  readonly atMs: number
  readonly forMs: number
  /** Determines the remaining choices, e.g. the affected connections. */
  readonly seed: number
}

/** Returns faults of all kinds but `forget`, one about every 0.7 s. */
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

/** Returns the plan that silences the first connections for good, which only the clients themselves can detect. */
export function forgottenConnections(seed: number): PlannedFault[] {
  return [{ kind: 'forget', atMs: 3000, forMs: 0, seed }]
}

/** Plays the plan; resolves with the number of faults of each kind after every fault except `forget` has ended. */
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
  /** Returns a random share of the connections, at times all. */
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
      // The connection either recovers, like a cable that is plugged in again, or is closed.
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
      // A watch that cannot reconnect is followed by a new list, from which objects that were deleted meanwhile are missing.
      if (watches) proxy.cut()
      return fault
    }
  }
}
