/** `ProcessRuntime`: a container runtime whose containers are processes of this machine. */
import { configMap, secret } from '../../../api/builtin.ts'
import type { ObjectKey } from '../../../api/object.ts'
import type { ReadonlyObject, ReadonlyPod } from '../../controllers/api-types.ts'
import type { ContainerRuntime, PodRuntime, PodRuntimeOptions, RuntimeWatch } from '../../controllers/kubelet/container-runtime.ts'
import type { ContainerAccess } from '../../rest/container-access.ts'
import { PodAccess } from './pod-access.ts'
import type { PodContext } from './pod-context.ts'
import { ProcessPod } from './process-pod.ts'

export class ProcessRuntime implements ContainerRuntime {
  readonly scheme = 'process'
  readonly sharedAddress: string | undefined
  /** The access of the API server to the containers. */
  readonly access: ContainerAccess
  /** The types of the API objects in the volumes of Pods. */
  readonly watches: readonly RuntimeWatch[]
  readonly #context: PodContext
  /** The Pods, keyed by uid. */
  readonly #pods = new Map<string, ProcessPod>()
  /** The removals of the files of deleted Pods, keyed by uid. */
  readonly #removals = new Map<string, Promise<void>>()

  constructor(context: PodContext) {
    this.#context = context
    this.sharedAddress = context.driver.mode === 'plain' ? '127.0.0.1' : undefined
    this.access = new PodAccess({ context, podOf: (uid) => this.#pods.get(uid) })
    this.watches = [
      { type: configMap, map: (object) => this.#changed('configMaps', object) },
      { type: secret, map: (object) => this.#changed('secrets', object) },
    ]
  }

  runPod(pod: ReadonlyPod, options: PodRuntimeOptions): PodRuntime {
    const { uid } = pod.metadata
    const onDestroyed = (done: Promise<void>): void => {
      this.#pods.delete(uid)
      this.#removals.set(uid, done)
      void done.finally(() => this.#removals.delete(uid))
    }
    const made = new ProcessPod(pod, this.#context, { ...options, onDestroyed })
    this.#pods.set(uid, made)
    return made
  }

  /** Returns true when the Pod runs or its files are being removed. */
  runs(uid: string): boolean {
    return this.#pods.has(uid) || this.#removals.has(uid)
  }

  /**
   * Kills all containers without a grace period, and keeps their volumes and logs. Resolves when the containers have ended and the files of
   * deleted Pods have been removed.
   */
  async close(): Promise<void> {
    await Promise.all([...[...this.#pods.values()].map((pod) => pod.halt()), ...this.#removals.values()])
  }

  /**
   * Calls `objectChanged` of each Pod in the namespace of the object. Returns no keys, because the kubelet does not have to reconcile the
   * Pods.
   */
  #changed(kind: 'configMaps' | 'secrets', { metadata }: ReadonlyObject): readonly ObjectKey[] {
    for (const pod of this.#pods.values()) if (pod.pod.metadata.namespace === metadata.namespace) pod.objectChanged(kind, metadata.name)
    return []
  }
}
