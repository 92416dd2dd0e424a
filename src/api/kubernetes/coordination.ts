/** Kubernetes' own types of `coordination.k8s.io`: `coordination.lease`, `coordination.Lease`. */
import type { models } from './models.ts'
import type { NamespacedObject } from './resource.ts'
import { namespacedType } from './resource.ts'

export declare namespace coordination {
  type Lease = NamespacedObject<models.V1Lease, 'coordination.k8s.io/v1', 'Lease'>
}

export const coordination = {
  lease: namespacedType<coordination.Lease>('coordination.k8s.io', 'v1', 'Lease', 'leases'),
} as const
