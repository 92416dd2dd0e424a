/** `NodeMachines`: the kubelet's in-memory state of each node, such as the pulled images. The Pods of the node are not included. */
import type { EventRecorder } from '../../../telemetry/event-recorder.ts'
import type { ReadonlyNode } from '../api-types.ts'
import { EvictionPace } from './eviction-pace.ts'

export interface NodeMachine {
  /** The images that the node has pulled. */
  readonly images: Set<string>
  readonly evictions: EvictionPace
  /** Records the Events of the kubelet. */
  readonly events: EventRecorder
}

/** The machines of the nodes, keyed by name. If a node is deleted and created again with the same name, the node gets a new machine. */
export class NodeMachines {
  readonly #byName = new Map<string, { readonly uid: string; readonly machine: NodeMachine }>()
  readonly #eventsOf: (node: string) => EventRecorder

  constructor(eventsOf: (node: string) => EventRecorder) {
    this.#eventsOf = eventsOf
  }

  get size(): number {
    return this.#byName.size
  }

  /** Returns the machine of a node. If the machine is new, the machines of all nodes for which `exists` returns false are removed. */
  of({ metadata: { name, uid } }: ReadonlyNode, exists: (node: string) => boolean): NodeMachine {
    const known = this.#byName.get(name)
    if (known !== undefined && known.uid === uid) return known.machine
    for (const other of this.#byName.keys()) if (!exists(other)) this.#byName.delete(other)
    const machine = { images: new Set<string>(), evictions: new EvictionPace(), events: this.#eventsOf(name) }
    this.#byName.set(name, { uid, machine })
    return machine
  }
}
