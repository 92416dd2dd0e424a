/** The read-only types of the built-in objects that the controllers of the embedded cluster read from their cache. */
import type { Node, Pod, Service } from '../../api/builtin.ts'
import type { DeepReadonly } from '../../api/json.ts'
import type { KubernetesObject } from '../../api/object.ts'

export type ReadonlyPod = DeepReadonly<Pod>
export type ReadonlyNode = DeepReadonly<Node>
export type ReadonlyService = DeepReadonly<Service>
export type ReadonlyObject = DeepReadonly<KubernetesObject>
