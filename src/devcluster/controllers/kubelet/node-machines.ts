/** `NodeMachines`: the state of each simulated kubelet besides its Pods. */
import type { EventRecorder } from '../../../telemetry/event-recorder.ts'
import type { ReadonlyNode } from '../scheduler/place-pod.ts'

export interface NodeMachine {
  /** The images that the node has pulled. */
  readonly images: Set<string>
  /** Records the Events of the kubelet. */
  readonly events: EventRecorder
}

/** The machines, keyed by the name of the node. A node that is created again with the same name is another machine. */
export class NodeMachines {
  readonly #byName = new Map<string, { readonly uid: string; readonly machine: NodeMachine }>()
  readonly #eventsOf: (node: string) => EventRecorder

  constructor(eventsOf: (node: string) => EventRecorder) {
    this.#eventsOf = eventsOf
  }

  get size(): number {
    return this.#byName.size
  }

  /** Returns the machine of a node. A new machine replaces those of all nodes for which `exists` returns false. */
  of({ metadata: { name, uid } }: ReadonlyNode, exists: (node: string) => boolean): NodeMachine {
    const known = this.#byName.get(name)
    if (known !== undefined && known.uid === uid) return known.machine
    for (const other of this.#byName.keys()) if (!exists(other)) this.#byName.delete(other)
    const machine = { images: new Set<string>(), events: this.#eventsOf(name) }
    this.#byName.set(name, { uid, machine })
    return machine
  }
}
