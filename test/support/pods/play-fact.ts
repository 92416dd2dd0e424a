/**
 * `playFact`: creates the Pod of a fact, calls the function `play` of the fact, and compares the states and Events of the Pod with the
 * expected ones.
 */
import type { Test } from 'tap'
import { pod as podType } from '../../../src/api/builtin.ts'
import { batch } from '../../../src/api/kubernetes/batch.ts'
import type { Client } from '../../../src/client/client.ts'
import { until } from '../../../src/testing/until.ts'
import type { LifeCycleFact } from './life-cycle-fact.ts'
import { statesOf } from './life-cycle-fact.ts'
import type { PodHistory, PodRecord } from './pod-history.ts'
import { containerStatusesOf, terminatedText } from './pod-history.ts'

export interface PlayOptions {
  readonly client: Client
  readonly history: PodHistory
  /** True when the cluster simulates Pods. In this case, the Pod gets the annotations from the field `simulated` of the fact. */
  readonly isSimulated: boolean
}

/** Time limit in milliseconds for each wait. All Pods of a table run at the same time, possibly on a busy machine. */
const limitMs = 45_000

export async function playFact(t: Test, fact: LifeCycleFact, options: PlayOptions): Promise<void> {
  const { client, history } = options
  await create(fact, options)
  const key = { namespace: 'default', name: fact.name }
  await fact.play?.({
    client,
    key,
    async until(container, state) {
      const has = (): boolean => history.records.get(fact.name)?.states.get(container)?.includes(state) === true
      await until(`${fact.name}: ${container} is ${state}`, has, limitMs).catch((error: unknown) => {
        const seen = history.records.get(fact.name)?.states.get(container) ?? []
        throw new Error(`${fact.name}: ${container} was ${seen.join(' → ')}, never ${state}`, { cause: error })
      })
    },
    delete: async (deletion = { gracePeriodSeconds: 2 }) => void (await client.delete(podType, key, deletion)),
  })
  const isAsExpected = (): boolean => JSON.stringify(found(fact, history)) === JSON.stringify(expected(fact))
  await until(fact.name, isAsExpected, limitMs).catch(() => undefined)
  t.strictSame(found(fact, history), expected(fact), `${fact.fact} (${fact.source})`)
  checkOrder(t, fact, history.records.get(fact.name))
}

async function create({ name, spec, owner, simulated = {} }: LifeCycleFact, { client, isSimulated }: PlayOptions): Promise<void> {
  const annotations = Object.entries(isSimulated ? simulated : {}).map(([key, value]) => {
    const [annotation, container] = key.split('/').reverse()
    return [`${container === undefined ? '' : `${container}.`}simulate.proreus.dev/${annotation}`, value]
  })
  const metadata = { namespace: 'default', name, labels: { fact: name }, annotations: Object.fromEntries(annotations) as object }
  const template = { metadata: { labels: metadata.labels, annotations: metadata.annotations }, spec }
  if (owner === 'Job') await client.create(batch.job, { metadata, spec: { template } } as never)
  else await client.create(podType, { metadata, spec } as never)
}

/** The values that are compared between the expected and the actual Pod: the last states, and the Events. */
interface Comparable {
  readonly phase: string
  readonly isGone: boolean
  readonly containers: object
  readonly conditions: object | undefined
  readonly events: readonly string[]
  readonly missingMessages: readonly string[]
  readonly problem: string | undefined
}

function expected({ becomes }: LifeCycleFact): Comparable {
  const { phase, isGone = false, conditions, events, last = {} } = becomes
  const containers = Object.entries(becomes.containers).map(([name, text]): [string, object] => {
    const states = statesOf(text)
    const ended = states.slice(0, -1).findLast((state) => /^[A-Z]\w+ \d/.test(state))
    return [name, { state: states.at(-1), last: name in last ? last[name] : ended?.replace(/ \(\d+\)$/, '') }]
  })
  return {
    phase,
    isGone,
    containers: sorted(containers),
    conditions: conditions && sorted(Object.entries(conditions)),
    events: [...new Set(events)].sort(),
    missingMessages: [],
    problem: undefined,
  }
}

function found({ name, becomes }: LifeCycleFact, { records, events }: PodHistory): Comparable | undefined {
  const record = records.get(name)
  if (record === undefined) return undefined
  const { pod, isGone, states } = record
  const { phase = '', reason, conditions = [] } = pod.status ?? {}
  const all = [...(events.get(pod.metadata.name) ?? [])]
  const shown = containerStatusesOf(pod).filter((one) => becomes.containers[one.name] !== undefined)
  const containers = shown.map((one): [string, object] => {
    const last = one.lastState?.terminated
    return [one.name, { state: states.get(one.name)?.at(-1), last: last && terminatedText(last) }]
  })
  const reasons = all.map((text) => text.slice(0, text.indexOf(':'))).filter((text) => text !== 'Pulling')
  return {
    phase: reason === undefined ? phase : `${phase} ${reason}`,
    isGone,
    containers: sorted(containers),
    conditions:
      becomes.conditions &&
      sorted(conditions.map((one) => [one.type, one.reason === undefined ? one.status : `${one.status} ${one.reason}`])),
    events: [...new Set(reasons)].sort(),
    missingMessages: (becomes.messages ?? []).filter((part) => !all.some((text) => text.includes(part))),
    problem: becomes.problem?.(pod),
  }
}

/** Checks that the watch has shown only expected states, in the expected order. The watch can miss states that were very short. */
function checkOrder(t: Test, { becomes }: LifeCycleFact, record: PodRecord | undefined): void {
  for (const [name, text] of Object.entries(becomes.containers)) {
    const seen = record?.states.get(name) ?? []
    let rest = statesOf(text)
    const isInOrder = seen.every((state) => {
      const index = rest.indexOf(state)
      rest = rest.slice(index + 1)
      return index >= 0
    })
    t.ok(isInOrder, `${name}: ${text}`, { seen: seen.join(' → ') })
  }
}

function sorted(entries: readonly (readonly [string, unknown])[]): object {
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)))
}
