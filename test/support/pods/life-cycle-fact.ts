/** `LifeCycleFact`: one fact about the life of a Pod, as the kubelet of Kubernetes writes it into the status and the Events. */
import type { Pod } from '../../../src/api/builtin.ts'
import type { Client } from '../../../src/client/client.ts'

export interface LifeCycleFact {
  /** The name of the Pod. */
  readonly name: string
  readonly fact: string
  /** The source of the fact: the file and the function in k8s.io/kubernetes, or the page of the documentation. */
  readonly source: string
  /** The spec of the Pod. */
  readonly spec: object
  /** The owner of the Pod. Default: no owner. */
  readonly owner?: 'Job'
  /**
   * The annotations that make a simulated Pod behave as this fact describes. The key `NAME` stands for the annotation
   * `simulate.proreus.dev/NAME`. The key `CONTAINER/NAME` stands for the annotation `CONTAINER.simulate.proreus.dev/NAME`. The field is
   * absent if the behavior cannot be simulated.
   */
  readonly simulated?: Readonly<Record<string, string>>
  /** Acts on the Pod after its creation, for example deletes it. Default: nothing. */
  play?(stage: Stage): Promise<void>
  readonly becomes: Outcome
}

export interface Outcome {
  /** The phase of the Pod, followed by the reason if the status has one. */
  readonly phase: string
  /** True for a Pod that is deleted in the end. The other fields then describe its last status. Default: false. */
  readonly isGone?: boolean
  /**
   * The states of each container in chronological order, such as `ContainerCreating → running → Error 1 → running (1)`. The number of
   * restarts is in parentheses. The watch can miss the states before the last state, because these states can be very short.
   */
  readonly containers: Readonly<Record<string, string>>
  /**
   * The expected `lastState` of each container, such as `Error 1`. If the value for a container is undefined, the status of the container
   * must have no `lastState`.
   *
   * Default for a container without an entry: the latest terminated state in `containers`, not counting the final state. For example, the
   * default for `running → Error 1 → running (1)` is `Error 1`. If `containers` has no such state, the status of the container must have no
   * `lastState`.
   */
  readonly last?: Readonly<Record<string, string | undefined>>
  /** The status of each condition, followed by the reason if the condition has one. Default: the conditions are not compared. */
  readonly conditions?: Readonly<Record<string, string>>
  /** The reasons of all Events except `Pulling`, in any order. If the image is already on the node, there is no Event `Pulling`. */
  readonly events: readonly string[]
  /** Texts that the Events must contain. Each Event is written as `REASON: MESSAGE`. */
  readonly messages?: readonly string[]
  /**
   * Checks a part of the last state of the Pod that no other field of `Outcome` describes, e.g. `podIP`. Returns a description of the
   * problem; undefined if there is no problem.
   */
  problem?(pod: Pod): string | undefined
}

/** The Pod of a fact, and functions with which `play` waits for this Pod and deletes it. */
export interface Stage {
  readonly client: Client
  readonly key: { readonly namespace: string; readonly name: string }
  /**
   * Waits until the container has been in the given state at least once. If the container has already been in this state, resolves at once,
   * even if the container is now in another state.
   */
  until(container: string, state: string): Promise<void>
  delete(options?: { readonly gracePeriodSeconds: number }): Promise<void>
}

/** Splits a value of `Outcome.containers` at ` → ` into the states of the container. */
export function statesOf(text: string): readonly string[] {
  return text.split(' → ')
}
