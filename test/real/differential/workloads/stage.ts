/**
 * `Stage`: a namespace in one of the two control planes. The steps of a workload's life create, change and read objects in this namespace.
 */
import { isObject } from '../../../../src/api/json.ts'
import type { JsonObject, JsonValue } from '../../../../src/api/json.ts'
import type { ResourceType } from '../../../../src/api/group-version-kind.ts'
import { core } from '../../../../src/api/kubernetes/core.ts'
import type { ObjectKey } from '../../../../src/api/object.ts'
import type { Client } from '../../../../src/client/client.ts'
import { until } from '../../../../src/testing/until.ts'
import { valueAt } from '../path.ts'
import { Outcomes } from './outcome.ts'
import { PodHand } from './pod-hand.ts'
import type { ObjectHistory, Recorder } from './recorder.ts'

/** A control plane, and the recorder of its objects. */
export interface Theatre {
  readonly client: Client
  readonly recorder: Recorder
}

/** A step is complete only after this many milliseconds without changes. */
const quietMs = 500

export class Stage {
  readonly client: Client
  readonly namespace: string
  readonly pods: PodHand
  readonly #recorder: Recorder
  readonly #outcomes: Outcomes

  constructor({ client, recorder }: Theatre, namespace: string) {
    this.client = client
    this.namespace = namespace
    this.pods = new PodHand(client, namespace)
    this.#recorder = recorder
    this.#outcomes = new Outcomes(namespace)
  }

  /** Creates the namespace. Resolves when Pods can be created in it. */
  async open(): Promise<void> {
    const { client, namespace } = this
    await client.create(core.namespace, { metadata: { name: namespace } })
    await until('the default ServiceAccount exists', () => client.get(core.serviceAccount, { namespace, name: 'default' }))
  }

  async create(type: ResourceType, { metadata, ...rest }: JsonObject): Promise<void> {
    const key = type.namespaced ? { namespace: this.namespace } : {}
    await this.client.create(type, { metadata: { ...(isObject(metadata) && metadata), ...key }, ...rest } as never)
  }

  async patch(type: ResourceType, name: string, patch: JsonObject): Promise<void> {
    await this.client.patch(type, this.#key(type, name), patch as never)
  }

  async delete(type: ResourceType, name: string, propagationPolicy: 'Background' | 'Foreground' | 'Orphan' = 'Background'): Promise<void> {
    await this.client.delete(type, this.#key(type, name), { propagationPolicy })
  }

  #key({ namespaced }: ResourceType, name: string): ObjectKey {
    return namespaced ? { namespace: this.namespace, name } : { name }
  }

  /** Returns the value at the path in an object; undefined when the path or the object does not exist. */
  see({ kind }: ResourceType, name: string, path: string): JsonValue | undefined {
    return valueAt(
      this.all(kind).find((object) => valueAt(object, 'metadata.name') === name),
      path,
    )
  }

  /** Returns the current objects of a kind. */
  all(kind: string): readonly JsonObject[] {
    return this.#histories()
      .filter((history) => history.kind === kind && !history.isDeleted)
      .map(({ states }) => states.at(-1)!)
  }

  /** Returns true when nothing has changed for some time, and the controllers and the scheduler have processed all objects. */
  isAtRest(): boolean {
    if (Date.now() - this.#recorder.lastChangeOf(this.namespace) < quietMs) return false
    return this.#histories().every(({ isDeleted, states }) => isDeleted || isObserved(states.at(-1)!))
  }

  /** Returns the changes of the current step so far. */
  outcome(): JsonObject {
    return this.#outcomes.of(this.#histories())
  }

  /** Ends the current step. */
  endStep(): void {
    this.#outcomes.endStep(this.#histories())
  }

  #histories(): readonly ObjectHistory[] {
    return this.#recorder.historiesOf(this.namespace)
  }
}

/** The kinds whose controllers write `status.observedGeneration`. */
const observed: ReadonlySet<unknown> = new Set([
  'Deployment',
  'ReplicaSet',
  'ReplicationController',
  'StatefulSet',
  'DaemonSet',
  'PodDisruptionBudget',
])

function isObserved(object: JsonObject): boolean {
  if (object.kind === 'Pod') {
    const [node, conditions, deleted] = ['spec.nodeName', 'status.conditions', 'metadata.deletionTimestamp'].map((path) =>
      valueAt(object, path),
    )
    return node !== undefined || conditions !== undefined || deleted !== undefined
  }
  if (!observed.has(object.kind) || valueAt(object, 'metadata.deletionTimestamp') !== undefined) return true
  return valueAt(object, 'metadata.generation') === valueAt(object, 'status.observedGeneration')
}
