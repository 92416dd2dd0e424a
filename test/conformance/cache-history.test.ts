/**
 * Tests that a cache shows only states that the objects have had on the API server, in the same order. A process writes and reads objects
 * through the cache, and other clients change the same objects. During these requests, the network and the API server fail. After each
 * write of the process, the cache must no longer show older states of the object. The test records all events and reads, and compares them
 * with the history of the API server. `SEED` selects the writes and faults. `SECONDS` sets the duration.
 */
import { setTimeout as delay } from 'node:timers/promises'
import t from 'tap'
import { configMap } from '../../src/api/builtin.ts'
import type { NamespacedKey } from '../../src/api/object.ts'
import { until } from '../../src/testing/until.ts'
import { CachingProcess } from '../support/cache-history/caching-process.ts'
import { ServerHistory } from '../support/cache-history/server-history.ts'
import { testedViews } from '../support/cache-history/views.ts'
import { writeOnce } from '../support/cache-history/writes.ts'
import { conformanceControlPlane } from '../support/conformance/backends.ts'
import { Dice } from '../support/dice.ts'
import { seed } from '../support/seed.ts'

const seconds = Number(process.env.SECONDS || 20)
t.comment(`SEED=${seed} SECONDS=${seconds}`)

const namespaces = ['history-a', 'history-b', 'history-c'] as const
const markers = 'history-markers'
const names = Array.from({ length: 5 }, (_, index) => `object-${index}`)
const controlPlane = await conformanceControlPlane(t, { controllers: false, namespaces: [...namespaces, markers] })

/**
 * The shortest and the longest duration of the faults of a round, in milliseconds. After the shortest duration, the faults end as soon as
 * the process has made at least 150 writes (`enoughWrites`).
 */
const roundMs = { least: 4_000, most: 12_000 }
/**
 * The number of writes that the process should make in a round. When the shortest duration of a round (`roundMs.least`) has passed, the
 * round ends as soon as the process has made this number of writes. On a busy machine, the process can need more time for the writes. The
 * round ends in any case when the longest duration (`roundMs.most`) has passed.
 */
const enoughWrites = 150
/**
 * The time in milliseconds within which all faults of one plan begin. During a round, the test executes one plan after another. The next
 * plan begins after all faults of the current plan have ended.
 */
const planMs = 2_000
/**
 * `ownWriters` contains the concurrent writers of the process. Each name is the key of the reconcile that writes; undefined stands for a
 * writer outside a reconcile. `foreignWriters` is the number of other clients that write.
 */
const ownWriters = [undefined, 'first', 'second', 'third']
const foreignWriters = 2
/** The longest pause of a writer between two writes, in milliseconds. */
const longestPauseMs = 15
/** The longest time between two compactions of the API server's storage, in milliseconds. */
const longestCompactionMs = 800
/** The time limit in milliseconds for the cache to reach the state of the server after the faults. On a busy machine, this takes long. */
const settleMs = 120_000

t.setTimeout((seconds + 120) * 1000 + settleMs)
t.test("a cache shows only states of the API server's history, in their order, and own writes at once", async (t) => {
  const stop = new AbortController()
  t.teardown(() => stop.abort())
  const history = new ServerHistory(controlPlane.client, configMap)
  await history.start(stop.signal)
  const ends = performance.now() + seconds * 1000
  for (let round = 0; performance.now() < ends; round += 1) {
    const { found, summary } = await play(history, round)
    t.comment(`round ${round}: ${summary}`)
    t.strictSame(found.slice(0, 5), [], `round ${round}`)
    if (found.length > 0) break
  }
})

/**
 * Executes one round with a new process. The objects of the previous round still exist. Each line of `found` describes an error of one of
 * these kinds:
 *
 * - A view of the cache has shown something that contradicts the history of the API server.
 * - The events of a view contradict each other, or contradict the objects that the cache returns.
 * - At the end of the round, the objects in a view differ from the objects on the API server, or writes of the process are still
 *   unconfirmed.
 */
async function play(history: ServerHistory, round: number): Promise<{ found: readonly string[]; summary: string }> {
  const dice = new Dice(seed + round)
  const limit = dice.chance(0.5) ? namespaces.slice(0, 2) : undefined
  const running = await CachingProcess.start({ controlPlane, views: testedViews(namespaces), limit, dice })
  try {
    const began = performance.now()
    const isOver = (): boolean => {
      const elapsedMs = performance.now() - began
      return elapsedMs > roundMs.most || (elapsedMs > roundMs.least && running.writes >= enoughWrites)
    }
    const repeat = async (longestMs: number, action: () => unknown): Promise<void> => {
      while (!isOver()) {
        await action()
        await delay(dice.next() * longestMs)
      }
    }
    const randomKey = (): NamespacedKey => ({ namespace: dice.pick(namespaces), name: dice.pick(names) })
    let foreignWrites = 0
    const foreignWrite = async (): Promise<void> => {
      if ((await writeOnce(controlPlane.client, randomKey(), dice)) !== undefined) foreignWrites += 1
    }
    await Promise.all([
      repeat(0, () => running.suffer(dice, planMs)),
      ...ownWriters.map((writer) => repeat(longestPauseMs, () => running.write(randomKey(), writer))),
      ...Array.from({ length: foreignWriters }, () => repeat(longestPauseMs, foreignWrite)),
      repeat(longestPauseMs, () => running.checkLists()),
      // After a compaction, the API server rejects two kinds of requests with 410: a watch from a resourceVersion that is older than the
      // compaction, and a request for the next page of a list that is older than the compaction.
      ...(controlPlane.backend === 'existing' ? [] : [repeat(longestCompactionMs, () => controlPlane.compact())]),
    ])
    running.heal()
    const differences = await settled(running)
    running.checkLists()
    await history.complete({ namespace: markers, name: 'marker' })
    const found = [...differences, ...running.observed.flatMap((observations) => observations.check((key) => history.of(key)))]
    const events = running.observed.reduce((sum, each) => sum + each.events, 0)
    const faults = JSON.stringify({ ...running.faults, streams: running.brokenStreams })
    return { found, summary: `${running.writes} own writes, ${foreignWrites} foreign writes, ${events} events, faults ${faults}` }
  } finally {
    await running.stop()
  }
}

/** Waits until every view has exactly the objects of the server. After the time limit, returns a line for each remaining difference. */
async function settled(running: CachingProcess): Promise<readonly string[]> {
  let differences: readonly string[] = []
  const isSettled = async (): Promise<boolean> => {
    const { items } = await controlPlane.client.list(configMap)
    differences = running.observed.flatMap(({ view }) => {
      const limit = running.namespacesOf(view)
      const expected = items.filter((each) => view.contains(each) && (limit?.includes(each.metadata.namespace) ?? true))
      const { store, unconfirmedWrites } = running.cache.informer(view.type)
      return [
        ...(statesOf(expected) === statesOf(store.list()) ? [] : [`${view.name}: the cache differs from the server at the end`]),
        ...(unconfirmedWrites === 0 ? [] : [`${view.name}: ${unconfirmedWrites} own writes remain unconfirmed at the end`]),
      ]
    })
    return differences.length === 0
  }
  // When the time limit has passed, the last differences are returned.
  await until('the cache has the objects of the server', isSettled, settleMs).catch(() => undefined)
  return differences
}

function statesOf(objects: readonly { readonly metadata: { readonly uid: string; readonly resourceVersion: string } }[]): string {
  return objects
    .map(({ metadata }) => `${metadata.uid} ${metadata.resourceVersion}`)
    .sort()
    .join()
}
