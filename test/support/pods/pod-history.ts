/** `PodHistory`: the states of Pods that a watch has shown, and the Events about these Pods. */
import type { Pod } from '../../../src/api/builtin.ts'
import { event as eventType, pod as podType } from '../../../src/api/builtin.ts'
import type { Client } from '../../../src/client/client.ts'

type Status = NonNullable<Pod['status']>
type ContainerStatus = NonNullable<Status['containerStatuses']>[number]
type Terminated = NonNullable<NonNullable<ContainerStatus['state']>['terminated']>

export interface PodRecord {
  /** The Pod in the latest event of the watch. */
  pod: Pod
  isGone: boolean
  /** The states of each container in the order of time, keyed by the name of the container. Consecutive states differ. */
  readonly states: Map<string, string[]>
}

export class PodHistory {
  /** The Pods, keyed by the label `fact`. If a Pod does not have this label, the key is its name. */
  readonly records = new Map<string, PodRecord>()
  /** The Events as `REASON: MESSAGE`, keyed by the name of the Pod. */
  readonly events = new Map<string, Set<string>>()
  readonly #end = new AbortController()
  readonly #ended: Promise<unknown>

  constructor(client: Client, namespace: string) {
    const options = { namespace, signal: this.#end.signal }
    const watchPods = async (): Promise<void> => {
      for await (const { type, object } of client.watch(podType, options)) this.#record(object, type === 'DELETED')
    }
    const watchEvents = async (): Promise<void> => {
      for await (const { object } of client.watch(eventType, options)) {
        const { involvedObject, reason, message } = object
        const name = involvedObject.name ?? ''
        this.events.set(name, (this.events.get(name) ?? new Set()).add(`${reason}: ${message}`))
      }
    }
    this.#ended = Promise.allSettled([watchPods(), watchEvents()])
  }

  async close(): Promise<void> {
    this.#end.abort()
    await this.#ended
  }

  #record(pod: Pod, isGone: boolean): void {
    const name = pod.metadata.labels?.['fact'] ?? pod.metadata.name
    const record = this.records.get(name) ?? { pod, isGone, states: new Map<string, string[]>() }
    record.pod = pod
    record.isGone = isGone
    this.records.set(name, record)
    for (const status of containerStatusesOf(pod)) {
      const states = record.states.get(status.name) ?? []
      record.states.set(status.name, states)
      const text = stateText(pod, status)
      if (states.at(-1) !== text) states.push(text)
    }
  }
}

export function containerStatusesOf({ status }: Pod): readonly ContainerStatus[] {
  const { initContainerStatuses = [], containerStatuses = [], ephemeralContainerStatuses = [] } = status ?? {}
  return [...initContainerStatuses, ...containerStatuses, ...ephemeralContainerStatuses]
}

/** Returns the state of a container as text, such as `Error 1 (2)`: the reason, the exit code and the number of restarts. */
export function stateText(pod: Pod, { name, state, restartCount, started, ready }: ContainerStatus): string {
  const restarts = restartCount === 0 ? '' : ` (${restartCount})`
  if (state?.running !== undefined) {
    const isInit = (pod.spec?.initContainers ?? []).some((one) => one.name === name && one.restartPolicy !== 'Always')
    return `running${restarts}${isInit ? '' : started !== true ? ', not started' : ready ? '' : ', not ready'}`
  }
  if (state?.terminated !== undefined) return `${terminatedText(state.terminated)}${restarts}`
  return `${state?.waiting?.reason}${restarts}`
}

/**
 * If a container has ended for one of these reasons, the message is an error of the container runtime. The text of such a message is not
 * compared.
 */
const errors: readonly string[] = ['StartError', 'ContainerStatusUnknown']

export function terminatedText({ reason = '', exitCode, message = '' }: Terminated): string {
  return `${reason} ${exitCode}${message === '' || errors.includes(reason) ? '' : `: ${message.trimEnd()}`}`
}
