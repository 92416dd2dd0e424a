/** `Wakeups`: the Pods for which something has happened outside the cluster, such as the end of a process. */
import type { ObjectKey } from '../../../api/object.ts'
import type { Source } from '../../../controller/source.ts'
import { aborted } from '../../../runtime/waiting.ts'

export class Wakeups implements Source {
  #enqueue: ((keys: readonly ObjectKey[]) => void) | undefined
  /** The Pods for which `wake` was called while the kubelet was not running. */
  #waiting: ObjectKey[] = []

  /** Makes the kubelet reconcile the Pod at once. If the kubelet is not running, the Pod is reconciled when the kubelet starts. */
  wake({ namespace, name }: { readonly namespace?: string; readonly name: string }): void {
    const key = { ...(namespace !== undefined && { namespace }), name }
    if (this.#enqueue === undefined) this.#waiting.push(key)
    else this.#enqueue([key])
  }

  async run(enqueue: (keys: readonly ObjectKey[]) => void, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    this.#enqueue = enqueue
    enqueue(this.#waiting.splice(0))
    await aborted(signal)
    this.#enqueue = undefined
  }
}
