/**
 * `PodWrites`: creates, updates and deletes the Pods of a StatefulSet, and records Events about these writes
 * (k8s.io/kubernetes/pkg/controller/statefulset: StatefulPodControl).
 */
import type { Pod } from '../../../../api/builtin.ts'
import { pod as podType } from '../../../../api/builtin.ts'
import type { ObjectInput } from '../../../../api/object.ts'
import { isAlreadyExists, isNotFound } from '../../../../client/api-error.ts'
import type { ReconcileContext } from '../../../../controller/reconciler.ts'
import type { ReadonlyPod } from '../../api-types.ts'
import { isNamespaceTerminating } from '../pod-control.ts'
import { applyRetention, createClaims, matchRetention } from './claims.ts'
import type { StatefulSet } from './ordinals.ts'
import { ordinalOf, podNameOf } from './ordinals.ts'
import { hasIdentity, hasStorage, identityLabels, withClaims } from './pods.ts'

type Verb = 'Create' | 'Update' | 'Delete'

/** Writes the Pods and claims of a StatefulSet. Each reconcile creates an instance. */
export class PodWrites {
  readonly #set: StatefulSet
  readonly #context: ReconcileContext
  #isUnfinished = false

  constructor(set: StatefulSet, context: ReconcileContext) {
    this.#set = set
    this.#context = context
  }

  /**
   * True when a Pod was created or deleted, or when a Pod waits for the deletion of a claim. The caller must then requeue the StatefulSet,
   * because neither the writes of this controller nor the events of claims cause a reconcile.
   */
  get isUnfinished(): boolean {
    return this.#isUnfinished
  }

  /** Sets `isUnfinished`. Callers use this method when a Pod must wait for the deletion of a claim. */
  waitForClaim(): void {
    this.#isUnfinished = true
  }

  /**
   * Creates the missing claims of a Pod, and then the Pod. As in Kubernetes, no Event is recorded if the name of the Pod is already in use,
   * or the namespace is terminating.
   */
  async create(pod: ObjectInput<Pod>, ordinal: number): Promise<void> {
    const name = podNameOf(this.#set, ordinal)
    await this.#reported('Create', name, () => createClaims(this.#set, ordinal, this.#context))
    let created: Pod
    try {
      created = await this.#context.client.create(podType, pod)
    } catch (error) {
      if (!isAlreadyExists(error) && !isNamespaceTerminating(error)) this.#reportFailure('Create', name, error)
      throw error
    }
    this.#isUnfinished = true
    await this.applyRetention(created)
    this.#report('Create', name)
  }

  /** Creates the missing claims of a pending Pod. Then sets the owner references of all claims of the Pod. */
  async completeClaims(pod: ReadonlyPod): Promise<void> {
    await createClaims(this.#set, ordinalOf(pod)!, this.#context)
    await this.applyRetention(pod)
  }

  applyRetention(pod: ReadonlyPod): Promise<void> {
    return this.#reported('Update', pod.metadata.name, () => applyRetention(this.#set, pod, this.#context))
  }

  /**
   * Updates the labels and volumes of a Pod, and the owner references of its claims. Does nothing if the labels, volumes and owner
   * references are already correct.
   */
  async repair(pod: ReadonlyPod): Promise<void> {
    const set = this.#set
    const [isNamed, isStored] = [hasIdentity(set, pod), hasStorage(set, pod)]
    if (isNamed && isStored && matchRetention(set, pod, this.#context)) return
    const ordinal = ordinalOf(pod)!
    const name = podNameOf(set, ordinal)
    if (!isStored) await this.#reported('Update', name, () => createClaims(set, ordinal, this.#context))
    await this.applyRetention(pod)
    await this.#reported('Update', name, async () => {
      if (isNamed && isStored) return
      const { namespace, uid } = pod.metadata
      const metadata = { uid, labels: identityLabels(set, ordinal) }
      const spec = { volumes: withClaims(set, ordinal, pod.spec ?? {}) }
      await this.#context.client.patch(podType, { namespace, name }, { metadata, ...(!isStored && { spec }) } as object)
    })
    this.#report('Update', name)
  }

  async delete({ metadata }: ReadonlyPod): Promise<void> {
    const { name, uid } = metadata
    await this.#reported('Delete', name, async () => {
      await this.#context.client.delete(podType, metadata, { preconditions: { uid } }).catch((error: unknown) => {
        if (!isNotFound(error)) throw error
      })
    })
    this.#isUnfinished = true
    this.#report('Delete', name)
  }

  async #reported(verb: Verb, name: string, write: () => Promise<void>): Promise<void> {
    try {
      await write()
    } catch (error) {
      this.#reportFailure(verb, name, error)
      throw error
    }
  }

  #report(verb: Verb, name: string): void {
    this.#context.events.event(
      this.#set,
      'Normal',
      `Successful${verb}`,
      `${verb} Pod ${name} in StatefulSet ${this.#set.metadata.name} successful`,
    )
  }

  #reportFailure(verb: Verb, name: string, error: unknown): void {
    const subject = `Pod ${name} in StatefulSet ${this.#set.metadata.name}`
    const message = error instanceof Error ? error.message : String(error)
    this.#context.events.event(this.#set, 'Warning', `Failed${verb}`, `${verb} ${subject} failed error: ${message}`)
  }
}
