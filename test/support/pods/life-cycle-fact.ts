/** `LifeCycleFact`: one fact about the life of a Pod, as the kubelet of Kubernetes writes it into the status and the Events. */
import type { Pod } from '../../../src/api/builtin.ts'
import type { Client } from '../../../src/client/client.ts'

export interface LifeCycleFact {
  /** The name of the Pod. */
  readonly name: string
  readonly fact: string
  /** The file and the function of k8s.io/kubernetes, or the page of the documentation, that states the fact. */
  readonly source: string
  /** The spec of the Pod. */
  readonly spec: object
  /** The owner of the Pod. Default: the Pod has none. */
  readonly owner?: 'Job'
  /**
   * The annotations with which a simulated Pod has the same life: `NAME` or `CONTAINER/NAME`. Absent when there are none. Without them, a
   * simulated Pod does not have this life.
   */
  readonly simulated?: Readonly<Record<string, string>>
  /** What happens to the Pod. */
  play?(stage: Stage): Promise<void>
  readonly becomes: Outcome
}

export interface Outcome {
  /** The phase, and the reason if the status has one. */
  readonly phase: string
  /** True for a Pod that is removed. The other fields are then those of its last status. */
  readonly isGone?: boolean
  /**
   * The states of each container, in order, as in `ContainerCreating → running → Error 1 → running (1)`, with the number of restarts. States
   * before the last one may be too short to be seen.
   */
  readonly containers: Readonly<Record<string, string>>
  /** The end of the run before, for containers for which it is not the last end among the states. Undefined: the status shows none. */
  readonly last?: Readonly<Record<string, string | undefined>>
  /** The status of each condition, with the reason if it has one. */
  readonly conditions?: Readonly<Record<string, string>>
  /** The reasons of all Events, in any order. `Pulling` is not compared: an image may be on the node already. */
  readonly events: readonly string[]
  /** Parts of Events, each written as `REASON: MESSAGE`. */
  readonly messages?: readonly string[]
  /** Checks more of the last status. Returns what is wrong. */
  problem?(pod: Pod): string | undefined
}

/** What a fact can do to its Pod. */
export interface Stage {
  readonly client: Client
  readonly key: { readonly namespace: string; readonly name: string }
  /** Resolves when the container has had the state. */
  until(container: string, state: string): Promise<void>
  delete(options?: { readonly gracePeriodSeconds: number }): Promise<void>
}

/** The states of a container in `Outcome`. */
export function statesOf(text: string): readonly string[] {
  return text.split(' → ')
}
